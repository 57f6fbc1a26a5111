//! Bookings in every state, created by applying events.

use crate::booking::{BookingEvent, BookingState, ChangeSource, Failure, PaymentCollector};
use crate::hotel::booking::*;
use crate::hotel::supplier_api::HotelCancellationAmounts;
use crate::hotel::supplier_api::{HotelPrebookResponse, HotelSupplierBooking};
use crate::hotel::types::{Board, CancellationPolicy, Contact, Guest, HotelSummary, Stay};
use crate::hotel::types::{GuestType, Location, Occupancy, Penalty, RoomRate};
use crate::id::InstrumentId;
use crate::id::*;
use crate::money::Currency;
use crate::money::Money;
use crate::owner::Owner;
use crate::owner::{Mode, Tenant};
use crate::payment::{DeclineReason, Instrument};
use crate::payment::{Payment, PaymentEvent};
use crate::supplier::SupplierBookingStatus;
use crate::supplier::SupplierId;
use crate::time::Date;
use crate::time::Timestamp;

pub(super) const NOW: Timestamp = Timestamp(1_000_000);
pub(super) const LATER: Timestamp = Timestamp(1_005_000);

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn policy() -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: Some(Timestamp(2_000_000)),
        penalties: vec![Penalty {
            from: Timestamp(2_000_000),
            amount: euros(20_000),
        }],
        restrictions: Vec::new(),
    }
}

pub(super) fn rate() -> RoomRate {
    RoomRate {
        name: "Double".into(),
        board: Board::RoomOnly,
        board_name: "Room only".into(),
        total: euros(10_000),
        due_at_property: None,
        policy: policy(),
    }
}

pub(super) fn hotel() -> HotelSummary {
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
    let guest = Guest {
        first_name: "Ada".into(),
        last_name: "L".into(),
        guest_type: GuestType::Adult,
        is_lead: true,
        age: None,
    };
    Room {
        id: RoomId::from_bits(bits),
        name: "Double".into(),
        board: Board::RoomOnly,
        board_name: "Room only".into(),
        adults: 1,
        children: vec![],
        total: euros(10_000),
        due_at_property: None,
        policy: Some(policy()),
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: vec![(GuestId::from_bits(bits), guest)],
    }
}

pub(super) fn created() -> HotelBooking {
    let date = |day| Date::new(2027, 1, day).unwrap();
    HotelBooking {
        id: BookingId::from_bits(1),
        owner: Owner {
            tenant: Tenant {
                organization: "demo".into(),
                mode: Mode::Test,
            },
            user: "org".into(),
        },
        version: 1,
        supplier: SupplierId::parse("SANDBOX").unwrap(),
        reference_id: None,
        supplier_offer: "offer".into(),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: Timestamp(9_000_000),
        state: BookingState::Created,
        payments: vec![],
        failure: None,
        created_at: NOW,
        updated_at: NOW,
        confirmed_at: None,
        canceled_at: None,
        details: HotelBookingDetails {
            hotel_id: HotelId::from_bits(1),
            hotel: hotel(),
            stay: Stay {
                check_in: date(1),
                check_out: date(2),
                occupancies: vec![
                    Occupancy {
                        adults: 1,
                        children: vec![]
                    };
                    2
                ],
                guest_nationality: "DE".into(),
                guest_residence: None,
                currency: Currency::parse("EUR").unwrap(),
            },
            contact: Contact {
                first_name: "Ada".into(),
                last_name: "L".into(),
                email: "a@example.org".into(),
                phone: "+4912345678".into(),
            },
            rooms: vec![room(1), room(2)],
            total: euros(20_000),
            policy: Some(policy()),
            promotions: vec![],
            loyalty: None,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            cancellations: vec![],
        },
    }
}

pub(super) fn instrument() -> Instrument {
    Instrument {
        id: InstrumentId::from_bits(1),
        processor: SupplierId::parse("CARDS").unwrap(),
        token: "tok".into(),
        card: None,
        created_at: NOW,
    }
}

pub(super) fn payment() -> Payment {
    Payment::new_authorization(
        PaymentId::from_bits(1),
        euros(20_000),
        SupplierId::parse("CARDS").unwrap(),
        &instrument(),
        NOW,
    )
}

pub(super) fn browser_payment() -> Payment {
    Payment::new_browser_payment(
        PaymentId::from_bits(1),
        euros(20_000),
        SupplierId::parse("CARDS").unwrap(),
        "pi_1".into(),
        NOW,
    )
}

pub(super) fn no() -> Failure {
    Failure {
        code: "book_failed".into(),
        description: "No.".into(),
    }
}

