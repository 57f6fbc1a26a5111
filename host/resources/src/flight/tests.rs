//! Tests of the JSON shape of flight bookings in responses and events.

pub(super) mod fixture;

use crate::event::flight_event_payload;
use crate::flight::booking;
use crate::flight::cancellation::FlightCancellationQuoteResource;
use crate::flight::service;
use fixture::*;
use host_domain::booking::{BookingState, Failure, Notification};
use host_domain::event::EventType;
use host_domain::flight::booking::{BookedChange, FlightBooking, FlightBookingDetails};
use host_domain::flight::quote::{
    FlightCancellationQuote, FlightQuoteSource, QuoteUnavailableReason,
};
use host_domain::flight::supplier_api::{AvailableService, ServiceType};
use host_domain::flight::{AirlineChange, ChangeType};
use host_domain::id::{
    AirlineChangeId, BookingId, EventId, JourneyId, PassengerId, PaymentId, SegmentId, ServiceId,
};
use host_domain::payment::PaymentMethod;
use serde::Serialize;
use serde_json::{Value, json};

fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn names(object: &Value) -> Vec<&str> {
    let names = object.as_object().unwrap().keys();
    names.map(String::as_str).collect()
}

/// Fields that are present in every state.
const ALWAYS: [&str; 20] = [
    "id",
    "reference_id",
    "supplier",
    "status",
    "total_amount",
    "fare_amount",
    "fare_tax_amount",
    "services_amount",
    "services",
    "payments",
    "cancellation_policy",
    "fare_conditions",
    "passengers",
    "journeys",
    "supplier_reference",
    "confirmed_at",
    "canceled_at",
    "airline_initiated_changes",
    "created_at",
    "updated_at",
];

#[test]
fn booking_contains_only_fields_of_its_state() {
    let unbound = FlightBooking {
        state: BookingState::Created,
        details: FlightBookingDetails {
            ticket_total: None,
            fare: None,
            journeys: Vec::new(),
            ..bound().details
        },
        ..bound()
    };
    let failed = FlightBooking {
        state: BookingState::Failed,
        failure: Some(Failure::new("book_failed", "No.")),
        ..bound()
    };
    for (booking, status, sometimes) in [
        (unbound, "CREATED", vec![]),
        (bound(), "READY_FOR_COMPLETE", vec!["expires_at"]),
        (ticketed(), "CONFIRMED", vec!["airline_pnr"]),
        (canceled(), "CANCELED", vec!["airline_pnr", "cancellation"]),
        (failed, "FAILED", vec!["failure"]),
    ] {
        let shown = json_of(&booking::full(&booking));
        let mut fields = names(&shown);
        let mut promised = [ALWAYS.to_vec(), sometimes].concat();
        fields.sort_unstable();
        promised.sort_unstable();
        assert_eq!((&shown["status"], fields), (&json!(status), promised));
    }
}

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
    let unbound = FlightBooking {
        details: FlightBookingDetails {
            ticket_total: None,
            ..bound().details
        },
        ..bound()
    };
    let shown = json_of(&booking::full(&unbound));
    assert_eq!(shown["total_amount"], Value::Null);
    assert_eq!(shown["services_amount"], money(0));
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
fn payment_method_appears_in_single_booking_but_not_in_lists() {
    let plain = |collected_by: &str| {
        json!({
            "id": PaymentId::from_bits(5).as_str(),
            "status": "CAPTURED",
            "amount": {"amount": 420, "currency": "GBP"},
            "collected_by": collected_by,
            "created_at": NOW_TEXT,
        })
    };
    let booking = FlightBooking {
        payments: vec![payment(5, 42_000, PaymentMethod::Sdk)],
        ..ticketed()
    };
    let listed = json_of(&booking::without_payment_methods(&booking));
    assert_eq!(listed["payments"], json!([plain("SERVICE")]));
    let mut with_method = plain("SERVICE");
    with_method["payment_method"] = json!({
        "type": "CARD",
        "card": {"brand": "AMEX", "last4": "0005", "funding": "CREDIT", "wallet": null},
    });
    let whole = json_of(&booking::full(&booking));
    assert_eq!(whole["payments"], json!([with_method]));
    let at_checkout = FlightBooking {
        payments: vec![payment(5, 42_000, PaymentMethod::Supplier)],
        ..booking
    };
    let whole = json_of(&booking::full(&at_checkout));
    assert_eq!(whole["payments"], json!([plain("SUPPLIER")]));
}

