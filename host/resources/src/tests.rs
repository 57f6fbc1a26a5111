//! Tests of the JSON shape of hotel resources in responses and events.

use crate::hotel::policy::CancellationQuoteResource;
use crate::hotel::{booking, weather};
use host_domain::booking::{Booking, BookingKind, BookingState, Failure, PaymentCollector};
use host_domain::hotel::booking::{
    CancelableState, CancellationStatus, HotelBookedState, HotelBooking, HotelBookingDetails,
    HotelCancellation, Room,
};
use host_domain::hotel::content::{WeatherCondition, WeatherDay};
use host_domain::hotel::quote::{self, HotelQuoteSource};
use host_domain::hotel::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Loyalty, Occupancy,
    Penalty, Promotion, Restriction, Stay,
};
use host_domain::id::{
    BookingId, CancellationId, GuestId, HotelId, InstrumentId, PaymentId, RefundId, RoomId,
};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::{
    Card, CardBrand, Funding, Payment, PaymentMethod, PaymentState, Refund,
};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) const NOW: Timestamp = Timestamp(1_795_255_200_000);

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn room(bits: u128) -> Room {
    Room {
        id: RoomId::from_bits(bits),
        name: "Double room".to_owned(),
        board: Board::BedAndBreakfast,
        board_name: "Breakfast".to_owned(),
        adults: 1,
        children: vec![7],
        total: euros(13_025),
        due_at_property: Some(euros(150)),
        policy: None,
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: vec![(
            GuestId::from_bits(bits),
            Guest {
                first_name: "Ada".to_owned(),
                last_name: "Lovelace".to_owned(),
                guest_type: GuestType::Adult,
                is_lead: true,
                age: None,
            },
        )],
    }
}

/// Builds a captured, partly refunded payment with a card.
pub(crate) fn payment() -> Payment {
    Payment {
        id: PaymentId::from_bits(3),
        amount: euros(26_050),
        method: PaymentMethod::Instrument {
            id: InstrumentId::from_bits(4),
        },
        processor: SupplierId::parse("PAYMENTS").unwrap(),
        processor_reference: Some("pi_secret".to_owned()),
        card: Some(Card {
            brand: CardBrand::Visa,
            last4: "4242".to_owned(),
            funding: Funding::Credit,
            wallet: None,
            expires: Some("2030-12".to_owned()),
        }),
        state: PaymentState::Captured,
        refunds: vec![Refund {
            id: RefundId::from_bits(5),
            amount: euros(50),
            call: None,
        }],
        decline_reason: None,
        created_at: NOW,
    }
}

/// Builds a paid, partly refunded booking of two rooms in which every optional field is set.
fn booked() -> HotelBooking {
    let details = HotelBookingDetails {
        hotel_id: HotelId::from_bits(2),
        hotel: HotelSummary {
            supplier_hotel_id: "MANY".to_owned(),
            name: "Grand".to_owned(),
            address: "1 Main Street".to_owned(),
            location: None,
            time_zone: None,
        },
        stay: Stay {
            check_in: "2026-12-01".parse().unwrap(),
            check_out: "2026-12-03".parse().unwrap(),
            occupancies: vec![
                Occupancy {
                    adults: 1,
                    children: vec![7]
                };
                2
            ],
            guest_nationality: "GB".to_owned(),
            guest_residence: None,
            currency: Currency::parse("EUR").unwrap(),
        },
        contact: Contact {
            first_name: "Ada".to_owned(),
            last_name: "Lovelace".to_owned(),
            email: "ada@example.com".to_owned(),
            phone: "+442079460000".to_owned(),
        },
        rooms: vec![room(10), room(11)],
        total: euros(26_050),
        policy: Some(CancellationPolicy {
            refundable: true,
            free_until: Some(NOW),
            penalties: vec![Penalty {
                from: NOW,
                amount: euros(26_050),
            }],
            restrictions: vec![Restriction {
                code: "NO_CANCELLATION".to_owned(),
                description: "Fair days".to_owned(),
                active_from: None,
                active_until: Some(NOW),
            }],
        }),
        promotions: vec![Promotion {
            name: "Early bird".to_owned(),
            description: None,
            amount: Some(euros(1_000)),
            room_positions: vec![1],
        }],
        loyalty: Some(Loyalty {
            program: "Points".to_owned(),
            membership_number: Some("AB1234567".to_owned()),
            points_estimate: None,
        }),
        hotel_confirmation_code: Some("H-1".to_owned()),
        hotel_remarks: None,
        cancellations: Vec::new(),
    };
    HotelBooking {
        supplier: SupplierId::parse("SANDBOX_HOTELS").unwrap(),
        supplier_reference: Some("S-1".to_owned()),
        state: BookingState::Booked(HotelBookedState::Confirmed { refresh: None }),
        payments: vec![payment()],
        confirmed_at: Some(NOW),
        ..prebooked(details)
    }
}

