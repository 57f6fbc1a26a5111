//! Tests of each kind of Nuitee response to a booking as a table of cases, with the final status of
//! the booking and of the payment.

use crate::mock::Work;
use crate::nuitee::service::{BOOK, LIST, Scene, World, refusal};
use crate::trip::{RELEASED, TAKEN};
use serde_json::{Value, json};
use tests::{Database, count, money};

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

/// Nuitee states no amounts here, so the policy decides: the one that the quote read.
#[tokio::test]
async fn cancellation_costs_what_the_quote_showed() {
    let scene = Scene::begin(Database::Sqlite).await;
    let booking = scene.confirmed().await;
    scene.book.change(|world| {
        let read = &mut world.documents["booking"]["data"];
        read["amountRefunded"] = Value::Null;
        let terms = &mut read["bookedRooms"][0]["cancellationPolicies"];
        terms["cancelPolicyInfos"][1]["amount"] = json!(80);
        let canceled = json!({"bookingId": "BK-OWN-1", "status": "CANCELLED"});
        world.documents["cancel"]["data"] = canceled;
    });
    let path = format!("/v1/hotel/bookings/{booking}/cancellation-quote");
    for _ in 0..2 {
        let quote = scene.client.get(&path).await.expect(200);
        assert_eq!(quote.data()["source"], "POLICY_ESTIMATE");
        assert_eq!(quote.data()["fee"], money(80.0, "EUR"));
    }
    let begun = scene.client.cancel_hotel(&booking, &json!({})).await;
    assert!(matches!(begun.status, 200 | 202), "{:#}", begun.body);
    let canceled = scene.client.wait_for_hotel_booking(&booking, "CANCELED");
    let canceled = canceled.await;
    let cancellation = &canceled["cancellations"][0];
    assert_eq!(cancellation["fee"], money(80.0, "EUR"));
    assert_eq!(cancellation["refund_amount"], money(380.5, "EUR"));
    let events = scene.server.outbox(&booking).await;
    let changed = events
        .iter()
        .filter(|name| *name == "hotel.booking.changed");
    assert_eq!(changed.count(), 1, "{events:?}");
}
