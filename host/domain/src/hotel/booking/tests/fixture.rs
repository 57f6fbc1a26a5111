//! Sample hotel bookings.

use crate::booking::BookingEvent;
use crate::booking::tests::{LATER, Sample, after, change_reported, euros, pay, refund_id};
use crate::hotel::booking::*;
use crate::hotel::supplier_api::{
    HotelCancellationAmounts, HotelOfferDetails, HotelPrebookResponse, HotelSupplierBooking,
    SupplierRoom,
};
use crate::hotel::types::{
    Board, CancellationPolicy, Guest, GuestType, HotelSummary, Location, Penalty, RoomDetails,
    RoomRate,
};
use crate::id::{CancellationId, GuestId, PaymentId, RefundId, RoomId};
use crate::money::Money;
use crate::payment::PaymentEvent;
use crate::supplier::SupplierBookingStatus;
use crate::time::Timestamp;
use serde_json::json;

pub(super) use crate::hotel::booking::HotelBookingDetails as Hotel;

fn policy() -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: Some(Timestamp(2_000_000)),
        penalties: vec![Penalty::new(Timestamp(2_000_000), euros(20_000))],
        restrictions: vec![],
        refund_type: None,
    }
}

fn rate() -> RoomRate {
    RoomRate {
        name: "Double".into(),
        board: Board::RoomOnly,
        board_name: "Room only".into(),
        total: euros(10_000),
        due_at_property: None,
        policy: policy(),
        details: RoomDetails::default(),
    }
}

fn hotel() -> HotelSummary {
    HotelSummary {
        supplier_hotel_id: "OK".into(),
        name: "Hotel".into(),
        address: "1 Road".into(),
        location: Some(Location {
            latitude: 1.0,
            longitude: 2.0,
        }),
        time_zone: None,
    }
}

pub(super) fn room(bits: u128) -> Room {
    let rate = rate();
    let guest = Guest {
        first_name: "Ada".into(),
        last_name: "L".into(),
        guest_type: GuestType::Adult,
        is_lead: true,
        age: None,
    };
    Room {
        id: RoomId::from_bits(bits),
        name: rate.name,
        board: rate.board,
        board_name: rate.board_name,
        adults: 1,
        children: vec![],
        total: rate.total,
        due_at_property: None,
        policy: Some(rate.policy),
        details: rate.details,
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: vec![(GuestId::from_bits(bits), guest)],
    }
}

impl Sample for Hotel {
    const PRICE: i64 = 20_000;
    const PAYMENTS: u128 = 1;

    fn details() -> Self {
        let one_adult = json!({ "adults": 1, "children": [] });
        let stored = json!({
            "hotel_id": "htl_1",
            "hotel": hotel(),
            "stay": {
                "check_in": "2027-01-01",
                "check_out": "2027-01-02",
                "occupancies": [one_adult, one_adult],
                "guest_nationality": "DE",
                "currency": "EUR",
            },
            "contact": {
                "first_name": "Ada",
                "last_name": "L",
                "email": "a@example.org",
                "phone": "+4912345678",
            },
            "rooms": [room(1), room(2)],
            "total": euros(20_000),
            "policy": policy(),
            "promotions": [],
            "cancellations": [],
        });
        serde_json::from_value(stored).unwrap()
    }

    fn prebook() -> HotelPrebookResponse {
        HotelPrebookResponse {
            supplier_prebook: "P1".into(),
            total: euros(20_000),
            hotel: hotel(),
            rooms: vec![rate(), rate()],
            policy: policy(),
            promotions: vec![],
            loyalty: None,
            expires_at: None,
            checkout: None,
            details: HotelOfferDetails::default(),
        }
    }

