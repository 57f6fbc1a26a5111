//! Tests of each kind of Nuitee response to a booking as a table of cases, with the final status of
//! the booking and of the payment.

use crate::mock::Work;
use crate::nuitee::service::{BOOK, LIST, Scene, World, refusal};
use crate::trip::{RELEASED, TAKEN};
use tests::{Database, count};

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin(Database::Sqlite).await;
    let known = refusal(400, 4005, "clientReference exists");
    let failure = refusal(500, 5000, "internal error");
    let declined = refusal(400, 2010, "booking not confirmed");
    let failed = refusal(200, 2013, "booking failed");
    let rejected = (422, "supplier_rejected");
    for (name, answer, is_made, outcome) in [
        ("a known reference", known, true, (200, "CONFIRMED")),
        ("a failure", failure, true, (500, "result_unknown")),
        ("not confirmed", declined, false, rejected),
        ("a failed provider, in a 200", failed, false, rejected),
    ] {
        let booking = scene.ready().await;
        let _prebooked = scene.take_received();
        let work = is_made.then_some(World::book as Work<World>);
        scene.book.respond_with(BOOK, answer, work);
        let reply = scene.book(&booking).await;
        assert_eq!(reply.outcome(), outcome, "{name}");
        let (end, ledger) = match is_made {
            true => ("CONFIRMED", TAKEN),
            false => ("FAILED", RELEASED),
        };
        let ended = scene.client.wait_for_hotel_booking(&booking, end).await;
        scene.server.wait_for_ledger(&booking, ledger).await;
        let received = scene.book.take_received();
        assert_eq!(count(&received, BOOK), 1, "{name}: it is sent only once");
        if is_made {
            let reference = received[0].body["clientReference"].as_str().unwrap();
            assert_eq!(received[1].route, LIST, "{name}");
            assert_eq!(received[1].query, format!("clientReference={reference}"));
        } else {
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}
