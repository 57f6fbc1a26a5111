//! The webhooks section of the document: every event type with its request.

use crate::openapi::describe::schema_ref;
use crate::validation::Components;
use host_domain::event::EventType;
use host_resources::flight::booking::FlightBookingResource;
use host_resources::flight::payment::FlightPaymentResource;
use host_resources::hotel::booking::HotelBookingResource;
use host_resources::payment::HotelPaymentResource;
use host_resources::value::{Amount, CurrencyCode, IsoDateTime, MoneyResource};
use host_resources::watch_event::WatchResource;
use serde_json::{Map, Value, json};

/// Kind of data in an event.
enum EventDataKind {
    HotelBooking,
    FlightBooking,
    Payment,
    WatchTriggered,
    TripTriggered,
    WatchPurchased,
    WatchPurchaseFailed,
    Subscription,
}

impl EventDataKind {
    const fn is_of_watch(&self) -> bool {
        use EventDataKind as Kind;
        matches!(
            self,
            Kind::WatchTriggered
                | Kind::TripTriggered
                | Kind::WatchPurchased
                | Kind::WatchPurchaseFailed
        )
    }
}

/// Headers of every webhook request: name, description and pattern.
const HEADERS: [(&str, &str, &str); 6] = [
    (
        "svc-signature",
        "`t`: time of sending, in seconds since 1970; reject requests that differ by more than 300 seconds from your clock. `v1`: HMAC-SHA256 in lowercase hexadecimal over `<t>.<raw body>`, keyed \
         with the whole text of the `whsec_…` secret. For 24 hours after a rotation there are two signatures; it is enough if one of them matches.",
        "^t=[0-9]+(,v1=[0-9a-f]{64}){1,2}$",
    ),
    (
        "svc-event-id",
        "Id of the event. Delivery is at least once, so ignore events that you have already processed.",
        "^evt_[a-zA-Z0-9-]+$",
    ),
    (
        "svc-delivery-id",
        "Id of the delivery, the same for all its attempts and replays.",
        "^dlv_[a-zA-Z0-9-]+$",
    ),
    (
        "webhook-id",
        "Id of the event, for Standard Webhooks libraries.",
        "^evt_[a-zA-Z0-9-]+$",
    ),
    (
        "webhook-timestamp",
        "Time of sending, in seconds since 1970.",
        "^[0-9]+$",
    ),
    (
        "webhook-signature",
        "Standard Webhooks: `v1,` and HMAC-SHA256 in base64 over `<webhook-id>.<webhook-timestamp>.<raw body>`, keyed with the base64-decoded part of the secret after \
         `whsec_`. There is one signature for each valid secret.",
        "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$",
    ),
];

#[rustfmt::skip]
const fn event_summary(event_type: EventType) -> (&'static str, EventDataKind) {
    match event_type {
        EventType::HotelBookingCreated => ("A hotel offer is bound", EventDataKind::HotelBooking),
        EventType::HotelBookingConfirmed => ("A hotel is booked", EventDataKind::HotelBooking),
        EventType::HotelBookingFailed => ("A hotel booking failed", EventDataKind::HotelBooking),
        EventType::HotelBookingExpired => ("A hotel booking was not completed in time", EventDataKind::HotelBooking),
        EventType::HotelBookingCancellationStarted => ("A hotel booking is being cancelled", EventDataKind::HotelBooking),
        EventType::HotelBookingCanceled => ("A hotel booking is cancelled", EventDataKind::HotelBooking),
        EventType::HotelBookingPartiallyCanceled => ("Rooms of a hotel booking are cancelled", EventDataKind::HotelBooking),
        EventType::HotelBookingCancellationRefused => ("The supplier refused to cancel a hotel booking", EventDataKind::HotelBooking),
        EventType::HotelBookingChanged => ("The hotel changed what was booked", EventDataKind::HotelBooking),
        EventType::FlightBookingCreated => ("A fare is bound", EventDataKind::FlightBooking),
        EventType::FlightBookingConfirmed => ("A ticket is issued", EventDataKind::FlightBooking),
        EventType::FlightBookingFailed => ("A flight booking failed", EventDataKind::FlightBooking),
        EventType::FlightBookingExpired => ("A flight booking was not completed in time", EventDataKind::FlightBooking),
        EventType::FlightBookingCancellationStarted => ("A flight booking is being cancelled", EventDataKind::FlightBooking),
        EventType::FlightBookingCanceled => ("A ticket is released", EventDataKind::FlightBooking),
        EventType::FlightBookingCancellationRefused => ("The airline refused to cancel", EventDataKind::FlightBooking),
        EventType::FlightBookingServicesAdded => ("Bags were bought", EventDataKind::FlightBooking),
        EventType::FlightBookingAirlineChange => ("The airline changed what was booked", EventDataKind::FlightBooking),
        EventType::PaymentCaptured => ("A payment was captured", EventDataKind::Payment),
        EventType::PaymentRefunded => ("A payment was refunded", EventDataKind::Payment),
        EventType::PaymentFailed => ("A payment failed", EventDataKind::Payment),
        EventType::HotelWatchTriggered => ("A watched hotel reached the trigger price", EventDataKind::WatchTriggered),
        EventType::TripWatchTriggered => ("Hotels of a watched trip reached the trigger price", EventDataKind::TripTriggered),
        EventType::HotelWatchPurchased => ("A watch made its purchase", EventDataKind::WatchPurchased),
        EventType::HotelWatchPurchaseFailed => ("The purchase of a watch failed", EventDataKind::WatchPurchaseFailed),
        EventType::Ping => ("A subscription is tested", EventDataKind::Subscription),
    }
}

