//! Payloads of booking events.

use crate::hotel::booking;
use crate::value::IsoDateTime;
use crate::{flight, payment};
use host_domain::booking::Notification;
use host_domain::id::EventId;
use host_domain::payment::Payment;
use host_domain::time::Timestamp;
use serde::Serialize;

/// The envelope of every event.
#[derive(Serialize)]
pub(crate) struct EventEnvelope<'a, T> {
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) event_type: &'static str,
    pub(crate) created_at: IsoDateTime,
    pub(crate) data: T,
}

/// The data of an event: a booking, or a payment with its booking's id.
#[derive(Serialize)]
#[serde(untagged)]
enum BookingEventData<'a, B, P> {
    Booking { booking: B },
    Payment { payment: P, booking_id: &'a str },
}

/// Returns the complete body of a hotel event: `{id, type, created_at, data}`. `data` holds the
/// booking, or the payment and the booking's id, as they were at the time of the event.
pub fn hotel_event_payload(
    id: &EventId,
    notice: &Notification,
    booking: &host_domain::hotel::HotelBooking,
) -> String {
    let about = match notified_payment(notice, &booking.payments) {
        Some(told) => BookingEventData::Payment {
            payment: payment::with_cards(told),
            booking_id: booking.id.as_str(),
        },
        None => BookingEventData::Booking {
            booking: booking::full(booking),
        },
    };
    event_json(id, notice, booking.updated_at, about)
}

/// Returns the complete body of a flight event, in the form of [`hotel_event_payload`].
pub fn flight_event_payload(
    id: &EventId,
    notice: &Notification,
    booking: &host_domain::flight::FlightBooking,
) -> String {
    let about = match notified_payment(notice, &booking.payments) {
        Some(told) => BookingEventData::Payment {
            payment: flight::payment::with_method(told),
            booking_id: booking.id.as_str(),
        },
        None => BookingEventData::Booking {
            booking: flight::booking::full(booking),
        },
    };
    event_json(id, notice, booking.updated_at, about)
}

/// Returns the payment that the notification is about, if it is about one.
fn notified_payment<'a>(notice: &Notification, payments: &'a [Payment]) -> Option<&'a Payment> {
    let id = notice.payment.as_ref()?;
    payments.iter().find(|payment| payment.id == *id)
}

fn event_json(id: &EventId, notice: &Notification, at: Timestamp, data: impl Serialize) -> String {
    let event = EventEnvelope {
        id: id.as_str(),
        event_type: notice.event_type.as_str(),
        created_at: at.into(),
        data,
    };
    // Resources contain only text, numbers and lists, so serialization cannot fail.
    serde_json::to_string(&event).unwrap_or_default()
}