    fn reported(status: SupplierBookingStatus) -> Box<HotelSupplierBooking> {
        Box::new(HotelSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            total: euros(20_000),
            hotel_confirmation_code: Some("H1".into()),
            remarks: None,
            rooms: vec![],
            policy: None,
            cancellation: None,
            has_unreadable_amounts: false,
        })
    }

    fn cancel_started() -> BookingEvent<Self> {
        cancel_started(vec![])
    }

    fn cancel_succeeded(reported: Box<HotelSupplierBooking>) -> BookingEvent<Self> {
        let event = HotelEvent::CancelSucceeded {
            supplier_booking: reported,
            refund: refund_id(),
        };
        event.into()
    }

    fn refreshed(
        reported: Box<HotelSupplierBooking>,
        change_reported_at: Timestamp,
    ) -> BookingEvent<Self> {
        let event = HotelEvent::Refreshed {
            supplier_booking: reported,
            change_reported_at,
            cancellation: CancellationId::from_bits(8),
            refund: refund_id(),
        };
        event.into()
    }

    fn other_events() -> Vec<BookingEvent<Self>> {
        let policy_read = HotelEvent::PolicyRead(policy());
        vec![
            policy_read.into(),
            refund_decided(1, euros(15_000)),
            book_confirmed(reported_canceled(&[1])),
        ]
    }

    fn other_states() -> Vec<(&'static str, HotelBooking)> {
        let canceled = after(Self::cancel_sent(), [Self::cancel_done()]);
        let refund_sent = PaymentEvent::RefundSent {
            refund: refund_id(),
            next_at: LATER,
        };
        let refunding = after(canceled.clone(), [pay(1, refund_sent)]);
        vec![
            ("PARTIALLY_CANCELED", one_room_canceled()),
            (
                "PARTIALLY_CANCELED hinted",
                change_reported(one_room_canceled()),
            ),
            ("CANCELED", canceled),
            ("CANCELED refund sent", refunding),
            ("CANCELED refund undecided", refund_undecided()),
        ]
    }
}

fn cancel_started(room_ids: Vec<RoomId>) -> BookingEvent<Hotel> {
    let id = CancellationId::from_bits(1);
    HotelEvent::CancelStarted { id, room_ids }.into()
}

/// Returns a captured booking of which the first of two rooms was cancelled.
pub(super) fn one_room_canceled() -> HotelBooking {
    let done = Hotel::cancel_succeeded(reported_canceled(&[1]));
    after(room_cancellation_sent(Hotel::captured(), 1, &[1]), [done])
}

/// Returns the booking after a cancellation of the rooms with these numbers was sent.
pub(super) fn room_cancellation_sent(
    booking: HotelBooking,
    cancellation: u128,
    numbers: &[u128],
) -> HotelBooking {
    let id = CancellationId::from_bits(cancellation);
    let room_ids = numbers.iter().map(|number| RoomId::from_bits(*number));
    let room_ids = room_ids.collect();
    let started = HotelEvent::CancelStarted { id, room_ids };
    let sent = BookingEvent::CancelSent { next_at: LATER };
    after(booking, [started.into(), sent])
}

/// Returns the booking as the supplier reports it after it cancelled the rooms with these numbers,
/// not all of the booking.
pub(super) fn reported_canceled(numbers: &[u8]) -> Box<HotelSupplierBooking> {
    let mut reported = Hotel::reported(SupplierBookingStatus::PartiallyCanceled);
    let rooms = numbers.iter().map(|number| SupplierRoom {
        position: number - 1,
        supplier_room_reference: None,
        hotel_confirmation_code: None,
        canceled: true,
    });
    reported.rooms = rooms.collect();
    reported
}

/// Returns the confirmation of a booking that the supplier reports like this.
pub(super) fn book_confirmed(supplier_booking: Box<HotelSupplierBooking>) -> BookingEvent<Hotel> {
    BookingEvent::BookConfirmed {
        supplier_booking,
        payment: PaymentId::from_bits(9),
    }
}

/// Adds the amounts of all cancellations so far.
pub(super) fn with_amounts(
    mut reported: Box<HotelSupplierBooking>,
    fee: Money,
    refund: Option<Money>,
) -> Box<HotelSupplierBooking> {
    reported.cancellation = Some(HotelCancellationAmounts {
        fee,
        refund,
        supplier_reference: Some("C1".into()),
    });
    reported
}

/// Returns the success of a cancellation with the amounts of all cancellations so far.
pub(super) fn stating(
    reported: Box<HotelSupplierBooking>,
    fee: Money,
    refund: Option<Money>,
) -> BookingEvent<Hotel> {
    Hotel::cancel_succeeded(with_amounts(reported, fee, refund))
}

/// Returns a booking that the supplier cancelled for a fee of 2,500 cents.
pub(super) fn canceled_for_fee(refund: Option<i64>) -> Box<HotelSupplierBooking> {
    let reported = Hotel::reported(SupplierBookingStatus::Canceled);
    with_amounts(reported, euros(2_500), refund.map(euros))
}

pub(super) fn refund_decided(cancellation: u128, amount: Money) -> BookingEvent<Hotel> {
    let event = HotelEvent::RefundDecided {
        cancellation: CancellationId::from_bits(cancellation),
        amount,
        refund: RefundId::from_bits(20 + cancellation),
    };
    event.into()
}

/// Returns a cancelled booking for which the supplier states a fee and a refund that do not add up
/// to the price.
pub(super) fn refund_undecided() -> HotelBooking {
    let canceled = Hotel::cancel_succeeded(canceled_for_fee(Some(17_000)));
    after(Hotel::cancel_sent(), [canceled])
}
