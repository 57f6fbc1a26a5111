//! Payloads of booking events.

use crate::hotel::booking;
use crate::value::IsoDateTime;
use crate::{flight, payment};
use host_domain::booking::{Booking, BookingKind, Notification};
use host_domain::id::EventId;
use host_domain::payment::Payment;
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

impl<T: Serialize> EventEnvelope<'_, T> {
    /// Resources contain only text, numbers and lists, so serialization cannot fail.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
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
    booking_event_payload(
        id,
        notice,
        booking,
        booking::full_booking,
        payment::payment_with_cards,
    )
}

/// Returns the complete body of a flight event, in the form of [`hotel_event_payload`].
pub fn flight_event_payload(
    id: &EventId,
    notice: &Notification,
    booking: &host_domain::flight::FlightBooking,
) -> String {
    let payment_resource = flight::payment::payment_with_method;
    booking_event_payload(
        id,
        notice,
        booking,
        flight::booking::full_booking,
        payment_resource,
    )
}

fn booking_event_payload<K: BookingKind, B: Serialize, P: Serialize>(
    id: &EventId,
    notice: &Notification,
    booking: &Booking<K>,
    booking_resource: impl Fn(&Booking<K>) -> B,
    payment_resource: impl Fn(&Payment) -> P,
) -> String {
    let mut payments = booking.payments.iter();
    let data = match payments.find(|payment| notice.payment.as_ref() == Some(&payment.id)) {
        Some(payment) => BookingEventData::Payment {
            payment: payment_resource(payment),
            booking_id: booking.id.as_str(),
        },
        None => BookingEventData::Booking {
            booking: booking_resource(booking),
        },
    };
    EventEnvelope {
        id: id.as_str(),
        event_type: notice.event_type.as_str(),
        created_at: booking.updated_at.into(),
        data,
    }
    .to_json()
}
