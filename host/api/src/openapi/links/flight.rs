//! Links from fares to a ticket with bags.

use crate::openapi::links::{Link, with_id};
use serde_json::{Value, json};

fn prebook(offer_reference: &str) -> Value {
    json!({
        "offer_reference": offer_reference,
        "contact": { "email": "ada@example.com", "phone": "+442079460958" },
        "passengers": [{
            "type": "ADULT", "title": "MS", "first_name": "Ada", "last_name": "Lovelace",
            "date_of_birth": "1990-12-10", "gender": "F", "nationality": "GB",
        }],
    })
}

pub(super) fn links() -> Vec<Link> {
    let link = |from, to, parameters, body| Link {
        from,
        status: "200",
        to,
        parameters,
        body,
    };
    let offer = "$response.body#/data/0/offer_reference";
    let carrier = "$response.body#/data/0/journeys/0/segments/0/marketing_carrier_code";
    let listed = json!({ "id": "$response.body#/data/0/id" });
    let same = json!({ "id": "$request.path.id" });
    let mut all = vec![
        link(
            "price_flights",
            "prebook_flight",
            json!({}),
            Some(prebook(offer)),
        ),
        link(
            "price_flights",
            "read_airline",
            json!({ "iataCode": carrier }),
            None,
        ),
        link("list_flight_bookings", "read_flight_booking", listed, None),
        link("list_flight_services", "buy_flight_services", same, None),
        with_id("book_flight", "200", "cancel_flight_booking"),
        with_id("book_flight", "200", "quote_flight_cancellation"),
        with_id("book_flight", "200", "list_flight_services"),
        with_id("buy_flight_services", "200", "read_flight_booking"),
    ];
    for status in ["200", "201"] {
        all.push(with_id("prebook_flight", status, "book_flight"));
        all.push(with_id("prebook_flight", status, "read_flight_booking"));
    }
    for from in ["book_flight", "cancel_flight_booking"] {
        for status in ["200", "202"] {
            all.push(with_id(from, status, "read_flight_booking"));
        }
    }
    all
}
