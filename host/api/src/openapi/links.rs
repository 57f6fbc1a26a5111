//! OpenAPI links from each response to the operations that can follow it. They work against a demo.

use host_domain::time::Date;
use jiff::ToSpan;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Days from today to the stay in the links. Documents may be read long after they were generated.
const DAYS_AHEAD: i64 = 60;
const NIGHTS: i64 = 2;

const HOTEL: &str = "$response.body#/data/0/hotel_id";

/// An operation, the statuses of its response, the operations that can follow, and their path
/// parameters as runtime expressions.
const LINKS: &str = "
    find_places 200 read_place id=$response.body#/data/0/id
    find_places 200 search_hotels
    search_hotels 200 read_hotel hotel_id=$response.body#/data/0/hotel_id
    search_hotels 200 price_hotels,read_price_calendar,create_hotel_watch
    price_hotels 200 read_hotel hotel_id=$response.body#/data/0/hotel_id
    price_hotels 200 prebook_hotel
    book_hotel 200 read_stay_weather id=$response.body#/data/id
    price_flights 200 prebook_flight
    price_flights 200 read_airline iataCode=$response.body#/data/0/journeys/0/segments/0/marketing_carrier_code
    book_flight 200 list_flight_services id=$response.body#/data/id
    list_flight_services 200 buy_flight_services id=$request.path.id
    buy_flight_services 200 read_flight_booking id=$response.body#/data/id
    list_payment_instruments 200 read_payment_instrument id=$response.body#/data/0/id
    add_payment_instrument 200,201 read_payment_instrument id=$response.body#/data/id
    add_payment_instrument 201 delete_payment_instrument id=$response.body#/data/id
    add_payment_instrument 200,201 issue_mandate
    issue_mandate 200,201 read_mandate,revoke_mandate id=$response.body#/data/id
    list_watches 200 read_watch watch_id=$response.body#/data/0/id
    create_hotel_watch 201 read_watch,confirm_purchase,delete_watch watch_id=$response.body#/data/id
    create_trip_watch 201 read_watch,confirm_purchase,delete_watch watch_id=$response.body#/data/id
";

/// Links between operations that both products have; `*` is the product.
const LINKS_OF_PRODUCT: &str = "
    list_*_bookings 200 read_*_booking id=$response.body#/data/0/id
    prebook_* 200,201 book_*,read_*_booking id=$response.body#/data/id
    book_* 200 cancel_*_booking,quote_*_cancellation id=$response.body#/data/id
    book_* 200,202 read_*_booking id=$response.body#/data/id
    cancel_*_booking 200,202 read_*_booking id=$response.body#/data/id
    create_*_subscription 201 read_*_subscription,pause_*_subscription id=$response.body#/data/id
    create_*_subscription 201 rotate_*_subscription_secret,test_*_subscription id=$response.body#/data/id
    create_*_subscription 201 list_*_deliveries id=$response.body#/data/id
    list_*_subscriptions 200 read_*_subscription id=$response.body#/data/0/id
    test_*_subscription 202 read_*_delivery id=$request.path.id delivery_id=$response.body#/data/id
    list_*_deliveries 200 replay_*_delivery id=$request.path.id delivery_id=$response.body#/data/0/id
    pause_*_subscription 200 resume_*_subscription id=$response.body#/data/id
    resume_*_subscription 200 test_*_subscription id=$response.body#/data/id
    rotate_*_subscription_secret 200 delete_*_subscription id=$response.body#/data/id
";

pub(super) fn add_links(paths: &mut BTreeMap<String, Map<String, Value>>, today: Date) {
    let of = |product| LINKS_OF_PRODUCT.replace('*', product);
    let table = [LINKS.to_owned(), of("hotel"), of("flight")].concat();
    for operation in paths.values_mut().flat_map(Map::values_mut) {
        let name = operation.get("operationId").and_then(Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        for line in table.lines() {
            let mut words = line.split_whitespace();
            if words.next() != Some(name.as_str()) {
                continue;
            }
            let statuses = words.next().unwrap_or_default().split(',');
            let targets = words.next().unwrap_or_default();
            let parameters = words.filter_map(|word| word.split_once('='));
            let parameters: BTreeMap<&str, &str> = parameters.collect();
            for status in statuses {
                let response = operation.pointer_mut(&format!("/responses/{status}"));
                let Some(Value::Object(response)) = response else {
                    continue;
                };
                let known = response.entry("links").or_insert_with(|| json!({}));
                for to in targets.split(',') {
                    let link = match body(&name, to, today) {
                        None => json!({ "operationId": to, "parameters": parameters }),
                        Some(body) => {
                            json!({ "operationId": to, "parameters": parameters, "requestBody": body })
                        }
                    };
                    known[to] = link;
                }
            }
        }
    }
}

/// Returns the request to an operation, made from the response of another.
fn body(from: &str, to: &str, today: Date) -> Option<Value> {
    Some(match (from, to) {
        ("find_places", "search_hotels") => {
            stay(today, json!({ "place_id": "$response.body#/data/0/id" }))
        }
        ("search_hotels", "price_hotels") => stay(today, json!({ "hotel_ids": [HOTEL] })),
        ("search_hotels", "read_price_calendar") => {
            let (from, to) = dates(today);
            json!({ "hotel_ids": [HOTEL], "from": from, "to": to })
        }
        ("search_hotels", "create_hotel_watch") => {
            let trigger = json!({ "type": "below_total", "amount": 150 });
            stay(today, json!({ "hotel_id": HOTEL, "trigger": trigger }))
        }
        ("price_hotels", "prebook_hotel") => {
            let guest = |first: &str, last: &str, is_lead: bool| json!({ "first_name": first, "last_name": last, "type": "ADULT", "is_lead": is_lead });
            json!({
                "offer_reference": "$response.body#/data/0/offers/0/offer_reference",
                "contact": { "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "phone": "+442079460958" },
                "rooms": [{ "guests": [guest("Ada", "Lovelace", true), guest("Charles", "Babbage", false)] }],
            })
        }
        ("price_flights", "prebook_flight") => json!({
            "offer_reference": "$response.body#/data/0/offer_reference",
            "contact": { "email": "ada@example.com", "phone": "+442079460958" },
            "passengers": [{
                "type": "ADULT", "title": "MS", "first_name": "Ada", "last_name": "Lovelace",
                "date_of_birth": "1990-12-10", "gender": "F", "nationality": "GB",
            }],
        }),
        // Sent without `x-user-id`.
        ("add_payment_instrument", "issue_mandate") => json!({
            "user_id": "org",
            "payment_amount": { "currency": "EUR", "amount": 250.0 },
            "payment_instrument": { "id": "$response.body#/data/id", "type": "CARD" },
        }),
        _ => return None,
    })
}

/// Returns a request for two adults in one room, with the additional members `more`.
fn stay(today: Date, more: Value) -> Value {
    let (check_in, check_out) = dates(today);
    let mut request = json!({
        "check_in": check_in, "check_out": check_out,
        "occupancy": [{ "adults": 2 }], "guest_nationality": "GB", "currency": "EUR",
    });
    if let (Value::Object(request), Value::Object(mut more)) = (&mut request, more) {
        request.append(&mut more);
    }
    request
}

fn dates(today: Date) -> (String, String) {
    let day = |days: i64| today.saturating_add(days.days()).to_string();
    (day(DAYS_AHEAD), day(DAYS_AHEAD + NIGHTS))
}
