//! Tests of supplier webhook requests that an adapter verifies. Anyone may send such a request.

use crate::support::guest::Guest;
use crate::support::{Bench, context};
use host_domain::supplier::{Capability, Health};
use host_domain::supplier_event::{
    BODY_BYTES_MAX, SupplierEventKind, SupplierWebhookRequest, VerifyError,
};
use host_domain::time::Timestamp;
use host_runtime::PluginCallOutcome;

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
        extra_world: "export stopover:supplier/supplier-events@1.0.0;",
        extra_functions: verify.to_owned(),
        ..Guest::quiet()
    }
}

fn delivery(body: &[u8]) -> SupplierWebhookRequest {
    SupplierWebhookRequest {
        headers: vec![("x-signature".to_owned(), "v1=abc".to_owned())],
        body: body.to_vec(),
        received_at: Timestamp(1),
    }
}

#[tokio::test]
async fn webhook_request_is_accepted_or_rejected_and_recorded() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    assert!(supplier.supports(Capability::SupplierEvents));
    let events = supplier
        .verify_supplier_event(&context(), delivery(b"{}"))
        .await
        .unwrap();
    assert_eq!(
        (events.len(), events[0].id.as_str(), &events[0].kind),
        (1, "e1", &SupplierEventKind::ItineraryChanged)
    );
    let call = bench.sink.last_call();
    assert_eq!(
        (call.operation, call.outcome),
        (Capability::SupplierEvents, PluginCallOutcome::Succeeded)
    );
    let refused = supplier
        .verify_supplier_event(&context(), delivery(b""))
        .await;
    assert_eq!(
        refused,
        Err(VerifyError::InvalidSignature("no signature".to_owned()))
    );
    assert_eq!(
        bench.sink.last_call().outcome,
        PluginCallOutcome::InvalidSignature
    );
}

#[tokio::test]
async fn unauthentic_requests_do_not_affect_circuit_breaker() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    for body in [&b"t"[..], b""] {
        for _ in 0..30 {
            let refused = supplier
                .verify_supplier_event(&context(), delivery(body))
                .await;
            assert!(refused.is_err());
        }
    }
    assert_eq!(supplier.health(), Health::Up);
    let read = supplier
        .verify_supplier_event(&context(), delivery(b"{}"))
        .await;
    assert!(read.is_ok());
}

#[tokio::test]
async fn oversized_webhook_request_does_not_reach_adapter() {
    let bench = Bench::new();
    let supplier = bench.load(&reader(), &[]).await;
    let large = delivery(&vec![b't'; BODY_BYTES_MAX + 1]);
    let refused = supplier.verify_supplier_event(&context(), large).await;
    assert!(matches!(refused, Err(VerifyError::Malformed(_))));
    assert!(bench.sink.calls.lock().unwrap().is_empty());
    let largest = delivery(&vec![b' '; BODY_BYTES_MAX]);
    let read = supplier.verify_supplier_event(&context(), largest).await;
    assert!(read.is_ok());
}

#[tokio::test]
async fn adapter_without_events_returns_unsupported() {
    let bench = Bench::new();
    let supplier = bench.load(&Guest::default(), &[]).await;
    let read = supplier
        .verify_supplier_event(&context(), delivery(b"{}"))
        .await;
    assert_eq!(read, Err(VerifyError::Unsupported));
    assert_eq!(
        bench.sink.last_call().outcome,
        PluginCallOutcome::Unsupported
    );
}
