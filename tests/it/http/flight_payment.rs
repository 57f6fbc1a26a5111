//! Tests of paying a ticket: with each sandbox card, in a browser, and in a supplier's checkout.

use serde_json::{Value, json};
use tests::{
    Client, Database, FlightBookingBuilder, Server, complete_payment, eventually, on_both_databases,
};

/// A card and a route, with the expected result for a booking that the airline accepts or refuses.
struct Card {
    token: &'static str,
    route: &'static str,
    /// HTTP status, and the booking's status or the problem's code.
    answer: (u16, &'static str),
    end: &'static str,
    payment: &'static str,
    effects: &'static [&'static str],
}

const GOOD: Card = Card {
    token: "tok_visa",
    route: "LHR-JFK",
    answer: (200, "CONFIRMED"),
    end: "CONFIRMED",
    payment: "CAPTURED",
    effects: &["authorization", "booking", "capture"],
};

const DECLINED: Card = Card {
    token: "tok_declined",
    answer: (422, "payment_failed"),
    end: "READY_FOR_COMPLETE",
    payment: "FAILED",
    effects: &[],
    ..GOOD
};

const CARDS: &[Card] = &[
    GOOD,
    Card {
        token: "tok_mastercard",
        ..GOOD
    },
    Card {
        token: "tok_timeout",
        ..GOOD
    },
    Card {
        token: "tok_timeout",
        route: "LHR-LGW",
        answer: (422, "supplier_rejected"),
        end: "FAILED",
        payment: "VOIDED",
        effects: &["authorization", "void"],
    },
    Card {
        token: "tok_capture_fails",
        ..GOOD
    },
    DECLINED,
    Card {
        token: "tok_insufficient_funds",
        ..DECLINED
    },
    Card {
        token: "tok_requires_action",
        ..DECLINED
    },
];

fn statuses(booking: &Value) -> Vec<&str> {
    let payments = booking["payments"].as_array().unwrap().iter();
    payments
        .map(|payment| payment["status"].as_str().unwrap())
        .collect()
}

async fn booking_with_each_sandbox_card_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let mut begun = Vec::new();
    for card in CARDS {
        let (booking, reply) = FlightBookingBuilder::on(card.route)
            .card(card.token)
            .book(&server)
            .await;
        let (status, word) = card.answer;
        assert_eq!(reply.status, status, "{}: {:#}", card.token, reply.body);
        if status == 200 {
            assert_eq!(reply.data()["status"], word, "{}", card.token);
        } else {
            let problem = reply.expect_problem(status, word);
            let left_at = problem.body["booking_status"].as_str();
            assert_eq!(left_at, Some(card.end), "{}", card.token);
            if word == "payment_failed" {
                let wanted = match card.token {
                    "tok_requires_action" => "REQUIRES_ACTION",
                    _ => "FAILED",
                };
                assert_eq!(problem.body["payment_status"], wanted, "{}", card.token);
            }
        }
        begun.push((card, booking));
    }
    for (card, booking) in &begun {
        let what = format!("{} on {} to end", card.token, card.route);
        eventually(&what, async || {
            let now = client.flight_booking(booking).await;
            (now["status"] == card.end && statuses(&now) == [card.payment]).then_some(())
        })
        .await;
    }
    let ledger = server.ledger().await;
    for (card, booking) in &begun {
        assert_eq!(ledger.kinds_of(booking), card.effects, "{}", card.token);
        for kind in ["authorization", "booking", "capture"] {
            if card.effects.contains(&kind) {
                assert_eq!(ledger.sum(booking, kind), 420.0, "{}: {kind}", card.token);
            }
        }
    }
}