pub(super) fn reported(
    status: SupplierBookingStatus,
    cancellation: Option<HotelCancellationAmounts>,
) -> Box<HotelSupplierBooking> {
    Box::new(HotelSupplierBooking {
        status,
        supplier_reference: "S1".into(),
        client_reference: None,
        total: euros(20_000),
        hotel_confirmation_code: Some("H1".into()),
        remarks: None,
        rooms: vec![],
        policy: None,
        cancellation,
    })
}

pub(super) fn bound() -> Box<HotelPrebookResponse> {
    Box::new(HotelPrebookResponse {
        supplier_prebook: "P1".into(),
        total: euros(20_000),
        hotel: hotel(),
        rooms: vec![rate(), rate()],
        policy: policy(),
        promotions: vec![],
        loyalty: None,
        expires_at: None,
        checkout: None,
    })
}

pub(super) fn pay(event: PaymentEvent) -> BookingEvent<HotelBookingDetails> {
    BookingEvent::Payment {
        id: PaymentId::from_bits(1),
        event,
    }
}

pub(super) fn authorized() -> BookingEvent<HotelBookingDetails> {
    pay(PaymentEvent::Authorized {
        processor_reference: "ch_1".into(),
        card: None,
    })
}

/// Applies a change reported by the supplier.
pub(super) fn change_reported(booking: HotelBooking) -> HotelBooking {
    after(
        booking,
        vec![BookingEvent::ChangeReported(ChangeSource::Supplier)],
    )
}

pub(super) fn refreshed(state: Box<HotelSupplierBooking>) -> BookingEvent<HotelBookingDetails> {
    BookingEvent::Kind(HotelEvent::Refreshed {
        supplier_booking: state,
        change_reported_at: NOW,
        cancellation: CancellationId::from_bits(8),
        refund: refund_id(),
    })
}

pub(super) fn refund_id() -> RefundId {
    RefundId::from_bits(1)
}

/// Returns every event once, in the order of declaration.
pub(super) fn events() -> Vec<BookingEvent<HotelBookingDetails>> {
    vec![
        BookingEvent::PrebookStarted,
        BookingEvent::PrebookConfirmed {
            prebook: bound(),
            expires_at: Timestamp(9_000_000),
            payment: None,
        },
        BookingEvent::PrebookRefused(no()),
        BookingEvent::PrebookTimedOut,
        BookingEvent::OfferExpired,
        BookingEvent::BookStarted {
            payment: Some(payment()),
        },
        BookingEvent::BookSent { next_at: LATER },
        BookingEvent::BookNotSent,
        BookingEvent::BookAccepted {
            supplier_reference: None,
            next_at: LATER,
        },
        BookingEvent::BookUnresolved { next_at: LATER },
        BookingEvent::BookResendScheduled { at: LATER },
        BookingEvent::BookConfirmed {
            supplier_booking: reported(SupplierBookingStatus::Confirmed, None),
            payment: PaymentId::from_bits(7),
        },
        BookingEvent::BookRefused(no()),
        BookingEvent::CheckoutNotCompleted,
        BookingEvent::Kind(HotelEvent::CancelStarted {
            id: CancellationId::from_bits(9),
            room_ids: vec![],
        }),
        BookingEvent::CancelSent { next_at: LATER },
        BookingEvent::CancelNotSent { retry_at: LATER },
        BookingEvent::CancelAccepted { next_at: LATER },
        BookingEvent::CancelUnresolved { next_at: LATER },
        BookingEvent::Kind(HotelEvent::CancelSucceeded {
            supplier_booking: reported(SupplierBookingStatus::Canceled, None),
            refund: refund_id(),
        }),
        BookingEvent::CancelRefused(no()),
        BookingEvent::CancelNotExecuted(no()),
        BookingEvent::ChangeReported(ChangeSource::Supplier),
        BookingEvent::RefreshFailed { next_at: LATER },
        refreshed(reported(SupplierBookingStatus::Canceled, None)),
        pay(PaymentEvent::Sent {
            reconcile_at: LATER,
        }),
        authorized(),
        pay(PaymentEvent::Declined(DeclineReason::InsufficientFunds)),
        pay(PaymentEvent::NotAuthorized),
        pay(PaymentEvent::Captured),
        pay(PaymentEvent::Voided),
        pay(PaymentEvent::StepFailed { retry_at: LATER }),
        pay(PaymentEvent::Unresolved { next_at: LATER }),
        pay(PaymentEvent::ResendScheduled { at: LATER }),
        pay(PaymentEvent::RefundSent {
            refund: refund_id(),
            next_at: LATER,
        }),
        pay(PaymentEvent::Refunded(refund_id())),
        pay(PaymentEvent::RefundFailed {
            refund: refund_id(),
            retry_at: LATER,
        }),
        pay(PaymentEvent::RefundUnresolved {
            refund: refund_id(),
            next_at: LATER,
        }),
    ]
}

