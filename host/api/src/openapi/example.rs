//! Examples of all operations. Each is a recorded request with its response. Only the dates are
//! shifted, so that the request is valid today.

use host_domain::time::Date;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

macro_rules! recordings {
    ($($operation:ident)*) => {
        [$((stringify!($operation), include_str!(concat!("example/", stringify!($operation), ".json")))),*]
    };
}

/// Recorded examples by operation.
const EXAMPLES: [(&str, &str); 68] = recordings! {
    add_payment_instrument
    book_flight
    book_hotel
    buy_flight_services
    cancel_flight_booking
    cancel_hotel_booking
    change_flight_subscription
    change_hotel_subscription
    confirm_purchase
    create_flight_subscription
    create_hotel_subscription
    create_hotel_watch
    create_trip_watch
    find_airports
    find_places
    get_health
    get_readiness
    issue_mandate
    list_flight_bookings
    list_flight_deliveries
    list_flight_services
    list_flight_subscriptions
    list_hotel_bookings
    list_hotel_deliveries
    list_hotel_subscriptions
    list_mandate_keys
    list_payment_instruments
    list_suppliers
    list_watch_events
    list_watches
    pause_flight_subscription
    pause_hotel_subscription
    prebook_flight
    prebook_hotel
    price_flights
    price_hotels
    quote_flight_cancellation
    quote_hotel_cancellation
    read_airline
    read_flight_booking
    read_flight_delivery
    read_flight_subscription
    read_hotel
    read_hotel_booking
    read_hotel_delivery
    read_hotel_subscription
    read_mandate
    read_payment_instrument
    read_place
    read_price_calendar
    read_stay_weather
    read_watch
    read_watcher_webhook
    receive_secret_supplier_events
    receive_supplier_events
    recover_flight_deliveries
    recover_hotel_deliveries
    register_watcher_webhook
    replay_flight_delivery
    replay_hotel_delivery
    resume_flight_subscription
    resume_hotel_subscription
    revoke_mandate
    rotate_flight_subscription_secret
    rotate_hotel_subscription_secret
    search_hotels
    test_flight_subscription
    test_hotel_subscription
};

/// A recorded example, one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedExample {
    recorded: Date,
    request: Option<Value>,
    /// Response with status 200 or 201; a repeat is answered like the first request.
    answer: Option<Value>,
    /// Response with status 202.
    accepted: Option<Value>,
}

/// Adds the examples to their operations.
pub(super) fn add_examples(paths: &mut BTreeMap<String, Map<String, Value>>, today: Date) {
    let recordings: BTreeMap<&str, &str> = EXAMPLES.into_iter().collect();
    for operation in paths.values_mut().flat_map(Map::values_mut) {
        let name = operation.get("operationId").and_then(Value::as_str);
        let text = name.and_then(|name| recordings.get(name));
        let Some(recording) = text.and_then(|text| RecordedExample::read(text, today)) else {
            continue;
        };
        let places = [
            ("/requestBody", &recording.request),
            ("/responses/200", &recording.answer),
            ("/responses/201", &recording.answer),
            ("/responses/202", &recording.accepted),
        ];
        for (place, example) in places {
            let json = operation.pointer_mut(&format!("{place}/content/application~1json"));
            if let (Some(Value::Object(json)), Some(example)) = (json, example) {
                json.insert("example".to_owned(), example.clone());
            }
        }
    }
}

impl RecordedExample {
    /// Parses an example and shifts its dates. Returns `None` if the file is invalid; a test then
    /// finds the missing example.
    fn read(text: &str, today: Date) -> Option<Self> {
        let mut recording: Self = serde_json::from_str(text).ok()?;
        let recorded = recording.recorded;
        let answers = [&mut recording.answer, &mut recording.accepted];
        for part in answers
            .into_iter()
            .chain([&mut recording.request])
            .flatten()
        {
            shift_dates(part, recorded, today);
        }
        Some(recording)
    }
}

/// Shifts dates and instants by the number of days from the recording to today.
fn shift_dates(value: &mut Value, recorded: Date, today: Date) {
    match value {
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|one| shift_dates(one, recorded, today));
        }
        Value::Array(elements) => {
            elements
                .iter_mut()
                .for_each(|one| shift_dates(one, recorded, today));
        }
        Value::String(text) => {
            if let Some(moved) = shift_date(text, recorded, today) {
                *text = moved;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Shifts a date. Returns `None` for text that is not a date, and for dates in the distant past,
/// such as dates of birth.
fn shift_date(text: &str, recorded: Date, today: Date) -> Option<String> {
    let (day, time) = text.split_at_checked("YYYY-MM-DD".len())?;
    let day: Date = day.parse().ok()?;
    let is_whole = time.is_empty() || time.starts_with('T');
    if !is_whole || day.year() < recorded.year() - 1 {
        return None;
    }
    let moved = day.saturating_add(recorded.duration_until(today));
    Some(format!("{moved}{time}"))
}