async fn booking_can_be_paid_with_another_card_after_a_decline(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for token in [
        "tok_declined",
        "tok_insufficient_funds",
        "tok_requires_action",
    ] {
        let (booking, reply) = FlightBookingBuilder::on("LHR-JFK")
            .card(token)
            .book(&server)
            .await;
        reply.expect_problem(422, "payment_failed");
        let ready = client.flight_booking(&booking).await;
        assert!(
            ready["expires_at"].is_string(),
            "the booking can still be completed"
        );
        assert!(ready.get("failure").is_none(), "{ready:#}");
        let good = FlightBookingBuilder::on("LHR-JFK").payment(&client).await;
        let again = client.book_flight(&booking, &good).await.expect(200);
        assert_eq!(again.data()["status"], "CONFIRMED", "{token}");
        eventually("the capture to be made", async || {
            let now = client.flight_booking(&booking).await;
            (statuses(&now) == ["FAILED", "CAPTURED"]).then_some(())
        })
        .await;
        assert_eq!(
            server.ledger().await.kinds_of(&booking),
            ["authorization", "booking", "capture"],
            "{token}"
        );
    }
}

async fn card_is_shown_in_single_read_but_not_in_list(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (token, brand, last4, funding) in [
        ("tok_visa", "VISA", "4242", "CREDIT"),
        ("tok_mastercard", "MASTERCARD", "4444", "DEBIT"),
    ] {
        let booking = FlightBookingBuilder::on("LHR-JFK")
            .card(token)
            .book_confirmed(&server)
            .await;
        let read = client.flight_booking(&booking).await;
        let card = json!({"brand": brand, "last4": last4, "funding": funding, "wallet": null});
        let shown = &read["payments"][0]["payment_method"];
        assert_eq!(*shown, json!({"type": "CARD", "card": card}));
        let listed = client.get("/v1/flight/bookings?limit=1").await.expect(200);
        assert_eq!(listed.data()[0]["id"], booking);
        let payment = &listed.data()[0]["payments"][0];
        assert!(payment.get("payment_method").is_none(), "{payment}");
        assert_eq!(payment["amount"], json!({"amount": 420, "currency": "EUR"}));
    }
}

async fn foreign_deleted_or_unknown_instrument_is_refused(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let book = async |payment: Value| client.book_flight(&booking, &payment).await;
    let missing = book(json!({})).await;
    missing.expect_problem(400, "validation_failed");
    let typo = book(json!({"payment_instrument": "inst_1"})).await;
    typo.expect_problem(400, "validation_failed");
    let deleted = client.store_card("tok_visa").await;
    let path = format!("/v1/payment-instruments/{deleted}");
    let _gone = client.delete(&path).await.expect(204);
    let somebody_elses = client.user("somebody-else").store_card("tok_visa").await;
    for instrument in [
        deleted.as_str(),
        somebody_elses.as_str(),
        "inst_00000000000000000000000000000000",
    ] {
        let refused = book(json!({"payment_instrument_id": instrument})).await;
        refused.expect_problem(422, "payment_instrument_invalid");
    }
    let ready = client.flight_booking(&booking).await;
    assert_eq!(ready["status"], "READY_FOR_COMPLETE");
    assert_eq!(ready["payments"], json!([]));
    assert!(server.ledger().await.kinds_of(&booking).is_empty());
}

/// Prebooks under a key and repeats the call. Returns the booking's id and the payment token, which
/// only the first response contains.
async fn prebooked(client: &Client, way: &FlightBookingBuilder, meta: &str) -> (String, String) {
    let key = format!("once-{meta}");
    let request = way.request(&way.offer(client).await);
    let fresh = client.prebook_flight(&key, &request).await;
    let fresh = fresh.expect(201);
    let token = fresh.body["meta"][meta]["token"].as_str().unwrap();
    let other = if meta == "checkout" {
        "payment_sdk"
    } else {
        "checkout"
    };
    assert!(fresh.body["meta"].get(other).is_none(), "{:#}", fresh.body);
    if meta == "checkout" {
        let url = fresh.body["meta"]["checkout"]["url"].as_str().unwrap();
        assert!(url.starts_with("http"), "{url}");
    }
    let again = client.prebook_flight(&key, &request).await;
    let again = again.expect(200);
    assert_eq!(again.data()["id"], fresh.data()["id"]);
    assert!(again.body["meta"].get(meta).is_none(), "{:#}", again.body);
    let id = fresh.data()["id"].as_str().unwrap().to_owned();
    let read = client.flight_booking(&id).await.to_string();
    assert!(!read.contains(token), "the token is returned once: {read}");
    (id, token.to_owned())
}