#[test]
fn bag_names_its_passenger_and_segments() {
    let baggage = json!({"type": "CHECKED", "max_weight_kg": 23});
    let unit = json!({"amount": 60, "currency": "GBP"});
    let shown = json_of(&booking::full(&ticketed()));
    assert_eq!(
        shown["services"],
        json!([{
            "id": ServiceId::from_bits(7).as_str(),
            "status": "CONFIRMED",
            "passenger_id": PassengerId::from_bits(2).as_str(),
            "segment_ids": [SegmentId::from_bits(4).as_str()],
            "quantity": 2,
            "unit_amount": unit,
            "total_amount": {"amount": 120, "currency": "GBP"},
            "payment_id": PaymentId::from_bits(6).as_str(),
            "type": "BAGGAGE",
            "baggage": baggage,
        }])
    );
    let sold = AvailableService {
        supplier_service_id: "ase_secret".to_owned(),
        service_type: ServiceType::Baggage,
        passenger: 0,
        supplier_segment_ids: vec!["seg_secret".to_owned()],
        baggage: bag().baggage,
        unit_amount: pounds(6_000),
        max_quantity: 3,
    };
    let segments = [SegmentId::from_bits(4)];
    let offered = service::available_service(
        &ServiceId::from_bits(9),
        &PassengerId::from_bits(2),
        &segments,
        &sold,
    );
    assert_eq!(
        json_of(&offered),
        json!({
            "id": ServiceId::from_bits(9).as_str(),
            "type": "BAGGAGE",
            "passenger_id": PassengerId::from_bits(2).as_str(),
            "segment_ids": [SegmentId::from_bits(4).as_str()],
            "baggage": baggage,
            "unit_amount": unit,
            "max_quantity": 3,
        })
    );
}

#[test]
fn cancellation_contains_fee_and_refund_targets() {
    let shown = json_of(&booking::full(&canceled()));
    assert_eq!(
        shown["cancellation"],
        json!({
            "fee": {"amount": 50, "currency": "GBP"},
            "refunded_by": "SERVICE",
            "refund_amount": {"amount": 370, "currency": "GBP"},
            "refund_to": [{"payment_id": PaymentId::from_bits(5).as_str()}],
        })
    );
}

#[test]
fn airline_change_contains_removed_and_added_segments() {
    let booking = FlightBooking {
        details: FlightBookingDetails {
            changes: vec![BookedChange {
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
            }],
            ..ticketed().details
        },
        ..ticketed()
    };
    let shown = json_of(&booking::full(&booking));
    assert_eq!(
        shown["airline_initiated_changes"],
        json!([{
            "id": AirlineChangeId::from_bits(10).as_str(),
            "detected_at": NOW_TEXT,
            "type": "SCHEDULE_CHANGE",
            "action_required": true,
            "removed_segments": [{
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
            }],
            "added_segments": [],
            "expires_at": null,
            "accepted_at": null,
        }])
    );
}

#[test]
fn quote_contains_amounts_or_unavailable_reason() {
    let quote = FlightCancellationQuote {
        source: FlightQuoteSource::SupplierQuote,
        checked_at: NOW,
        expires_at: Some(NOW),
        amounts: Ok((pounds(5_000), pounds(37_000))),
        refund_to: vec![(PaymentId::from_bits(5), pounds(37_000))],
    };
    let refund = json!({"amount": 370, "currency": "GBP"});
    assert_eq!(
        json_of(&FlightCancellationQuoteResource::from(&quote)),
        json!({
            "source": "SUPPLIER_QUOTE",
            "checked_at": NOW_TEXT,
            "expires_at": NOW_TEXT,
            "fee": {"amount": 50, "currency": "GBP"},
            "refund": refund,
            "refund_to": [{"payment_id": PaymentId::from_bits(5).as_str(), "amount": refund}],
            "unavailable_reason": null,
        })
    );
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