/// Returns the webhooks section: every event type, by name.
pub(super) fn webhooks_section(components: &mut Components) -> Value {
    let all = EventType::ALL.into_iter();
    let all = all.map(|event_type| {
        let item = json!({ "post": webhook(event_type, components) });
        (event_type.as_str().to_owned(), item)
    });
    Value::Object(all.collect())
}

pub(super) fn headers() -> Value {
    let headers = HEADERS.into_iter().map(|(name, meaning, pattern)| {
        let header = json!({
            "name": name, "in": "header", "required": true, "description": meaning,
            "schema": { "type": "string", "pattern": pattern },
        });
        (name.to_owned(), header)
    });
    Value::Object(headers.collect())
}

fn webhook(event_type: EventType, components: &mut Components) -> Value {
    let (summary, about) = event_summary(event_type);
    let name = event_type.as_str();
    let headers = HEADERS.iter();
    let headers =
        headers.map(|(name, ..)| json!({ "$ref": format!("#/components/parameters/{name}") }));
    let mut body = Map::new();
    if matches!(about, EventDataKind::Subscription) {
        body.insert("example".to_owned(), ping_example());
    }
    body.insert(
        "schema".to_owned(),
        event(name, data(&about, components), components),
    );
    json!({
        "operationId": format!("receive_{}", name.replace('.', "_")),
        "summary": summary,
        "description": event_note(&about),
        "tags": ["Webhooks"],
        "security": [{}],
        "parameters": headers.collect::<Vec<_>>(),
        "requestBody": { "required": true, "content": { "application/json": body } },
        "responses": receiver_responses(&about),
    })
}

fn receiver_responses(about: &EventDataKind) -> Value {
    let taken = json!({ "description": "You confirm the event. Only the status matters. The first KiB of the body is stored and shown in the delivery." });
    if about.is_of_watch() {
        return json!({
            "2XX": taken,
            "default": { "description": "Any other status, a redirect, or no response within 10 seconds: the event is sent again after 1, 5 and 30 minutes, 2, 12 and 24 hours; then it is `failed` in the log. `Retry-After` lengthens a delay to at most twice its length." },
        });
    }
    json!({
        "2XX": taken,
        "410": { "description": "You reject all further events: the delivery fails, and the subscription is paused." },
        "default": { "description": "Any other status, a redirect, or no response within 10 seconds: the event is sent again after 1, 5, 30 and 90 minutes; then the delivery fails. `Retry-After` lengthens a delay as long as all attempts still end within 2 hours 15 minutes." },
    })
}

const fn event_note(about: &EventDataKind) -> &'static str {
    match about {
        EventDataKind::HotelBooking => {
            "`data.booking` is the booking at the time of the event. Sent to hotel subscriptions. Events may arrive out of order: compare `updated_at` to find the newer one."
        }
        EventDataKind::FlightBooking => {
            "`data.booking` is the booking at the time of the event. Sent to flight subscriptions. Events may arrive out of order: compare `updated_at` to find the newer one."
        }
        EventDataKind::Payment => {
            "`data.payment` is the payment of the booking at the time of the event. Sent to subscriptions to the booking's product."
        }
        EventDataKind::WatchTriggered
        | EventDataKind::TripTriggered
        | EventDataKind::WatchPurchased
        | EventDataKind::WatchPurchaseFailed => {
            "Sent to the organization's watch webhook, and stored in the watch event log."
        }
        EventDataKind::Subscription => "Sent to one subscription when it is tested.",
    }
}