/// Checks that before the payer has paid nothing is booked and no card is accepted instead.
async fn check_unpaid(client: &Client, booking: &str) {
    let early = client.book_flight(booking, &json!({})).await;
    let early = early.expect_problem(422, "payment_failed");
    assert_eq!(early.body["booking_status"], "READY_FOR_COMPLETE");
    let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
    let wrong = client.book_flight(booking, &card).await;
    wrong.expect_problem(400, "validation_failed");
    let ready = client.flight_booking(booking).await;
    assert_eq!(ready["status"], "READY_FOR_COMPLETE");
    assert!(ready.get("failure").is_none(), "{ready:#}");
}

async fn browser_payment_confirms_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").in_browser();
    let (booking, token) = prebooked(&client, &way, "payment_sdk").await;
    check_unpaid(&client, &booking).await;
    assert!(server.ledger().await.kinds_of(&booking).is_empty());
    complete_payment(&server.sandbox_url, &token).await;
    let booked = client.book_flight(&booking, &json!({})).await.expect(200);
    assert_eq!(booked.data()["status"], "CONFIRMED");
    eventually("the capture to be made", async || {
        let now = client.flight_booking(&booking).await;
        (statuses(&now) == ["CAPTURED"]).then_some(())
    })
    .await;
    let read = client.flight_booking(&booking).await;
    assert_eq!(read["payments"][0]["collected_by"], "SERVICE");
    assert_eq!(
        server.ledger().await.kinds_of(&booking),
        ["authorization", "booking", "capture"]
    );
}

/// Checks that a browser payment is voided if the airline refuses the booking.
async fn browser_payment_is_voided_if_airline_refuses(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for (route, status, code) in [
        ("LHR-LGW", 422, "supplier_rejected"),
        ("LHR-LTN", 202, "COMPLETE_IN_PROGRESS"),
    ] {
        let (booking, reply) = FlightBookingBuilder::on(route)
            .in_browser()
            .book(&server)
            .await;
        assert_eq!(reply.status, status, "{route} {code}: {:#}", reply.body);
        let client = server.client();
        let _failed = client.wait_for_flight_booking(&booking, "FAILED").await;
        eventually("the authorization to be voided", async || {
            let ledger = server.ledger().await;
            (ledger.kinds_of(&booking) == ["authorization", "void"]).then_some(())
        })
        .await;
    }
}

async fn supplier_checkout_collects_payment_itself(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    // At this supplier, `use_payment_sdk` has no effect.
    for (way, key) in [
        (
            FlightBookingBuilder::on("LHR-JFK").at("SUPPLIER_B"),
            "plain",
        ),
        (
            FlightBookingBuilder::on("LHR-JFK")
                .at("SUPPLIER_B")
                .in_browser(),
            "sdk",
        ),
    ] {
        let client = client.user(key);
        let (booking, token) = prebooked(&client, &way, "checkout").await;
        check_unpaid(&client, &booking).await;
        complete_payment(&server.sandbox_url, &token).await;
        let booked = client.book_flight(&booking, &json!({})).await.expect(200);
        let payments = booked.data()["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 1, "{payments:#?}");
        let payment = &payments[0];
        assert_eq!(payment["collected_by"], "SUPPLIER");
        assert_eq!(payment["status"], "CAPTURED");
        assert_eq!(payment["amount"], booked.data()["total_amount"]);
        assert!(payment.get("payment_method").is_none(), "{payment}");
        let again = client.book_flight(&booking, &json!({})).await.expect(200);
        assert_eq!(again.data(), booked.data());
        assert_eq!(server.ledger().await.kinds_of(&booking), ["booking"]);
    }
}

on_both_databases! {
    booking_with_each_sandbox_card_ends_as_specified,
    booking_can_be_paid_with_another_card_after_a_decline,
    card_is_shown_in_single_read_but_not_in_list,
    foreign_deleted_or_unknown_instrument_is_refused,
    browser_payment_confirms_booking,
    browser_payment_is_voided_if_airline_refuses,
    supplier_checkout_collects_payment_itself,
}
