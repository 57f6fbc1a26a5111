//! Domain to JSON: the resources of the API, made in one place, so that an
//! answer and an event show the same thing in the same form. Reads nothing and
//! decides nothing.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod cancellation;
pub(crate) mod content;
pub(crate) mod offer;
pub(crate) mod payment;
pub(crate) mod place;
pub(crate) mod policy;
pub(crate) mod room;
pub(crate) mod search;
pub(crate) mod weather;

#[cfg(test)]
mod tests;

use crate::api::value::Instant;
use host_domain::hotel::booking::{Booking, Notice};
use host_domain::id::EventId;
use serde::Serialize;

/// What every event is wrapped in.
#[derive(Serialize)]
struct Event<'a, T> {
    id: &'a str,
    #[serde(rename = "type")]
    event_type: &'static str,
    created_at: Instant,
    data: T,
}

#[derive(Serialize)]
struct BookingData {
    booking: booking::HotelBooking,
}

#[derive(Serialize)]
struct PaymentData<'a> {
    payment: payment::HotelPayment,
    booking_id: &'a str,
}

/// The whole body of an event: `{id, type, created_at, data}`. `data` holds the
/// booking, or the payment and the booking's id, as they were at the event.
pub(crate) fn event_payload(id: &EventId, notice: &Notice, booking: &Booking) -> String {
    let told = notice.payment.as_ref().and_then(|id| booking.payment(id));
    match told {
        Some(told) => envelope(
            id,
            notice,
            booking,
            PaymentData {
                payment: payment::with_cards(told),
                booking_id: booking.id.as_str(),
            },
        ),
        None => envelope(
            id,
            notice,
            booking,
            BookingData {
                booking: booking::whole(booking),
            },
        ),
    }
}

fn envelope<T: Serialize>(id: &EventId, notice: &Notice, booking: &Booking, data: T) -> String {
    let event = Event {
        id: id.as_str(),
        event_type: notice.event_type.as_str(),
        created_at: booking.updated_at.into(),
        data,
    };
    // Resources hold text, numbers and lists only: they always have a JSON form.
    serde_json::to_string(&event).unwrap_or_default()
}
