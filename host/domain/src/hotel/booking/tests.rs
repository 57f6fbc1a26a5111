//! The whole state × event table of a hotel booking, and what must hold of
//! money whatever happens.

use super::*;
use crate::booking::payment_reference;
use crate::hotel::offer::{GuestType, Location, Occupancy, Penalty, RoomRate};
use crate::hotel::step::Step;
use crate::hotel::supply::CancellationAmounts;
use crate::id::InstrumentId;
use crate::money::Currency;
use crate::owner::{Mode, Tenant};
use crate::payment::{Decline, Instrument, Next, PaymentState, PaymentStatus, PaymentStep};
use crate::supplier::BookingStatus;
use crate::time::Date;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp(1_000_000);
const LATER: Timestamp = Timestamp(1_005_000);

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn policy() -> CancellationPolicy {
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

fn rate() -> RoomRate {
    RoomRate {
        name: "Double".into(),
        board: Board::RoomOnly,
        board_name: "Room only".into(),
        total: euros(10_000),
        due_at_property: None,
        policy: policy(),
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

fn room(bits: u128) -> Room {
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

fn created() -> Booking {
    let date = |day| Date::new(2027, 1, day).unwrap();
    Booking {
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
        hotel_id: HotelId::from_bits(1),
        hotel: hotel(),
        reference_id: None,
        supplier_offer: "offer".into(),
        supplier_prebook: None,
        supplier_reference: None,
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
        use_payment_sdk: false,
        settlement: Settlement::Gateway,
        hotel_confirmation_code: None,
        hotel_remarks: None,
        offer_expires_at: Timestamp(9_000_000),
        state: State::Created,
        payments: vec![],
        cancellations: vec![],
        failure: None,
        created_at: NOW,
        updated_at: NOW,
        confirmed_at: None,
        canceled_at: None,
    }
}

fn instrument() -> Instrument {
    Instrument {
        id: InstrumentId::from_bits(1),
        processor: SupplierId::parse("CARDS").unwrap(),
        token: "tok".into(),
        card: None,
        created_at: NOW,
    }
}

fn payment() -> Payment {
    Payment::to_authorize(
        PaymentId::from_bits(1),
        euros(20_000),
        SupplierId::parse("CARDS").unwrap(),
        &instrument(),
        NOW,
    )
}

fn browser_payment() -> Payment {
    Payment::by_browser(
        PaymentId::from_bits(1),
        euros(20_000),
        SupplierId::parse("CARDS").unwrap(),
        "pi_1".into(),
        NOW,
    )
}

fn no() -> Failure {
    Failure {
        code: "book_failed".into(),
        description: "No.".into(),
    }
}

fn supplier_state(
    status: BookingStatus,
    cancellation: Option<CancellationAmounts>,
) -> Box<BookingState> {
    Box::new(BookingState {
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

fn bound() -> Box<Prebooked> {
    Box::new(Prebooked {
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

fn pay(event: PaymentEvent) -> Event {
    Event::Payment {
        id: PaymentId::from_bits(1),
        event,
    }
}

fn authorized() -> Event {
    pay(PaymentEvent::Authorized {
        processor_reference: "ch_1".into(),
        card: None,
    })
}

fn refund_id() -> RefundId {
    RefundId::from_bits(1)
}

/// Every event once, in the order of the declaration.
fn events() -> Vec<Event> {
    vec![
        Event::PrebookStarted,
        Event::PrebookBound {
            bound: bound(),
            expires_at: Timestamp(9_000_000),
            payment: None,
        },
        Event::PrebookRefused(no()),
        Event::PrebookGivenUp,
        Event::OfferExpired,
        Event::BookStarted {
            payment: Some(payment()),
        },
        Event::BookSent { next_at: LATER },
        Event::BookNotSent,
        Event::BookPending {
            supplier_reference: None,
            next_at: LATER,
        },
        Event::BookChecked { next_at: LATER },
        Event::BookRepeated { at: LATER },
        Event::BookConfirmed(supplier_state(BookingStatus::Confirmed, None)),
        Event::BookRefused(no()),
        Event::CheckoutNotCompleted,
        Event::CancelStarted {
            id: CancellationId::from_bits(9),
            room_ids: vec![],
        },
        Event::CancelSent { next_at: LATER },
        Event::CancelNotSent { retry_at: LATER },
        Event::CancelPending { next_at: LATER },
        Event::CancelChecked { next_at: LATER },
        Event::CancelDone {
            state: supplier_state(BookingStatus::Canceled, None),
            refund: refund_id(),
        },
        Event::CancelRefused(no()),
        Event::CancelLost(no()),
        Event::Hinted,
        pay(PaymentEvent::Sent { next_at: LATER }),
        authorized(),
        pay(PaymentEvent::Declined(Decline::InsufficientFunds)),
        pay(PaymentEvent::NothingHeld),
        pay(PaymentEvent::Captured),
        pay(PaymentEvent::Voided),
        pay(PaymentEvent::Failed { retry_at: LATER }),
        pay(PaymentEvent::Checked { next_at: LATER }),
        pay(PaymentEvent::Repeated { at: LATER }),
        pay(PaymentEvent::RefundSent {
            refund: refund_id(),
            next_at: LATER,
        }),
        pay(PaymentEvent::Refunded(refund_id())),
        pay(PaymentEvent::RefundFailed {
            refund: refund_id(),
            retry_at: LATER,
        }),
        pay(PaymentEvent::RefundChecked {
            refund: refund_id(),
            next_at: LATER,
        }),
    ]
}

fn after(booking: Booking, events: Vec<Event>) -> Booking {
    events.into_iter().fold(booking, |booking, event| {
        booking.apply(event, NOW).unwrap().booking
    })
}

fn ready() -> Booking {
    after(
        created(),
        vec![
            Event::PrebookStarted,
            Event::PrebookBound {
                bound: bound(),
                expires_at: Timestamp(9_000_000),
                payment: None,
            },
        ],
    )
}

fn paying() -> Booking {
    after(
        ready(),
        vec![Event::BookStarted {
            payment: Some(payment()),
        }],
    )
}

fn paid() -> Booking {
    after(
        paying(),
        vec![pay(PaymentEvent::Sent { next_at: LATER }), authorized()],
    )
}

fn booking_sent() -> Booking {
    after(paid(), vec![Event::BookSent { next_at: LATER }])
}

fn confirmed() -> Booking {
    after(
        booking_sent(),
        vec![Event::BookConfirmed(supplier_state(
            BookingStatus::Confirmed,
            None,
        ))],
    )
}

fn captured() -> Booking {
    after(
        confirmed(),
        vec![
            pay(PaymentEvent::Sent { next_at: LATER }),
            pay(PaymentEvent::Captured),
        ],
    )
}

fn canceling(room_ids: Vec<RoomId>) -> Booking {
    after(
        captured(),
        vec![Event::CancelStarted {
            id: CancellationId::from_bits(1),
            room_ids,
        }],
    )
}

fn cancel_sent(room_ids: Vec<RoomId>) -> Booking {
    after(
        canceling(room_ids),
        vec![Event::CancelSent { next_at: LATER }],
    )
}

fn cancel_done() -> Event {
    Event::CancelDone {
        state: supplier_state(BookingStatus::Canceled, None),
        refund: refund_id(),
    }
}

/// A booking in every state that the table distinguishes.
fn states() -> Vec<(&'static str, Booking)> {
    vec![
        ("CREATED", created()),
        (
            "PREBOOK_IN_PROGRESS",
            after(created(), vec![Event::PrebookStarted]),
        ),
        ("READY_FOR_COMPLETE", ready()),
        ("COMPLETE_IN_PROGRESS paying", paying()),
        ("COMPLETE_IN_PROGRESS paid", paid()),
        ("COMPLETE_IN_PROGRESS sent", booking_sent()),
        (
            "COMPLETE_IN_PROGRESS pending",
            after(
                booking_sent(),
                vec![Event::BookPending {
                    supplier_reference: None,
                    next_at: LATER,
                }],
            ),
        ),
        ("CONFIRMED capturing", confirmed()),
        ("CONFIRMED captured", captured()),
        ("CANCEL_IN_PROGRESS due", canceling(vec![])),
        ("CANCEL_IN_PROGRESS sent", cancel_sent(vec![])),
        (
            "CANCEL_IN_PROGRESS pending",
            after(
                cancel_sent(vec![]),
                vec![Event::CancelPending { next_at: LATER }],
            ),
        ),
        (
            "PARTIALLY_CANCELED",
            after(cancel_sent(vec![RoomId::from_bits(1)]), vec![cancel_done()]),
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
            after(booking_sent(), vec![Event::BookRefused(no())]),
        ),
        ("EXPIRED", after(ready(), vec![Event::OfferExpired])),
    ]
}

#[test]
fn the_table_of_states_and_events_is_this() {
    let mut table = String::new();
    for (name, booking) in states() {
        table.push_str(&format!("{name}\n"));
        for event in events() {
            let event_name = event.name();
            if let Ok(moved) = booking.clone().apply(event, LATER) {
                let told: Vec<&str> = moved
                    .publish
                    .iter()
                    .map(|notice| notice.event_type.as_str())
                    .collect();
                let payment = moved
                    .booking
                    .payments
                    .last()
                    .map_or("-", |p| p.state.name());
                table.push_str(&format!(
                    "  {event_name:24} -> {:22} payment {payment:16} {}\n",
                    moved.booking.status().as_str(),
                    told.join(", ")
                ));
            }
        }
    }
    insta::assert_snapshot!("hotel_booking_table", table);
}

#[test]
fn a_booking_walks_from_authorize_to_capture_by_its_steps() {
    let payment = PaymentId::from_bits(1);
    assert_eq!(
        paying().next(NOW),
        Next::Now(Step::Payment(PaymentStep::Authorize(payment.clone())))
    );
    assert_eq!(paid().next(NOW), Next::Now(Step::Book));
    assert_eq!(booking_sent().next(NOW), Next::At(LATER));
    assert_eq!(booking_sent().next(LATER), Next::Now(Step::FindBooking));
    assert_eq!(
        confirmed().next(NOW),
        Next::Now(Step::Payment(PaymentStep::Capture(payment)))
    );
    assert_eq!(captured().next(NOW), Next::Nothing);
}

#[test]
fn a_declined_card_leaves_the_booking_ready_for_another() {
    let declined = after(
        paying(),
        vec![
            pay(PaymentEvent::Sent { next_at: LATER }),
            pay(PaymentEvent::Declined(Decline::InsufficientFunds)),
        ],
    );
    assert_eq!(declined.status(), Status::ReadyForComplete);
    assert_eq!(declined.payments[0].status(), PaymentStatus::Failed);
    let second = Payment {
        id: PaymentId::from_bits(2),
        ..payment()
    };
    let again = after(
        declined,
        vec![Event::BookStarted {
            payment: Some(second),
        }],
    );
    assert_eq!(
        payment_reference(
            &again.id,
            &again.payments,
            &PaymentId::from_bits(2),
            "authorize",
            0
        ),
        format!("{}-authorize-2-1", again.id)
    );
}

#[test]
fn a_browser_payment_is_read_and_never_asked_for_again() {
    let mut booking = created();
    booking.use_payment_sdk = true;
    let bound = Event::PrebookBound {
        bound: bound(),
        expires_at: Timestamp(9_000_000),
        payment: Some(browser_payment()),
    };
    let started = after(
        booking,
        vec![
            Event::PrebookStarted,
            bound,
            Event::BookStarted { payment: None },
        ],
    );
    assert_eq!(
        started.next(NOW),
        Next::Now(Step::Payment(PaymentStep::Find(PaymentId::from_bits(1))))
    );
    let unpaid = after(
        started,
        vec![pay(PaymentEvent::Declined(Decline::NotCompleted))],
    );
    assert_eq!(
        (unpaid.status(), unpaid.payments[0].status()),
        (Status::ReadyForComplete, PaymentStatus::RequiresAction)
    );
}

#[test]
fn releasing_one_of_two_rooms_gives_half_back() {
    let partly = after(cancel_sent(vec![RoomId::from_bits(1)]), vec![cancel_done()]);
    assert_eq!(partly.cancellations[0].refund_amount, Some(euros(10_000)));
    assert_eq!(partly.standing_total(), euros(10_000));
    assert_eq!(partly.total, euros(20_000), "what was booked stays");
}

#[test]
fn the_suppliers_fee_is_kept_and_the_rest_given_back() {
    let amounts = CancellationAmounts {
        fee: euros(2_500),
        refund: Some(euros(17_500)),
        supplier_reference: Some("C1".into()),
    };
    let done = Event::CancelDone {
        state: supplier_state(BookingStatus::Canceled, Some(amounts)),
        refund: refund_id(),
    };
    let canceled = after(cancel_sent(vec![]), vec![done]);
    assert_eq!(canceled.cancellations[0].refund_amount, Some(euros(17_500)));
    assert_eq!(
        canceled.next(NOW),
        Next::Now(Step::Payment(PaymentStep::Refund(
            PaymentId::from_bits(1),
            refund_id()
        )))
    );
}

#[test]
fn money_that_was_never_taken_is_released_instead_of_returned() {
    let canceled = after(
        confirmed(),
        vec![
            Event::CancelStarted {
                id: CancellationId::from_bits(1),
                room_ids: vec![],
            },
            Event::CancelSent { next_at: LATER },
            cancel_done(),
        ],
    );
    assert_eq!(canceled.payments[0].state.name(), "voiding_due");
}

proptest! {
    /// Whatever happens in whatever order, money follows the booking.
    #[test]
    fn no_order_of_events_loses_money(picks in proptest::collection::vec(0..36_usize, 1..60)) {
        let mut booking = created();
        for (count, pick) in picks.into_iter().enumerate() {
            let now = Timestamp(NOW.0 + i64::try_from(count).unwrap());
            if let Ok(moved) = booking.clone().apply(events()[pick].clone(), now) {
                prop_assert_eq!(moved.booking.version, booking.version + 1);
                booking = moved.booking;
            }
            for payment in &booking.payments {
                let asked: i64 = payment.refunds.iter().map(|refund| refund.amount.minor).sum();
                prop_assert!(asked <= payment.amount.minor, "more refunded than taken");
            }
            let taken = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Capturing(_) | PaymentState::Captured));
            prop_assert!(!taken || booking.confirmed_at.is_some(), "money taken before the supplier's yes");
            let over = matches!(booking.state, State::Failed | State::Expired);
            let held = booking.payments.iter().any(|p| matches!(p.state, PaymentState::Authorized | PaymentState::Authorizing(_)));
            prop_assert!(!(over && held), "money held for nothing");
        }
    }
}
