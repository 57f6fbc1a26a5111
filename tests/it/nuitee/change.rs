//! Tests of each Nuitee response to prebook and book as tables of cases, with the final status of
//! the booking and of the payment.

use crate::nuitee::mock::{Work, refusal};
use crate::nuitee::scene::{Scene, TAKEN};
use crate::nuitee::service::{BOOK, World};
use serde_json::{Value, json};
use tests::{MockResponse, count};

/// Returns responses to prebook, with the expected status and code.
fn prebooks(usual: &Value) -> [(&'static str, MockResponse, u16, &'static str); 6] {
    let changed = |name: &str, value: Value| {
        let mut document = usual.clone();
        document["data"][name] = value;
        MockResponse::json(200, &document)
    };
    let mut dearer = usual.clone();
    dearer["data"]["price"] = json!(469.99);
    dearer["data"]["priceDifferencePercent"] = json!(2.06);
    let dearer = MockResponse::json(200, &dearer);
    let terms = changed("cancellationChanged", json!(true));
    let dollars = changed("currency", json!("USD"));
    let sold_out = refusal(200, 2001, "");
    let expired = refusal(408, 4040, "");
    let limit = refusal(429, 4290, "");
    [
        ("more expensive", dearer, 409, "offer_price_changed"),
        ("other terms", terms, 422, "offer_unavailable"),
        ("sold out, in a 200", sold_out, 422, "offer_unavailable"),
        ("expired", expired, 422, "offer_expired"),
        ("limit", limit, 422, "supplier_rejected"),
        ("another currency", dollars, 502, "supplier_error"),
    ]
}

#[tokio::test]
async fn prebook_of_changed_or_failing_offer_is_refused() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in prebooks(&scene.story.documents["prebook"]) {
        let book = &scene.nuitee.book;
        book.respond_with("POST /v3.0/rates/prebook", answer, None);
        let reply = scene.prebook().await;
        assert_eq!(reply.outcome(), (status, code), "{name}");
        if code == "offer_price_changed" {
            assert_eq!(reply.body["offered"]["amount"], 460.5);
            assert_eq!(reply.body["current"]["amount"], 469.99);
        }
        scene.usual();
    }
}

const RELEASED: &[&str] = &["authorization", "void"];

/// Returns responses to `book`, with whether the booking was made and the gateway's response.
fn bookings() -> [(&'static str, MockResponse, bool, (u16, &'static str)); 5] {
    let known = refusal(400, 4005, "clientReference exists");
    let failure = refusal(500, 5000, "internal error");
    let declined = refusal(400, 2010, "booking not confirmed");
    let failed = refusal(200, 2013, "booking failed");
    let limit = refusal(429, 4290, "too many requests");
    let rejected = (422, "supplier_rejected");
    [
        ("a known reference", known, true, (200, "CONFIRMED")),
        ("a failure", failure, true, (500, "result_unknown")),
        ("not confirmed", declined, false, rejected),
        ("a failed provider, in a 200", failed, false, rejected),
        ("a limit", limit, false, rejected),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin().await;
    for (name, answer, is_made, outcome) in bookings() {
        let booking = scene.ready().await;
        let _prebooked = scene.nuitee.take_received();
        let work = is_made.then_some(World::book as Work<World>);
        scene.nuitee.book.respond_with(BOOK, answer, work);
        let reply = scene.book(&booking).await;
        assert_eq!(reply.outcome(), outcome, "{name}");
        let (end, ledger) = match is_made {
            true => ("CONFIRMED", TAKEN),
            false => ("FAILED", RELEASED),
        };
        let ended = scene.client.wait_for_hotel_booking(&booking, end).await;
        scene.server.wait_for_ledger(&booking, ledger).await;
        let [_, received] = scene.nuitee.take_received();
        assert_eq!(count(&received, BOOK), 1, "{name}: it is sent only once");
        if is_made {
            let reference = received[0].body["clientReference"].as_str().unwrap();
            assert_eq!(received[1].route, "GET /v3.0/bookings", "{name}");
            assert_eq!(received[1].query, format!("clientReference={reference}"));
        } else {
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}
