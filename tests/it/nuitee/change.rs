//! Tests of each Nuitee response to prebook, book and cancel as tables of cases, with the final
//! status of the booking and of the payment.

use crate::nuitee::drive::pay;
use crate::nuitee::scene::Scene;
use crate::nuitee::service::{KEY, refusal};
use serde_json::{Value, json};
use tests::{MockResponse, eventually};

/// Returns responses to prebook, with the expected status and code.
fn prebooks(usual: &Value) -> [(&'static str, MockResponse, u16, &'static str); 9] {
    let changed = |members: Value| {
        let mut document = usual.clone();
        let members = members.as_object().unwrap().clone();
        document["data"].as_object_mut().unwrap().extend(members);
        MockResponse::json(200, &document)
    };
    let dearer = changed(json!({"price": 469.99, "priceDifferencePercent": 2.06}));
    let board = changed(json!({"boardChanged": true}));
    let terms = changed(json!({"cancellationChanged": true}));
    let dollars = changed(json!({"currency": "USD"}));
    [
        ("more expensive", dearer, 409, "offer_price_changed"),
        ("another board", board, 422, "offer_unavailable"),
        ("other terms", terms, 422, "offer_unavailable"),
        (
            "sold out, in a 200",
            refusal(200, 2001, ""),
            422,
            "offer_unavailable",
        ),
        ("expired", refusal(408, 4040, ""), 422, "offer_expired"),
        (
            "unknown",
            refusal(400, 4002, "invalid offerId"),
            422,
            "offer_expired",
        ),
        ("limit", refusal(429, 4290, ""), 422, "supplier_rejected"),
        ("another currency", dollars, 502, "supplier_error"),
        (
            "internal error",
            refusal(500, 5000, ""),
            502,
            "supplier_error",
        ),
    ]
}

#[tokio::test]
async fn prebook_of_changed_or_failing_offer_is_refused() {
    let scene = Scene::begin().await;
    for (name, answer, status, code) in prebooks(&scene.story.documents.prebook) {
        scene
            .nuitee
            .book
            .on("POST /v3.0/rates/prebook", move |_| answer.clone());
        let reply = scene.prebook().await;
        let ended = (reply.status, reply.body["code"].as_str());
        assert_eq!(ended, (status, Some(code)), "{name}: {:#}", reply.body);
        if code == "offer_price_changed" {
            assert_eq!(reply.body["offered"]["amount"], 460.5);
            assert_eq!(reply.body["current"]["amount"], 469.99);
        }
        scene.usual();
    }
}

/// A response to `book`, whether the booking was made, and the outcome.
struct Case {
    name: &'static str,
    answer: MockResponse,
    is_made: bool,
    reply: (u16, &'static str),
    end: &'static str,
    ledger: &'static [&'static str],
}

const TAKEN: &[&str] = &["authorization", "capture"];
const RELEASED: &[&str] = &["authorization", "void"];

fn bookings() -> [Case; 10] {
    let refused = |name, status, code, description| Case {
        name,
        answer: refusal(status, code, description),
        is_made: false,
        reply: (422, "supplier_rejected"),
        end: "FAILED",
        ledger: RELEASED,
    };
    let unknown = |name, answer| Case {
        name,
        answer,
        is_made: true,
        reply: (500, "result_unknown"),
        end: "CONFIRMED",
        ledger: TAKEN,
    };
    let known = Case {
        reply: (200, "CONFIRMED"),
        ..unknown(
            "a known reference",
            refusal(400, 4005, "clientReference exists"),
        )
    };
    [
        known,
        unknown("a failure", refusal(500, 5000, "internal error")),
        unknown(
            "not updated",
            refusal(400, 2014, "booking data was not updated"),
        ),
        unknown(
            "a truncated response",
            MockResponse::new(200, r#"{"data": {"bookingId": "BK"#),
        ),
        unknown("a proxy's failure", MockResponse::new(502, "<html>")),
        refused("not confirmed", 400, 2010, "booking not confirmed"),
        refused("a failed provider", 400, 2013, "booking failed"),
        refused("a failed provider, in a 200", 200, 2013, "booking failed"),
        refused("an invalid prebook", 400, 4002, "invalid prebookId"),
        refused("a limit", 429, 4290, "too many requests"),
    ]
}

#[tokio::test]
async fn booking_after_each_response_ends_as_nuitee_shows() {
    let scene = Scene::begin().await;
    for case in bookings() {
        let name = case.name;
        let booking = scene.ready().await;
        let _prebooked = scene.nuitee.take_received();
        scene.nuitee.answer_book_with(case.answer, case.is_made);
        let reply = pay(&scene.client, &booking).await;
        let pointer = if reply.status == 200 {
            "/data/status"
        } else {
            "/code"
        };
        let word = reply.body.pointer(pointer).and_then(Value::as_str).unwrap();
        assert_eq!((reply.status, word), case.reply, "{name}: {:#}", reply.body);
        let ended = scene
            .client
            .wait_for_hotel_booking(&booking, case.end)
            .await;
        scene
            .leaves_in_the_ledger(name, &booking, case.ledger)
            .await;
        let [_, received] = scene.nuitee.take_received();
        let books = received
            .iter()
            .filter(|request| request.route == "POST /v3.0/rates/book");
        assert_eq!(books.count(), 1, "{name}: the booking is sent only once");
        if case.is_made {
            let reference = received[0].body["clientReference"].as_str().unwrap();
            assert_eq!(received[1].route, "GET /v3.0/bookings", "{name}");
            assert_eq!(received[1].query, format!("clientReference={reference}"));
            assert_eq!(received[1].header("x-api-key"), Some(KEY));
        } else {
            assert_eq!(ended["failure"]["code"], "book_failed", "{name}");
        }
        scene.usual();
    }
}

#[tokio::test]
async fn cancellation_refused_by_nuitee_leaves_booking_confirmed() {
    let scene = Scene::begin().await;
    for (name, answer) in [
        ("not modified", MockResponse::empty(304)),
        ("a limit", refusal(429, 4290, "too many requests")),
        ("no such booking", MockResponse::empty(204)),
    ] {
        let booking = scene.confirmed().await;
        scene.leaves_in_the_ledger(name, &booking, TAKEN).await;
        let route = format!("PUT /v3.0/bookings/{}", scene.story.booking_id);
        scene.nuitee.book.on(&route, move |_| answer.clone());
        let path = format!("/v1/hotel/bookings/{booking}");
        let begun = scene
            .client
            .post(&format!("{path}/cancel"), &json!({}))
            .await;
        assert!(
            matches!(begun.status, 200 | 202),
            "{name}: {:#}",
            begun.body
        );
        let refused = format!("{name} to be refused");
        let ended = eventually(&refused, async || {
            Some(scene.client.hotel_booking(&booking).await)
                .filter(|booking| booking["cancellations"][0]["status"] == "REFUSED")
        })
        .await;
        assert_eq!(ended["status"], "CONFIRMED", "{name}");
        assert_eq!(ended["failure"]["code"], "cancel_refused", "{name}");
        assert_eq!(
            scene.server.ledger().await.count(&booking, "refund"),
            0,
            "{name}"
        );
        scene.usual();
    }
}