pub(super) fn after(
    booking: HotelBooking,
    events: Vec<BookingEvent<HotelBookingDetails>>,
) -> HotelBooking {
    events.into_iter().fold(booking, |booking, event| {
        booking.apply(event, NOW).unwrap().booking
    })
}

pub(super) fn ready() -> HotelBooking {
    after(
        created(),
        vec![
            BookingEvent::PrebookStarted,
            BookingEvent::PrebookConfirmed {
                prebook: bound(),
                expires_at: Timestamp(9_000_000),
                payment: None,
            },
        ],
    )
}

pub(super) fn paying() -> HotelBooking {
    after(
        ready(),
        vec![BookingEvent::BookStarted {
            payment: Some(payment()),
        }],
    )
}

pub(super) fn paid() -> HotelBooking {
    after(
        paying(),
        vec![
            pay(PaymentEvent::Sent {
                reconcile_at: LATER,
            }),
            authorized(),
        ],
    )
}

pub(super) fn booking_sent() -> HotelBooking {
    after(paid(), vec![BookingEvent::BookSent { next_at: LATER }])
}

pub(super) fn confirmed() -> HotelBooking {
    after(
        booking_sent(),
        vec![BookingEvent::BookConfirmed {
            supplier_booking: reported(SupplierBookingStatus::Confirmed, None),
            payment: PaymentId::from_bits(7),
        }],
    )
}

pub(super) fn captured() -> HotelBooking {
    after(
        confirmed(),
        vec![
            pay(PaymentEvent::Sent {
                reconcile_at: LATER,
            }),
            pay(PaymentEvent::Captured),
        ],
    )
}

pub(super) fn canceling(room_ids: Vec<RoomId>) -> HotelBooking {
    after(
        captured(),
        vec![BookingEvent::Kind(HotelEvent::CancelStarted {
            id: CancellationId::from_bits(1),
            room_ids,
        })],
    )
}

pub(super) fn cancel_sent(room_ids: Vec<RoomId>) -> HotelBooking {
    after(
        canceling(room_ids),
        vec![BookingEvent::CancelSent { next_at: LATER }],
    )
}

pub(super) fn cancel_done() -> BookingEvent<HotelBookingDetails> {
    BookingEvent::Kind(HotelEvent::CancelSucceeded {
        supplier_booking: reported(SupplierBookingStatus::Canceled, None),
        refund: refund_id(),
    })
}

/// Returns a booking in every state that the table distinguishes.
pub(super) fn states() -> Vec<(&'static str, HotelBooking)> {
    vec![
        ("CREATED", created()),
        (
            "PREBOOK_IN_PROGRESS",
            after(created(), vec![BookingEvent::PrebookStarted]),
        ),
        ("READY_FOR_COMPLETE", ready()),
        ("COMPLETE_IN_PROGRESS paying", paying()),
        ("COMPLETE_IN_PROGRESS paid", paid()),
        ("COMPLETE_IN_PROGRESS sent", booking_sent()),
        (
            "COMPLETE_IN_PROGRESS pending",
            after(
                booking_sent(),
                vec![BookingEvent::BookAccepted {
                    supplier_reference: None,
                    next_at: LATER,
                }],
            ),
        ),
        ("CONFIRMED capturing", confirmed()),
        ("CONFIRMED captured", captured()),
        ("CONFIRMED hinted", change_reported(captured())),
        ("CANCEL_IN_PROGRESS due", canceling(vec![])),
        ("CANCEL_IN_PROGRESS sent", cancel_sent(vec![])),
        (
            "CANCEL_IN_PROGRESS pending",
            after(
                cancel_sent(vec![]),
                vec![BookingEvent::CancelAccepted { next_at: LATER }],
            ),
        ),
        (
            "PARTIALLY_CANCELED",
            after(cancel_sent(vec![RoomId::from_bits(1)]), vec![cancel_done()]),
        ),
        (
            "PARTIALLY_CANCELED hinted",
            change_reported(after(
                cancel_sent(vec![RoomId::from_bits(1)]),
                vec![cancel_done()],
            )),
        ),
        ("CANCELED", after(cancel_sent(vec![]), vec![cancel_done()])),
        (
            "CANCELED refund sent",
            after(
                cancel_sent(vec![]),
                vec![
                    cancel_done(),
                    pay(PaymentEvent::RefundSent {
                        refund: refund_id(),
                        next_at: LATER,
                    }),
                ],
            ),
        ),
        (
            "FAILED",
            after(booking_sent(), vec![BookingEvent::BookRefused(no())]),
        ),
        ("EXPIRED", after(ready(), vec![BookingEvent::OfferExpired])),
    ]
}
