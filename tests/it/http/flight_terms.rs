//! Tests of fare terms that no sandbox route has: short expiry, and terms that do not state the
//! cost of a cancellation. The tests combine the demo's adapter with a mock airline.

use futures::future::join_all;
use serde_json::{Value, json};
use tests::{
    BookingBuilder, Database, MockResponse, MockServer, Server, ServerOptions, eventually,
    on_both_databases, seconds_ahead, supplier_at,
};

const AIRLINE: &str = "SHORT_SPOKEN";

/// Returns a fare of the airline that is valid for `good_for_s` seconds and has the given refund
/// terms.
fn fare(good_for_s: i64, refund: &Value) -> Value {
    let euros = |value: &str| json!({"value": value, "currency": "EUR"});
    let seat = json!({"index": 0, "cabin": "economy", "cabin_name": "Economy", "checked": 1, "carry_on": 1});
    let carrier = json!({"code": "BA", "name": "British Airways", "logo": null});
    let segment = json!({
        "id": "seg-1", "from": "LHR", "to": "JFK", "from_zone": "Europe/London", "to_zone": "America/New_York",
        "departs": "2030-01-01T10:00:00", "arrives": "2030-01-01T13:00:00", "duration": "PT8H",
        "carrier": carrier, "flight_no": "117", "operator": null, "travellers": [seat],
    });
    let slice = json!({"id": "sli-1", "from": "LHR", "to": "JFK", "duration": "PT8H", "brand": "Economy Flex", "segments": [segment]});
    json!({
        "id": "off-1", "expires_at": seconds_ahead(good_for_s), "brand": "Economy Flex",
        "total": euros("420.00"), "base": euros("336.00"), "tax": euros("84.00"),
        "conditions": {"refund": refund, "change": {"allowed": null, "penalty": null}},
        "passports_required": false, "slices": [slice],
    })
}

/// Starts an airline that sells one fare, tickets it, and never quotes a cancellation.
async fn airline(good_for_s: i64, refund: Value) -> MockServer {
    let airline = MockServer::start().await;
    let data = |value: Value| json!({ "data": value });
    let terms = refund.clone();
    airline.on("POST /skylane/offers/search", move |_| {
        let found = json!({"offers": [fare(good_for_s, &terms)], "matches": 1, "more": false});
        MockResponse::json(201, &data(found))
    });
    let terms = refund.clone();
    airline.on("POST /skylane/offers/off-1/price", move |_| {
        MockResponse::json(200, &data(fare(good_for_s, &terms)))
    });
    airline.on("POST /skylane/orders", move |request| {
        let mut order = fare(good_for_s, &refund);
        let members = json!({
            "id": "ord-1", "client_ref": request.body["client_ref"], "state": "ticketed", "failure": null,
            "locator": "ABC123", "bags_total": {"value": "0.00", "currency": "EUR"}, "bags": [], "changes": [],
            "cancellation": null, "created_at": order["expires_at"], "ticketed_at": order["expires_at"],
        });
        let members = members.as_object().unwrap().clone();
        order.as_object_mut().unwrap().extend(members);
        MockResponse::json(201, &data(order))
    });
    airline.on("POST /skylane/orders/ord-1/cancel-quote", |_| {
        let error =
            json!({"code": "quote_unavailable", "title": "No quote", "detail": "Ask later."});
        MockResponse::json(422, &json!({"errors": [error]}))
    });
    airline
}

/// Starts the demo with this airline as an additional supplier under each id.
async fn server(database: Database, airline: &MockServer, ids: &[&str]) -> Server {
    let mut options = ServerOptions::on(database).with_short_retries();
    for id in ids {
        let component = "fake-flights-skylane.wasm";
        options = options.config(&supplier_at(&airline.url, id, "flight", component, &[]));
    }
    Server::start_with(options).await
}

/// A booking that is not completed in time expires and releases the offer.
async fn uncompleted_flight_booking_expires_and_releases_the_offer(database: Database) {
    let airline = airline(3, json!({"allowed": true, "penalty": null})).await;
    let server = server(database, &airline, &[AIRLINE]).await;
    let client = server.client();
    let builder = BookingBuilder::new(AIRLINE, "LHR-JFK");
    // The airline has one fare, which every search returns again.
    let prebook = async |key: &str| {
        let request = builder.request(&client).await;
        client.prebook_flight(key, &request).await
    };
    let first = prebook("first").await.expect(201);
    let booking = builder.booking(&client, first.data()["id"].as_str().unwrap());
    let held = prebook("second").await;
    held.expect_problem(409, "offer_in_use");
    let expired = booking.wait_for("EXPIRED").await;
    for absent in ["expires_at", "failure", "cancellation"] {
        assert!(expired.get(absent).is_none(), "{absent} of {expired:#}");
    }
    assert_eq!(expired["payments"], json!([]));
    let late = booking.book(&builder.payment(&client).await).await;
    late.expect_state_conflict("EXPIRED");
    let free = eventually("the offer to be available again", async || {
        Some(prebook("third").await).filter(|reply| reply.status != 409)
    })
    .await;
    assert_eq!(free.outcome(), (201, "READY_FOR_COMPLETE"));
    let ledger = server.ledger().await;
    assert!(
        ledger.kinds_of(&booking.id).is_empty(),
        "no card is charged"
    );
}

