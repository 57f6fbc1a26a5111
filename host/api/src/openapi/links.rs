//! OpenAPI links from each response to the operations that can follow it. They work against a demo.

pub(crate) mod flight;
pub(crate) mod mandate;
pub(crate) mod watch;
pub(crate) mod webhook;

use host_domain::time::Date;
use jiff::ToSpan;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Days from today to the stay in the links. Documents may be read long after they were generated.
const DAYS_AHEAD: i64 = 60;
const NIGHTS: i64 = 2;

/// A link from a response to an operation that can follow it.
struct Link {
    from: &'static str,
    status: &'static str,
    to: &'static str,
    /// Path or query parameters as runtime expressions.
    parameters: Value,
    body: Option<Value>,
}

/// Adds links to the responses of the operations.
pub(super) fn add_links(paths: &mut BTreeMap<String, Map<String, Value>>, today: Date) {
    let stay = ExampleStay::after(today);
    for operation in paths.values_mut().flat_map(Map::values_mut) {
        let Some(name) = operation.get("operationId").and_then(Value::as_str) else {
            continue;
        };
        let name = name.to_owned();
        let links = links(&stay)
            .into_iter()
            .chain(flight::links())
            .chain(mandate::links())
            .chain(watch::links(&stay))
            .chain(webhook::links());
        for link in links.filter(|link| link.from == name) {
            let response = operation.pointer_mut(&format!("/responses/{}", link.status));
            if let Some(Value::Object(response)) = response {
                let known = response.entry("links").or_insert_with(|| json!({}));
                if let Value::Object(known) = known {
                    known.insert(link.to.to_owned(), link.to_json());
                }
            }
        }
    }
}

impl Link {
    fn to_json(&self) -> Value {
        match &self.body {
            Some(body) => {
                json!({ "operationId": self.to, "parameters": self.parameters, "requestBody": body })
            }
            None => json!({ "operationId": self.to, "parameters": self.parameters }),
        }
    }
}

/// Creates a link that passes the id in the response to the next operation.
fn with_id(from: &'static str, status: &'static str, to: &'static str) -> Link {
    Link {
        from,
        status,
        to,
        parameters: json!({ "id": "$response.body#/data/id" }),
        body: None,
    }
}

/// The stay in the links.
struct ExampleStay {
    check_in: String,
    check_out: String,
}

impl ExampleStay {
    fn after(today: Date) -> Self {
        let day = |days: i64| today.saturating_add(days.days()).to_string();
        Self {
            check_in: day(DAYS_AHEAD),
            check_out: day(DAYS_AHEAD + NIGHTS),
        }
    }

    /// Returns a request for two adults in one room, with the additional members `more`.
    fn with(&self, more: Value) -> Value {
        let mut request = json!({
            "check_in": self.check_in, "check_out": self.check_out,
            "occupancy": [{ "adults": 2 }], "guest_nationality": "GB", "currency": "EUR",
        });
        if let (Value::Object(request), Value::Object(mut more)) = (&mut request, more) {
            request.append(&mut more);
        }
        request
    }
}

fn prebook(offer_reference: &str) -> Value {
    let guest = |first: &str, last: &str, is_lead: bool| json!({ "first_name": first, "last_name": last, "type": "ADULT", "is_lead": is_lead });
    json!({
        "offer_reference": offer_reference,
        "contact": { "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "phone": "+442079460958" },
        "rooms": [{ "guests": [guest("Ada", "Lovelace", true), guest("Charles", "Babbage", false)] }],
    })
}

fn calendar(hotel: &str, stay: &ExampleStay) -> Value {
    json!({ "hotel_ids": [hotel], "from": stay.check_in, "to": stay.check_out })
}

#[expect(clippy::too_many_lines, reason = "a table has one entry for each case")]
fn links(stay: &ExampleStay) -> Vec<Link> {
    const HOTEL: &str = "$response.body#/data/0/hotel_id";
    let link = |from, status, to, parameters, body| Link {
        from,
        status,
        to,
        parameters,
        body,
    };
    let mut all = vec![
        link(
            "find_places",
            "200",
            "read_place",
            json!({ "id": "$response.body#/data/0/id" }),
            None,
        ),
        link(
            "find_places",
            "200",
            "search_hotels",
            json!({}),
            Some(stay.with(json!({ "place_id": "$response.body#/data/0/id" }))),
        ),
        link(
            "search_hotels",
            "200",
            "read_hotel",
            json!({ "hotel_id": HOTEL }),
            None,
        ),
        link(
            "search_hotels",
            "200",
            "price_hotels",
            json!({}),
            Some(stay.with(json!({ "hotel_ids": [HOTEL] }))),
        ),
        link(
            "search_hotels",
            "200",
            "read_price_calendar",
            json!({}),
            Some(calendar(HOTEL, stay)),
        ),
        link(
            "price_hotels",
            "200",
            "read_hotel",
            json!({ "hotel_id": HOTEL }),
            None,
        ),
        link(
            "price_hotels",
            "200",
            "prebook_hotel",
            json!({}),
            Some(prebook("$response.body#/data/0/offers/0/offer_reference")),
        ),
        link(
            "list_hotel_bookings",
            "200",
            "read_hotel_booking",
            json!({ "id": "$response.body#/data/0/id" }),
            None,
        ),
        link(
            "list_payment_instruments",
            "200",
            "read_payment_instrument",
            json!({ "id": "$response.body#/data/0/id" }),
            None,
        ),
        with_id("book_hotel", "200", "cancel_hotel_booking"),
        with_id("book_hotel", "200", "quote_hotel_cancellation"),
        with_id("book_hotel", "200", "read_stay_weather"),
        with_id("add_payment_instrument", "201", "delete_payment_instrument"),
    ];
    for status in ["200", "201"] {
        all.push(with_id("prebook_hotel", status, "book_hotel"));
        all.push(with_id("prebook_hotel", status, "read_hotel_booking"));
        all.push(with_id(
            "add_payment_instrument",
            status,
            "read_payment_instrument",
        ));
    }
    for from in ["book_hotel", "cancel_hotel_booking"] {
        for status in ["200", "202"] {
            all.push(with_id(from, status, "read_hotel_booking"));
        }
    }
    all
}
