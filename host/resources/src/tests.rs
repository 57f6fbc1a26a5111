//! Tests of the JSON shape of hotel resources in responses and events.

use crate::hotel::policy::CancellationQuoteResource;
use crate::hotel::{booking, weather};
use host_domain::booking::{Booking, BookingKind, BookingState, Failure, PaymentCollector};
use host_domain::hotel::booking::{
    CancellationStatus, HotelBookedState, HotelBooking, HotelBookingDetails, HotelCancellation,
    Room,
};
use host_domain::hotel::content::{WeatherCondition, WeatherDay};
use host_domain::hotel::quote::{self, HotelQuoteSource};
use host_domain::hotel::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Loyalty, Occupancy,
    PaymentPoint, Penalty, Promotion, RefundType, Restriction, RoomDetails, RoomPerk, RoomTax,
    Stay,
};
use host_domain::id::{
    BookingId, CancellationId, GuestId, HotelId, InstrumentId, PaymentId, RefundId, RoomId,
};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::{
    Card, CardBrand, Funding, Payment, PaymentMethod, PaymentState, Refund,
};
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
        details: RoomDetails {
            remarks: Some("Bring your passport.".to_owned()),
            perks: vec![RoomPerk {
                name: "Late check-out".to_owned(),
                value: Some(euros(2_000)),
            }],
            taxes: vec![RoomTax {
                description: "City tax".to_owned(),
                amount: euros(150),
                payable_at: PaymentPoint::CheckIn,
            }],
            max_occupancy: Some(3),
        },
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

fn policy() -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: Some(NOW),
        penalties: vec![Penalty {
            basis_points: Some(8_750),
            time_zone: Some("Europe/Rome".to_owned()),
            ..Penalty::new(NOW, euros(26_050))
        }],
        refund_type: Some(RefundType::Full),
        restrictions: vec![Restriction {
            code: "NO_CANCELLATION".to_owned(),
            description: "Fair days".to_owned(),
            active_from: None,
            active_until: Some(NOW),
        }],
    }
}

/// Builds a paid, partly refunded booking of two rooms in which every optional field is set. The
/// supplier refused to cancel a room.
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
        policy: Some(policy()),
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
            failure: Some(refusal()),
        }],
    };
    HotelBooking {
        supplier: SupplierId::parse("SANDBOX_HOTELS").unwrap(),
        supplier_reference: Some("S-1".to_owned()),
        state: BookingState::Booked(HotelBookedState::Confirmed { refresh: None }),
        payments: vec![payment()],
        failure: Some(refusal()),
        confirmed_at: Some(NOW),
        ..prebooked(details)
    }
}

fn refusal() -> Failure {
    Failure {
        code: "cancel_refused".to_owned(),
        description: "No.".to_owned(),
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

/// The promotion applies to the second room only.
#[test]
fn booking_has_public_values_and_no_internal_ones() {
    insta::assert_json_snapshot!("hotel_booking", booking::full_booking(&booked()));
}

#[test]
fn cards_appear_only_in_full_booking() {
    let mut payments = json_of(&booking::full_booking(&booked()))["payments"].clone();
    let cards = payments[0].as_object_mut().unwrap().remove("cards");
    assert!(cards.is_some());
    let summary = json_of(&booking::summary(&booked()));
    assert_eq!(summary["payments"], payments);
    let changed = json_of(&booking::booking_without_cards(&booked()));
    assert_eq!(changed["payments"], payments);
}

#[test]
fn quote_without_amounts_is_unavailable() {
    let quote = quote::HotelCancellationQuote {
        source: HotelQuoteSource::PolicyEstimate,
        checked_at: NOW,
        amounts: None,
        free_until: None,
        restrictions: Vec::new(),
        changed_policy: None,
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