fn event(name: &str, data: Value, components: &mut Components) -> Value {
    json!({
        "type": "object",
        "required": ["id", "type", "created_at", "data"],
        "properties": {
            "id": { "type": "string", "pattern": "^evt_[a-zA-Z0-9-]+$", "description": "Id of the event, the same for all attempts and replays." },
            "type": { "type": "string", "const": name },
            "created_at": schema_ref::<IsoDateTime>(components),
            "data": data,
        },
    })
}

fn data(about: &EventDataKind, components: &mut Components) -> Value {
    let (required, properties) = match about {
        EventDataKind::HotelBooking => {
            let booking = schema_ref::<HotelBookingResource>(components);
            (vec!["booking"], json!({ "booking": booking }))
        }
        EventDataKind::FlightBooking => {
            let booking = schema_ref::<FlightBookingResource>(components);
            (vec!["booking"], json!({ "booking": booking }))
        }
        EventDataKind::Payment => {
            let of_either = [
                schema_ref::<HotelPaymentResource>(components),
                schema_ref::<FlightPaymentResource>(components),
            ];
            let booking_id = json!({ "type": "string", "pattern": "^bkg_[a-zA-Z0-9-]+$" });
            (
                vec!["payment", "booking_id"],
                json!({ "payment": { "anyOf": of_either }, "booking_id": booking_id }),
            )
        }
        EventDataKind::WatchTriggered => watch_event_data(
            components,
            &["current"],
            |components| json!({ "current": price_schema(components, json!({})) }),
        ),
        EventDataKind::TripTriggered => watch_event_data(components, &["matches"], |components| {
            let hotel = json!({
                "hotel_id": { "type": "string" }, "name": { "type": "string" },
                "guest_rating": { "type": ["number", "null"] }, "star_rating": { "type": ["number", "null"] },
            });
            let hotels = json!({
                "type": "array", "minItems": 1, "maxItems": 3, "items": price_schema(components, hotel),
                "description": "Cheapest first.",
            });
            json!({ "matches": hotels })
        }),
        EventDataKind::WatchPurchased => {
            watch_event_data(components, &["booking", "mandate_id"], |components| {
                let total = json!({
                    "type": "object", "required": ["total_amount"],
                    "properties": { "total_amount": schema_ref::<MoneyResource>(components) },
                });
                let booking =
                    json!({ "allOf": [schema_ref::<HotelBookingResource>(components), total] });
                json!({ "booking": booking, "mandate_id": { "type": "string", "pattern": "^mnd_[a-zA-Z0-9-]+$" } })
            })
        }
        EventDataKind::WatchPurchaseFailed => watch_event_data(
            components,
            &["reason"],
            |components| json!({ "reason": { "type": "string" }, "current": price_schema(components, json!({})) }),
        ),
        EventDataKind::Subscription => {
            let id = json!({ "type": "string", "pattern": "^whs_[a-zA-Z0-9-]+$" });
            (vec!["subscription_id"], json!({ "subscription_id": id }))
        }
    };
    json!({ "type": "object", "required": required, "properties": properties })
}

/// Returns the members of every watch event, and those of this one.
fn watch_event_data(
    components: &mut Components,
    also: &[&'static str],
    more: impl FnOnce(&mut Components) -> Value,
) -> (Vec<&'static str>, Value) {
    let required = [&["watch", "user_id"], also].concat();
    let mut properties = json!({ "watch": schema_ref::<WatchResource>(components), "user_id": { "type": "string" } });
    merge_members(&mut properties, more(components));
    (required, properties)
}

/// Returns the schema of an observed price, which is advisory, with the additional members `more`.
fn price_schema(components: &mut Components, more: Value) -> Value {
    let mut properties = json!({
        "total": schema_ref::<Amount>(components), "currency": schema_ref::<CurrencyCode>(components),
        "room_type": { "type": "string" }, "board": { "type": "string" }, "refundable": { "type": "boolean" },
    });
    merge_members(&mut properties, more);
    let members = properties.as_object().into_iter().flatten();
    let required: Vec<&String> = members.map(|(name, _)| name).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

fn merge_members(members: &mut Value, more: Value) {
    if let (Value::Object(members), Value::Object(mut more)) = (members, more) {
        members.append(&mut more);
    }
}

fn ping_example() -> Value {
    json!({
        "id": "evt_01976f3e4a5b7c8d9e0f112233445566", "type": EventType::Ping.as_str(),
        "created_at": "2026-11-21T10:00:00.000Z",
        "data": { "subscription_id": "whs_01976f3e4a5b7c8d9e0f112233445566" },
    })
}
