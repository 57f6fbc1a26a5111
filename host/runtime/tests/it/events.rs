//! Tests of supplier webhook requests that an adapter verifies. Anyone may send such a request.

use crate::support::guest::Guest;
use crate::support::{Bench, context};
use host_domain::supplier::{Capability, Health};
use host_domain::supplier_event::{
    BODY_BYTES_MAX, SupplierEvent, SupplierEventKind, SupplierWebhookRequest, VerifyError,
};
use host_domain::time::Timestamp;
use host_runtime::{PluginCallOutcome, Supplier};

/// Builds an adapter that returns one event for any request, rejects a request without a body, and
/// traps on a `t`.
fn reader() -> Guest {
    let verify = r#"
  (data (i32.const 7096) "\00\00\00\00\88\1c\00\00\01\00\00\00")
  (data (i32.const 7200) "\01\00\00\00\00\00\00\00\40\1c\00\00\0c\00\00\00")
  (data (i32.const 7232) "no signature")
  (data (i32.const 7264) "e1")
  (data (i32.const 7304) "\60\1c\00\00\02\00\00\00\01")
  (func (export "stopover:supplier/supplier-events@1.0.0#verify")
    (param i32 i32) (param $body i32) (param $bytes i32) (param i64) (result i32)
    (if (i32.eqz (local.get $bytes)) (then (return (i32.const 7200))))
    (if (i32.eq (i32.load8_u (local.get $body)) (i32.const 116)) (then unreachable))
    (i32.const 7096))"#;
    Guest {
        extra_world: "export stopover:supplier/supplier-events@1.0.0;".to_owned(),
        extra_functions: verify.to_owned(),
        ..Guest::quiet()
    }
}

async fn verify(supplier: &Supplier, body: &[u8]) -> Result<Vec<SupplierEvent>, VerifyError> {
    let request = SupplierWebhookRequest {
        headers: vec![("x-signature".to_owned(), "v1=abc".to_owned())],
        body: body.to_vec(),
        received_at: Timestamp(1),
    };
    supplier.verify_supplier_event(&context(), request).await
}

#[tokio::test]
async fn webhook_request_is_accepted_or_rejected_and_recorded() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    assert!(supplier.supports(Capability::SupplierEvents));
    let events = verify(&supplier, b"{}").await.unwrap();
    assert_eq!((events.len(), events[0].id.as_str()), (1, "e1"));
    assert_eq!(events[0].kind, SupplierEventKind::ItineraryChanged);
    let call = bench.sink.last_call();
    assert_eq!(call.capability, Capability::SupplierEvents);
    assert_eq!(call.outcome, PluginCallOutcome::Succeeded);
    let refused = verify(&supplier, b"").await;
    let error = VerifyError::InvalidSignature("no signature".to_owned());
    assert_eq!(refused, Err(error));
    let outcome = bench.sink.last_call().outcome;
    assert_eq!(outcome, PluginCallOutcome::InvalidSignature);
}

#[tokio::test]
async fn unauthentic_requests_do_not_affect_circuit_breaker() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    for body in [&b"t"[..], b""] {
        for _ in 0..30 {
            assert!(verify(&supplier, body).await.is_err());
        }
    }
    assert_eq!(supplier.health(), Health::Up);
    assert!(verify(&supplier, b"{}").await.is_ok());
}

#[tokio::test]
async fn oversized_webhook_request_does_not_reach_adapter() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    let refused = verify(&supplier, &vec![b't'; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(VerifyError::Malformed(_))));
    assert!(bench.sink.calls.lock().unwrap().is_empty());
    let read = verify(&supplier, &vec![b' '; BODY_BYTES_MAX]).await;
    assert!(read.is_ok());
}

#[tokio::test]
async fn adapter_without_events_returns_unsupported() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::default(), &[]).await;
    let read = verify(&supplier, b"{}").await;
    assert_eq!(read, Err(VerifyError::Unsupported));
    let outcome = bench.sink.last_call().outcome;
    assert_eq!(outcome, PluginCallOutcome::Unsupported);
}
