//! Tests of the JSON shape of flight bookings in responses and events.

mod fixture;

use crate::event::flight_event_payload;
use crate::flight::booking;
use crate::flight::cancellation::FlightCancellationQuoteResource;
use crate::tests::{NOW, json_of};
use fixture::*;
use host_domain::booking::{BookingState, Notification};
use host_domain::event::EventType;
use host_domain::flight::booking::BookedChange;
use host_domain::flight::quote::{
    FlightCancellationQuote, FlightQuoteSource, QuoteUnavailableReason,
};
use host_domain::flight::{AirlineChange, ChangeType};
use host_domain::id::{
    AirlineChangeId, BookingId, EventId, JourneyId, PassengerId, PaymentId, SegmentId,
};
use serde_json::{Value, json};

#[test]
fn booking_contains_no_internal_or_secret_values() {
    let text = json_of(&booking::full(&canceled())).to_string();
    for internal in [
        "secret",
        "acme",
        "u-1",
        "1990-12-10",
        "ada@example.com",
        "2030-12",
    ] {
        assert!(!text.contains(internal), "{internal} in {text}");
    }
}

#[test]
fn amounts_cover_ticket_and_services_and_are_null_until_known() {
    let money = |amount: i64| json!({"amount": amount, "currency": "GBP"});
    let shown = json_of(&booking::full(&ticketed()));
    assert_eq!(shown["total_amount"], money(540));
    assert_eq!(shown["fare_amount"], money(300));
    assert_eq!(shown["fare_tax_amount"], Value::Null);
    assert_eq!(shown["services_amount"], money(120));
    let mut unbound = bound();
    unbound.state = BookingState::Created;
    unbound.details.ticket_total = None;
    let shown = json_of(&booking::full(&unbound));
    assert_eq!(shown["total_amount"], Value::Null);
    assert_eq!(shown["services_amount"], money(0));
    assert_eq!(shown.get("expires_at"), None);
}

#[test]
fn terms_passengers_and_journeys_have_public_shape() {
    let shown = json_of(&booking::full(&bound()));
    let penalty = json!({"amount": 50, "currency": "GBP"});
    assert_eq!(
        shown["cancellation_policy"],
        json!({"refundable": true, "penalty": penalty})
    );
    assert_eq!(
        shown["fare_conditions"],
        json!({
            "refund": {"allowed": true, "penalty": penalty},
            "change": {"allowed": null, "penalty": null},
        })
    );
    assert_eq!(
        shown["passengers"],
        json!([{
            "id": PassengerId::from_bits(2).as_str(),
            "first_name": "Ada",
            "last_name": "Lovelace",
            "loyalty_accounts": [{"airline_iata_code": "ZZ", "membership_number": "***10"}],
        }])
    );
    assert_eq!(
        shown["journeys"],
        json!([{
            "id": JourneyId::from_bits(3).as_str(),
            "origin": "LHR",
            "destination": "JFK",
            "direction": "MULTI_CITY",
            "fare_brand": "Flex",
            "departure_time": "2026-12-01T10:25:00",
            "arrival_time": "2026-12-01T13:35:00",
            "duration_minutes": null,
            "stops": 0,
            "segments": [{
                "id": SegmentId::from_bits(4).as_str(),
                "origin": "LHR",
                "destination": "JFK",
                "departure_time": "2026-12-01T10:25:00",
                "arrival_time": "2026-12-01T13:35:00",
                "marketing_flight": "BA117",
                "marketing_carrier": "British Airways",
                "marketing_carrier_logo_url": null,
                "operating_carrier": null,
                "operating_carrier_logo_url": null,
                "duration_minutes": 490,
                // The supplier also reports a passenger who is not part of the booking.
                "passengers": [{
                    "passenger_id": PassengerId::from_bits(2).as_str(),
                    "cabin_class": "PREMIUM_ECONOMY",
                    "cabin_name": "World Traveller Plus",
                    "checked_bags": 1,
                    "carry_on_bags": null,
                }],
            }],
        }])
    );
}

#[test]
fn airline_change_contains_removed_and_added_segments() {
    let mut booking = ticketed();
    booking.details.changes = vec![BookedChange {
        id: AirlineChangeId::from_bits(10),
        change: AirlineChange {
            supplier_change_id: "aic_secret".to_owned(),
            detected_at: NOW,
            change_type: ChangeType::ScheduleChange,
            action_required: true,
            removed_segments: vec![segment()],
            added_segments: Vec::new(),
            expires_at: None,
            accepted_at: None,
        },
    }];
    let shown = json_of(&booking::full(&booking));
    // A segment of the booking has an id and passengers too.
    let mut removed = shown["journeys"][0]["segments"][0].clone();
    let members = removed.as_object_mut().unwrap();
    members.retain(|name, _| !["id", "passengers"].contains(&name.as_str()));
    assert_eq!(
        shown["airline_initiated_changes"],
        json!([{
            "id": AirlineChangeId::from_bits(10).as_str(),
            "detected_at": NOW_TEXT,
            "type": "SCHEDULE_CHANGE",
            "action_required": true,
            "removed_segments": [removed],
            "added_segments": [],
            "expires_at": null,
            "accepted_at": null,
        }])
    );
}

#[test]
fn quote_without_amounts_names_the_reason() {
    for (reason, name) in [
        (QuoteUnavailableReason::TermsUnknown, "terms_unknown"),
        (
            QuoteUnavailableReason::PenaltyInOtherCurrency,
            "penalty_in_other_currency",
        ),
        (
            QuoteUnavailableReason::QuoteInOtherCurrency,
            "quote_in_other_currency",
        ),
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
                "checked_at": NOW_TEXT,
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
        let payload = flight_event_payload(&EventId::from_bits(9), &notice, &ticketed());
        serde_json::from_str(&payload).unwrap()
    };
    let shown = json_of(&booking::full(&ticketed()));
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
