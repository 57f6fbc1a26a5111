//! Tests of a crash during prebook. Nothing is owed afterwards, and the ledger is empty. A replay of
//! the key returns the stored booking. If it is unknown whether the offer was bound, the replay binds
//! it again, unless the supplier may have made a checkout.

use crate::SHORT_DELAYS;
use crate::flow::{ALL_PHASES, Steps};
use reqwest::Method;
use tests::{BookingBuilder, Database, Server, ServerOptions, eventually, on_both_databases};

const KEY: &str = "x-idempotency-key";

/// Failpoints at which the process aborts.
pub(crate) const STEPS: Steps = &[("prebook", ALL_PHASES)];

/// Returns the expected response to the key's next call. `has_checkout` tells whether the supplier
/// collects the payment.
fn repeated(phase: &str, has_checkout: bool) -> (u16, &'static str) {
    match (phase, has_checkout) {
        ("planned", _) | ("intent_committed" | "response_received", false) => {
            (201, "READY_FOR_COMPLETE")
        }
        ("outcome_committed", _) => (200, "READY_FOR_COMPLETE"),
        _ => (200, "PREBOOK_IN_PROGRESS"),
    }
}

async fn crash_during_prebook_leaves_nothing_owed(database: Database) {
    for phase in ALL_PHASES {
        let plain = ServerOptions::on(database).config(SHORT_DELAYS);
        let armed = (plain.clone()).with_failpoint(&format!("prebook:{phase}"));
        let mut server = Server::start_with_own_sandbox(plain.clone()).await;
        for (number, booking) in BookingBuilder::at_each_supplier().iter().enumerate() {
            let request = booking.request(&server.client()).await;
            let path = match booking {
                BookingBuilder::Hotel(_) => "/v1/hotel/prebook",
                BookingBuilder::Flight(_) => "/v1/flight/prebook",
            };
            let key = format!("booking-{number}");
            server = server.restart(armed.clone()).await;
            let client = server.client().header(KEY, &key);
            let body = Some(request.to_string().into_bytes());
            let sent = client.try_send(Method::POST, path, body).await;
            assert!(sent.is_err(), "{phase}: {path} got a response");
            let _killed = server.wait_for_exit().await;
            server = server.restart(plain.clone()).await;
            let client = server.client().header(KEY, &key);
            let again = eventually("the first call's lease to expire", async || {
                Some(client.post(path, &request).await).filter(|reply| reply.status != 409)
            })
            .await;
            // Of these suppliers, only SUPPLIER_B collects the payment.
            let expected = repeated(phase, number == 2);
            assert_eq!(again.outcome(), expected, "{phase}: {path} {number}");
            let id = again.data()["id"].as_str().unwrap();
            assert_eq!(server.ledger().await.of(id).count(), 0, "{phase}: {path}");
        }
        // No repeated call made another booking beside one that is bound or may be.
        for (path, count) in [("/v1/hotel/bookings", 1), ("/v1/flight/bookings", 2)] {
            let listed = server.client().get(path).await.expect(200);
            let kept = listed.list().iter();
            let kept = kept.filter(|booking| booking["status"] != "FAILED");
            assert_eq!(kept.count(), count, "{path}");
        }
    }
}

on_both_databases! {
    crash_during_prebook_leaves_nothing_owed,
}
