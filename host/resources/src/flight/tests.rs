//! Tests of the JSON shape of flight bookings in responses and events.

mod fixture;

use crate::event::flight_event_payload;
use crate::flight::booking;
use crate::flight::cancellation::FlightCancellationQuoteResource;
use crate::tests::{NOW, json_of};
use fixture::canceled;
use host_domain::booking::Notification;
use host_domain::event::EventType;
use host_domain::flight::quote::{
    FlightCancellationQuote, FlightQuoteSource, QuoteUnavailableReason,
};
use host_domain::id::{BookingId, EventId, PaymentId};
use serde_json::{Value, json};

/// The supplier also reports a passenger who is not part of the booking.
#[test]
fn booking_has_public_values_and_no_internal_ones() {
    insta::assert_json_snapshot!("flight_booking", booking::full_booking(&canceled()));
}

#[test]
fn quote_without_amounts_names_the_reason() {
    use QuoteUnavailableReason as Reason;
    for (reason, name) in [
        (Reason::TermsUnknown, "terms_unknown"),
        (Reason::PenaltyInOtherCurrency, "penalty_in_other_currency"),
        (Reason::QuoteInOtherCurrency, "quote_in_other_currency"),
    ] {
        let unknown = FlightCancellationQuote {
            source: FlightQuoteSource::FareEstimate,
            checked_at: NOW,
            expires_at: None,
            amounts: Err(reason),
            refund_to: Vec::new(),
        };
        assert_eq!(
            json_of(&FlightCancellationQuoteResource::from(&unknown)),
            json!({
                "source": "FARE_ESTIMATE",
                "checked_at": "2026-11-21T10:00:00.000Z",
                "expires_at": null,
                "refund_to": [],
                "unavailable_reason": name,
            })
        );
    }
}

#[test]
fn events_contain_booking_in_form_of_single_read_or_payment() {
    let payload = |event_type, payment| -> Value {
        let notice = Notification {
            event_type,
            payment,
        };
        let payload = flight_event_payload(&EventId::from_bits(9), &notice, &canceled());
        serde_json::from_str(&payload).unwrap()
    };
    let shown = json_of(&booking::full_booking(&canceled()));
    assert_eq!(
        payload(EventType::FlightBookingConfirmed, None),
        json!({
            "id": EventId::from_bits(9).as_str(),
            "type": "flight.booking.confirmed",
            "created_at": "2026-11-21T10:00:00.001Z",
            "data": {"booking": shown},
        })
    );
    let captured = payload(EventType::PaymentCaptured, Some(PaymentId::from_bits(6)));
    assert_eq!(captured["type"], "payment.captured");
    assert_eq!(
        captured["data"],
        json!({"payment": shown["payments"][1], "booking_id": BookingId::from_bits(1).as_str()})
    );
}
