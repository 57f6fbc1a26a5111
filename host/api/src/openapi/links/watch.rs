//! Links from hotels to watches and the confirmation of their purchase.

use crate::openapi::links::{ExampleStay, Link};
use serde_json::{Value, json};

fn hotel(hotel_id: &str, stay: &ExampleStay) -> Value {
    stay.with(json!({
        "hotel_id": hotel_id,
        "trigger": { "type": "below_total", "amount": 150 },
    }))
}

pub(super) fn links(stay: &ExampleStay) -> Vec<Link> {
    let link = |from, status, to, parameters, body| Link {
        from,
        status,
        to,
        parameters,
        body,
    };
    let found = "$response.body#/data/0/hotel_id";
    let made = || json!({ "watch_id": "$response.body#/data/id" });
    let listed = json!({ "watch_id": "$response.body#/data/0/id" });
    let watched = Some(hotel(found, stay));
    let mut all = vec![
        link(
            "search_hotels",
            "200",
            "create_hotel_watch",
            json!({}),
            watched,
        ),
        link("list_watches", "200", "read_watch", listed, None),
    ];
    for from in ["create_hotel_watch", "create_trip_watch"] {
        for to in ["read_watch", "confirm_purchase", "delete_watch"] {
            all.push(link(from, "201", to, made(), None));
        }
    }
    all
}