async fn prebook_of_expired_offer_returns_422(database: Database) {
    let airline = airline(1, json!({"allowed": true, "penalty": null})).await;
    let server = server(database, &airline, &[AIRLINE]).await;
    let client = server.client();
    let builder = BookingBuilder::new(AIRLINE, "LHR-JFK");
    let request = builder.request(&client).await;
    let refused = eventually("the offer to expire", async || {
        let key = uuid::Uuid::now_v7().to_string();
        let reply = client.prebook_flight(&key, &request).await;
        Some(reply).filter(|reply| !matches!(reply.status, 201 | 409))
    })
    .await;
    refused.expect_problem(422, "offer_expired");
}

/// At the moment a fare expires, the booking is either ticketed or expired. Only a ticketed booking
/// is charged.
async fn book_at_fare_expiry_either_confirms_or_expires(database: Database) {
    let airline = airline(4, json!({"allowed": true, "penalty": null})).await;
    let ids: Vec<String> = (0..8).map(|at| format!("{AIRLINE}_{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let server = server(database, &airline, &ids).await;
    let client = server.client();
    // The calls begin before, at and after the expiry.
    let races = ids.iter().zip([120, 80, 50, 30, 10, 0, -20, -60]);
    let races = races.map(async |(id, milliseconds)| {
        let builder = BookingBuilder::new(id, "LHR-JFK");
        let booking = builder.prebooked(&server).await;
        let payment = builder.payment(&client).await;
        booking.book_before_expiry(payment, milliseconds).await
    });
    for (booking, reply) in join_all(races).await {
        let (end, effects) = if reply.status == 200 {
            ("CONFIRMED", &["authorization", "capture"][..])
        } else {
            reply.expect_state_conflict("EXPIRED");
            ("EXPIRED", &[][..])
        };
        booking.wait_for(end).await;
        server.wait_for_ledger(&booking.id, effects).await;
    }
}

/// Unknown terms are not treated as a free cancellation.
async fn unavailable_quote_names_the_reason(database: Database) {
    let dollars = json!({"value": "50.00", "currency": "USD"});
    for (allowed, penalty, reason) in [
        (json!(null), json!(null), "terms_unknown"),
        (json!(true), json!(null), "terms_unknown"),
        (json!(true), dollars, "penalty_in_other_currency"),
    ] {
        let airline = airline(600, json!({"allowed": allowed, "penalty": penalty})).await;
        let server = server(database, &airline, &[AIRLINE]).await;
        let builder = BookingBuilder::new(AIRLINE, "LHR-JFK");
        let booking = builder.book_confirmed(&server).await;
        let quoted = booking.quote().await.expect(200);
        let quote = quoted.data();
        assert_eq!(quote["source"], "FARE_ESTIMATE", "{penalty}");
        assert_eq!(quote["unavailable_reason"], reason, "{penalty}");
        assert_eq!(quote["refund_to"], json!([]), "{penalty}");
        for absent in ["fee", "refund"] {
            assert!(quote.get(absent).is_none(), "{penalty}: {quote:#}");
        }
        let booking = booking.read().await;
        assert_eq!(booking["cancellation_policy"]["refundable"], allowed);
        let unknown = json!({"allowed": null, "penalty": null});
        assert_eq!(booking["fare_conditions"]["change"], unknown);
    }
}

/// An airline that refuses to answer now does not keep the caller from an estimate.
async fn airline_that_cannot_answer_gives_an_estimate(database: Database) {
    let terms = json!({"allowed": true, "penalty": {"value": "50.00", "currency": "EUR"}});
    let airline = airline(600, terms).await;
    let server = server(database, &airline, &[AIRLINE]).await;
    let builder = BookingBuilder::new(AIRLINE, "LHR-JFK");
    let booking = builder.book_confirmed(&server).await;
    for (status, code) in [
        (401, "unauthorized"),
        (404, "not_found"),
        (422, "quote_unavailable"),
        (429, "rate_limited"),
        (500, "internal"),
    ] {
        airline.on("POST /skylane/orders/ord-1/cancel-quote", move |_| {
            let error = json!({"code": code, "title": "No", "detail": "Not now."});
            MockResponse::json(status, &json!({"errors": [error]}))
        });
        let quoted = booking.quote().await.expect(200);
        let quote = quoted.data();
        assert_eq!(quote["source"], "FARE_ESTIMATE", "{status}");
        assert_eq!(quote["fee"]["amount"], 50, "{status}");
        assert_eq!(quote["refund"]["amount"], 370, "{status}");
        assert_eq!(quote["unavailable_reason"], Value::Null, "{status}");
    }
}

on_both_databases! {
    airline_that_cannot_answer_gives_an_estimate,
    uncompleted_flight_booking_expires_and_releases_the_offer,
    prebook_of_expired_offer_returns_422,
    book_at_fare_expiry_either_confirms_or_expires,
    unavailable_quote_names_the_reason,
}