/// Builds a booking that can be completed.
pub(crate) fn prebooked<K: BookingKind>(details: K) -> Booking<K> {
    Booking {
        id: BookingId::from_bits(1),
        owner: Owner {
            tenant: Tenant {
                organization: "acme".to_owned(),
                mode: Mode::Test,
            },
            user: "u-1".to_owned(),
        },
        version: 3,
        supplier: SupplierId::parse("SUPPLIER_A").unwrap(),
        reference_id: None,
        supplier_offer: "offer_secret".to_owned(),
        supplier_prebook: Some("prebook_secret".to_owned()),
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: NOW,
        state: BookingState::ReadyForComplete,
        payments: Vec::new(),
        failure: None,
        created_at: NOW,
        updated_at: NOW.plus_ms(1),
        confirmed_at: None,
        canceled_at: None,
        details,
    }
}

pub(crate) fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn booking_has_public_values_and_no_internal_ones() {
    let shown = json_of(&booking::full(&booked()));
    let text = shown.to_string();
    for internal in ["secret", "acme", "u-1", "SANDBOX", "AB1234567"] {
        assert!(!text.contains(internal), "{internal} in {text}");
    }
    assert_eq!(shown["status"], "CONFIRMED");
    assert_eq!(shown["total"], json!({"amount": 260.5, "currency": "EUR"}));
    assert_eq!(
        shown["due_at_property"],
        json!({"amount": 3, "currency": "EUR"})
    );
    assert_eq!(
        shown["hotel"],
        json!({"id": booked().details.hotel_id.as_str(), "name": "Grand", "address": "1 Main Street"})
    );
    assert_eq!(shown["updated_at"], "2026-11-21T10:00:00.001Z");
    assert_eq!(
        shown["loyalty"],
        json!({"program": "Points", "membership_number": "*****4567", "points_estimate": null})
    );
}

#[test]
fn room_contains_its_own_promotions_and_guests() {
    let shown = json_of(&booking::full(&booked()));
    assert_eq!(shown["rooms"][0]["promotions"], Value::Null);
    assert_eq!(
        shown["rooms"][1],
        json!({
            "id": RoomId::from_bits(11).as_str(),
            "position": 1,
            "name": "Double room",
            "board": "BED_AND_BREAKFAST",
            "board_name": "Breakfast",
            "adults": 1,
            "children": [{"age": 7}],
            "total": {"amount": 130.25, "currency": "EUR"},
            "due_at_property": {"amount": 1.5, "currency": "EUR"},
            "cancellation_policy": null,
            "promotions": [{
                "name": "Early bird",
                "description": null,
                "amount": {"amount": 10, "currency": "EUR"},
                "room_positions": [1],
            }],
            "supplier_reference_number": null,
            "hotel_confirmation_code": null,
            "canceled_at": null,
            "guests": [{
                "id": GuestId::from_bits(11).as_str(),
                "first_name": "Ada",
                "last_name": "Lovelace",
                "type": "ADULT",
                "is_lead": true,
            }],
        })
    );
}

#[test]
fn cards_appear_only_in_full_booking() {
    let plain = json!({
        "id": PaymentId::from_bits(3).as_str(),
        "status": "PARTIALLY_REFUNDED",
        "amount": {"amount": 260.5, "currency": "EUR"},
        "created_at": "2026-11-21T10:00:00.000Z",
    });
    assert_eq!(
        json_of(&booking::summary(&booked()))["payments"],
        json!([plain])
    );
    assert_eq!(
        json_of(&booking::without_cards(&booked()))["payments"],
        json!([plain])
    );
    let cards = &json_of(&booking::full(&booked()))["payments"][0]["cards"];
    assert_eq!(
        *cards,
        json!([{"brand": "VISA", "last4": "4242", "funding": "CREDIT", "wallet": null}])
    );
}

#[test]
fn policy_lists_penalties_and_times() {
    assert_eq!(
        json_of(&booking::full(&booked()))["cancellation_policy"],
        json!({
            "version": 1,
            "refundable": true,
            "deadline": "2026-11-21T10:00:00.000Z",
            "penalties": [{
                "from": "2026-11-21T10:00:00.000Z",
                "type": "AMOUNT",
                "amount": {"amount": 260.5, "currency": "EUR"},
            }],
            "restrictions": [{
                "code": "NO_CANCELLATION",
                "description": "Fair days",
                "active_from": null,
                "active_until": "2026-11-21T10:00:00.000Z",
            }],
        })
    );
}

#[test]
fn refused_cancellation_appears_in_booking_with_failure() {
    let failure = Failure {
        code: "cancel_refused".to_owned(),
        description: "No.".to_owned(),
    };
    let booking = HotelBooking {
        state: BookingState::Booked(HotelBookedState::CancelInProgress {
            previous: CancelableState::Confirmed,
            cancellation: CancellationId::from_bits(6),
            cancel: RemoteCall::pending(NOW),
        }),
        failure: Some(failure.clone()),
        details: HotelBookingDetails {
            cancellations: vec![HotelCancellation {
                id: CancellationId::from_bits(6),
                status: CancellationStatus::Refused,
                room_ids: vec![RoomId::from_bits(10)],
                is_partial: true,
                is_supplier_initiated: false,
                fee: None,
                refund_amount: Some(euros(0)),
                supplier_reference: None,
                created_at: NOW,
                completed_at: None,
                failure: Some(failure.clone()),
            }],
            ..booked().details
        },
        ..booked()
    };
    let shown = json_of(&booking::without_cards(&booking));
    let failure = json!({"code": "cancel_refused", "description": "No."});
    assert_eq!(shown["status"], "CANCEL_IN_PROGRESS");
    assert_eq!(shown["failure"], failure);
    assert_eq!(
        shown["cancellations"],
        json!([{
            "id": CancellationId::from_bits(6).as_str(),
            "status": "REFUSED",
            "room_ids": [RoomId::from_bits(10).as_str()],
            "fee": null,
            "refund_amount": {"amount": 0, "currency": "EUR"},
            "supplier_reference": null,
            "created_at": "2026-11-21T10:00:00.000Z",
            "completed_at": null,
            "failure": failure,
        }])
    );
}

#[test]
fn quote_without_amounts_is_unavailable() {
    let quote = quote::HotelCancellationQuote {
        source: HotelQuoteSource::PolicyEstimate,
        checked_at: NOW,
        amounts: None,
        free_until: None,
        restrictions: Vec::new(),
    };
    assert_eq!(
        json_of(&CancellationQuoteResource::from(&quote)),
        json!({
            "available": false,
            "source": "POLICY_ESTIMATE",
            "checked_at": "2026-11-21T10:00:00.000Z",
            "fee": null,
            "refund": null,
            "free_until": null,
            "restrictions": [],
        })
    );
    let known = quote::HotelCancellationQuote {
        source: HotelQuoteSource::SupplierQuote,
        amounts: Some((euros(2_500), euros(23_550))),
        ..quote
    };
    let shown = json_of(&CancellationQuoteResource::from(&known));
    assert_eq!(
        (&shown["available"], &shown["source"]),
        (&json!(true), &json!("SUPPLIER_QUOTE"))
    );
    assert_eq!(
        (&shown["fee"]["amount"], &shown["refund"]["amount"]),
        (&json!(25), &json!(235.5))
    );
}

#[test]
fn unknown_weather_values_are_absent() {
    let day = WeatherDay {
        date: "2026-12-01".parse().unwrap(),
        temperature_min: Some(-1.5),
        temperature_max: None,
        summary: None,
        conditions: vec![WeatherCondition {
            description: "Snow".to_owned(),
            icon: None,
        }],
        humidity_percent: None,
        afternoon_humidity_percent: None,
        wind_speed_mps: None,
        maximum_wind_speed_mps: None,
        precipitation_probability: None,
        precipitation_total_mm: None,
    };
    assert_eq!(
        json_of(&weather::stay_weather(&booked(), vec![day])),
        json!({
            "booking_id": BookingId::from_bits(1).as_str(),
            "hotel_id": HotelId::from_bits(2).as_str(),
            "start_date": "2026-12-01",
            "end_date": "2026-12-03",
            "units": "metric",
            "days": [{"date": "2026-12-01", "temperature_min": -1.5, "conditions": [{"description": "Snow"}]}],
        })
    );
}
