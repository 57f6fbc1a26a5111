//! Sample bookings of any kind in every state, created by applying events, and the checks that all
//! kinds pass.

use super::*;
use crate::id::InstrumentId;
use crate::money::{Currency, Money};
use crate::owner::{Mode, Owner, Tenant};
use crate::payment::{DeclineReason, Instrument, PaymentState, PaymentStep};
use crate::supplier::{SupplierBookingStatus, SupplierId};
use crate::time::Timestamp;
use crate::workflow::NextStep;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::Write;

pub(crate) const NOW: Timestamp = Timestamp(1_000_000);
pub(crate) const LATER: Timestamp = Timestamp(1_005_000);
const OFFER_EXPIRES_AT: Timestamp = Timestamp(9_000_000);

pub(crate) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(crate) fn owner(user: &str) -> Owner {
    let tenant = Tenant {
        organization: "demo".into(),
        mode: Mode::Test,
    };
    let user = user.to_owned();
    Owner { tenant, user }
}

pub(crate) fn refusal() -> Failure {
    Failure::new("book_failed", "No.")
}

/// Proof that nothing was booked, with another lookup at [`LATER`].
pub(crate) fn book_not_executed<K: BookingKind>() -> BookingEvent<K> {
    BookingEvent::BookNotExecuted {
        failure: refusal(),
        recheck_at: Some(LATER),
    }
}

pub(crate) fn orphan() -> Orphan {
    Orphan {
        supplier_reference: "S9".into(),
        found_at: LATER,
    }
}

/// The id of the first refund of a sample booking.
pub(crate) fn dollars(minor: i64) -> Money {
    Money::new(minor, Currency::USD)
}

pub(crate) fn refund_id() -> RefundId {
    RefundId::of(BookingId::from_bits(1).as_str(), 1)
}

pub(crate) fn cards() -> SupplierId {
    SupplierId::parse("CARDS").unwrap()
}

pub(crate) fn payment(bits: u128, amount: Money) -> Payment {
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: cards(),
        token: "tok".into(),
        card: None,
        created_at: NOW,
    };
    let id = PaymentId::from_bits(bits);
    Payment::new_authorization(id, amount, cards(), &instrument, NOW)
}

/// Returns an event of the payment that [`payment`] returns for the same bits.
pub(crate) fn pay<K: BookingKind>(bits: u128, event: PaymentEvent) -> BookingEvent<K> {
    let id = PaymentId::from_bits(bits);
    BookingEvent::Payment { id, event }
}

/// Returns the events of a payment that is sent to the processor, with its result.
pub(crate) fn payment_sent_and<K: BookingKind>(
    bits: u128,
    result: PaymentEvent,
) -> [BookingEvent<K>; 2] {
    let reconcile_at = LATER;
    let sent = PaymentEvent::Sent { reconcile_at };
    [pay(bits, sent), pay(bits, result)]
}

pub(crate) fn authorized() -> PaymentEvent {
    PaymentEvent::Authorized {
        processor_reference: "ch_1".into(),
        card: None,
    }
}

fn payment_events() -> [PaymentEvent; 15] {
    let (at, next_at, retry_at, reconcile_at) = (LATER, LATER, LATER, LATER);
    let refund = refund_id;
    [
        PaymentEvent::Sent { reconcile_at },
        authorized(),
        PaymentEvent::Declined(DeclineReason::InsufficientFunds),
        PaymentEvent::NotAuthorized,
        PaymentEvent::Captured,
        PaymentEvent::Voided,
        PaymentEvent::CapturedDespiteVoid,
        PaymentEvent::StepFailed { retry_at },
        PaymentEvent::Unresolved {
            next_at,
            absence: None,
        },
        PaymentEvent::ResendScheduled { at },
        PaymentEvent::RefundResendScheduled {
            refund: refund(),
            at,
        },
        PaymentEvent::RefundSent {
            refund: refund(),
            next_at,
        },
        PaymentEvent::Refunded(refund()),
        PaymentEvent::RefundFailed {
            refund: refund(),
            retry_at,
        },
        PaymentEvent::RefundUnresolved {
            refund: refund(),
            next_at,
            absence: None,
        },
    ]
}

pub(crate) fn after<K: BookingKind>(
    booking: Booking<K>,
    events: impl IntoIterator<Item = BookingEvent<K>>,
) -> Booking<K> {
    events.into_iter().fold(booking, |booking, event| {
        booking.apply(event, NOW).unwrap().booking
    })
}

pub(crate) fn notified<B>(transition: &Transition<B>) -> Vec<&'static str> {
    let notices = transition.notifications.iter();
    notices.map(|notice| notice.event_type.as_str()).collect()
}

pub(crate) trait Sample: BookingKind {
    /// The price of the booking in cents.
    const PRICE: i64;
    /// Number of payments that the states have at most.
    const PAYMENTS: u128;

    fn details() -> Self;
    fn prebook() -> Self::PrebookResponse;
    fn reported(status: SupplierBookingStatus) -> Box<Self::SupplierBooking>;
    fn cancel_started() -> BookingEvent<Self>;
    fn cancel_succeeded(reported: Box<Self::SupplierBooking>) -> BookingEvent<Self>;
    fn refreshed(
        reported: Box<Self::SupplierBooking>,
        change_reported_at: Timestamp,
    ) -> BookingEvent<Self>;
    /// Returns the events that only this kind has, except for those above.
    fn other_events() -> Vec<BookingEvent<Self>>;
    /// Returns bookings in the states that only this kind has, or in which a cancellation
    /// succeeded.
    fn other_states() -> Vec<(&'static str, Booking<Self>)>;

    /// Returns the outcome of what the payment is for.
    fn outcome(booking: &Booking<Self>, _payment: &Payment) -> Outcome {
        Outcome::of_booking(booking)
    }

    /// Checks that purchases of services fit the booking.
    fn check_purchases(_booking: &Booking<Self>) -> Result<(), TestCaseError> {
        Ok(())
    }

    fn created() -> Booking<Self> {
        Booking {
            id: BookingId::from_bits(1),
            owner: owner("org"),
            version: 1,
            supplier: SupplierId::parse("SANDBOX").unwrap(),
            reference_id: None,
            supplier_offer: "offer".into(),
            supplier_prebook: None,
            supplier_reference: None,
            use_payment_sdk: false,
            payment_collector: PaymentCollector::Gateway,
            offer_expires_at: OFFER_EXPIRES_AT,
            state: BookingState::Created,
            payments: vec![],
            failure: None,
            created_at: NOW,
            updated_at: NOW,
            confirmed_at: None,
            canceled_at: None,
            details: Self::details(),
        }
    }

    fn payment() -> Payment {
        payment(1, euros(Self::PRICE))
    }

    fn prebook_confirmed(payment: Option<Payment>) -> BookingEvent<Self> {
        BookingEvent::PrebookConfirmed {
            prebook: Box::new(Self::prebook()),
            expires_at: OFFER_EXPIRES_AT,
            payment,
        }
    }

    fn ready() -> Booking<Self> {
        let prebooked = [BookingEvent::PrebookStarted, Self::prebook_confirmed(None)];
        after(Self::created(), prebooked)
    }

    fn book_started() -> BookingEvent<Self> {
        let payment = Some(Self::payment());
        BookingEvent::BookStarted { payment }
    }

    fn paying() -> Booking<Self> {
        after(Self::ready(), [Self::book_started()])
    }

    fn paid() -> Booking<Self> {
        after(Self::paying(), payment_sent_and(1, authorized()))
    }

    fn booking_sent() -> Booking<Self> {
        after(Self::paid(), [BookingEvent::BookSent { next_at: LATER }])
    }

    fn book_confirmed() -> BookingEvent<Self> {
        BookingEvent::BookConfirmed {
            supplier_booking: Self::reported(SupplierBookingStatus::Confirmed),
            payment: PaymentId::from_bits(9),
        }
    }

    fn confirmed() -> Booking<Self> {
        after(Self::booking_sent(), [Self::book_confirmed()])
    }

    /// Returns a booking that failed because its supplier did not have it.
    fn absent() -> Booking<Self> {
        after(Self::booking_sent(), [book_not_executed()])
    }

    /// Returns a failed booking that was found at the supplier later.
    fn orphaned() -> Booking<Self> {
        after(Self::absent(), [BookingEvent::OrphanFound(orphan())])
    }

    fn captured() -> Booking<Self> {
        let captured = payment_sent_and(1, PaymentEvent::Captured);
        after(Self::confirmed(), captured)
    }

    /// Returns a captured booking of which the supplier reported a change at [`NOW`].
    fn changed() -> Booking<Self> {
        change_reported(Self::captured())
    }

    /// Returns the events of a cancellation up to its result.
    fn cancellation_sent() -> [BookingEvent<Self>; 2] {
        [
            Self::cancel_started(),
            BookingEvent::CancelSent { next_at: LATER },
        ]
    }

    fn cancel_sent() -> Booking<Self> {
        after(Self::captured(), Self::cancellation_sent())
    }

    /// Returns the success of a cancellation for which the supplier stated no amounts.
    fn cancel_done() -> BookingEvent<Self> {
        Self::cancel_succeeded(Self::reported(SupplierBookingStatus::Canceled))
    }

    /// Returns the refresh of a booking that the supplier cancelled without stating amounts.
    fn refreshed_as_canceled() -> BookingEvent<Self> {
        Self::refreshed(Self::reported(SupplierBookingStatus::Canceled), NOW)
    }

    /// Returns every event once, in the order of declaration. Payment events are listed for every
    /// payment.
    fn events() -> Vec<BookingEvent<Self>> {
        let (at, next_at, retry_at) = (LATER, LATER, LATER);
        let mut events = vec![
            BookingEvent::PrebookStarted,
            Self::prebook_confirmed(None),
            BookingEvent::PrebookRefused(refusal()),
            BookingEvent::PrebookTimedOut,
            BookingEvent::OfferExpired,
            Self::book_started(),
            BookingEvent::BookSent { next_at },
            BookingEvent::BookNotSent,
            Self::book_accepted(),
            BookingEvent::BookUnresolved {
                next_at,
                absence: None,
            },
            BookingEvent::BookResendScheduled { at },
            Self::book_confirmed(),
            BookingEvent::BookRefused(refusal()),
            book_not_executed(),
            BookingEvent::AbsenceRechecked { next_at: None },
            BookingEvent::OrphanFound(orphan()),
            BookingEvent::OrphanResolved,
            BookingEvent::CheckoutNotCompleted,
            Self::cancel_started(),
            BookingEvent::CancelSent { next_at },
            BookingEvent::CancelNotSent { retry_at },
            BookingEvent::CancelAccepted { next_at },
            BookingEvent::CancelUnresolved {
                next_at,
                absence: None,
            },
            Self::cancel_done(),
            BookingEvent::CancelRefused(refusal()),
            BookingEvent::CancelNotExecuted(refusal()),
        ];
        events.extend(Self::other_events());
        events.push(BookingEvent::ChangeReported(ChangeSource::Supplier));
        events.push(BookingEvent::RefreshFailed { next_at });
        events.push(Self::refreshed_as_canceled());
        for bits in 1..=Self::PAYMENTS {
            events.extend(payment_events().map(|event| pay(bits, event)));
        }
        events
    }

    fn book_accepted() -> BookingEvent<Self> {
        BookingEvent::BookAccepted {
            supplier_reference: None,
            next_at: LATER,
        }
    }

    /// Returns a booking in every state that the table distinguishes for all kinds.
    fn states() -> Vec<(&'static str, Booking<Self>)> {
        let of = |booking, event| after(booking, [event]);
        let started = of(Self::captured(), Self::cancel_started());
        let canceling = BookingEvent::CancelAccepted { next_at: LATER };
        let canceling = of(Self::cancel_sent(), canceling);
        let prebooking = of(Self::created(), BookingEvent::PrebookStarted);
        let accepted = of(Self::booking_sent(), Self::book_accepted());
        let refused = BookingEvent::BookRefused(refusal());
        let states = [
            ("CREATED", Self::created()),
            ("PREBOOK_IN_PROGRESS", prebooking),
            ("READY_FOR_COMPLETE", Self::ready()),
            ("COMPLETE_IN_PROGRESS paying", Self::paying()),
            ("COMPLETE_IN_PROGRESS paid", Self::paid()),
            ("COMPLETE_IN_PROGRESS sent", Self::booking_sent()),
            ("COMPLETE_IN_PROGRESS pending", accepted),
            ("CONFIRMED capturing", Self::confirmed()),
            ("CONFIRMED captured", Self::captured()),
            ("CONFIRMED hinted", Self::changed()),
            ("CANCEL_IN_PROGRESS due", started),
            ("CANCEL_IN_PROGRESS sent", Self::cancel_sent()),
            ("CANCEL_IN_PROGRESS pending", canceling),
            ("FAILED", of(Self::booking_sent(), refused)),
            ("FAILED absent", Self::absent()),
            ("FAILED orphaned", Self::orphaned()),
            ("EXPIRED", of(Self::ready(), BookingEvent::OfferExpired)),
        ];
        states.into_iter().chain(Self::other_states()).collect()
    }

    /// Returns every transition: the event, the new status, the states of the payments and the
    /// notifications.
    fn transition_table() -> String {
        let mut table = String::new();
        for (name, booking) in Self::states() {
            writeln!(table, "{name}").unwrap();
            for event in Self::events() {
                let event_name = event.name();
                let Ok(transition) = booking.clone().apply(event, LATER) else {
                    continue;
                };
                let payments = transition.booking.payments.iter();
                let payments: Vec<&str> = payments.map(|payment| payment.state.name()).collect();
                writeln!(
                    table,
                    "  {event_name:24} -> {:22} {:34} {}",
                    transition.booking.status().as_str(),
                    payments.join(" "),
                    notified(&transition).join(", ")
                )
                .unwrap();
            }
        }
        table
    }
}

pub(crate) fn change_reported<K: BookingKind>(booking: Booking<K>) -> Booking<K> {
    let report = BookingEvent::ChangeReported(ChangeSource::Supplier);
    after(booking, [report])
}

pub(crate) fn check_steps_from_authorize_to_capture<K: Sample>() {
    let payment = PaymentId::from_bits(1);
    let authorize = BookingStep::Payment(PaymentStep::Authorize(payment.clone()));
    let capture = BookingStep::Payment(PaymentStep::Capture(payment));
    let sent = K::booking_sent();
    assert_eq!(K::paying().next_step(NOW), NextStep::Run(authorize));
    assert_eq!(K::paid().next_step(NOW), NextStep::Run(BookingStep::Book));
    assert_eq!(sent.next_step(NOW), NextStep::WaitUntil(LATER));
    let find = NextStep::Run(BookingStep::FindBooking);
    assert_eq!(sent.next_step(LATER), find);
    assert_eq!(K::confirmed().next_step(NOW), NextStep::Run(capture));
    assert_eq!(K::captured().next_step(NOW), NextStep::Idle);
}

/// A booking that its supplier did not have is looked up until it is found, and then waits for an
/// operator.
pub(crate) fn check_lookups_of_absent_booking<K: Sample>() {
    let void = BookingStep::Payment(PaymentStep::Void(PaymentId::from_bits(1)));
    let recheck = NextStep::Run(BookingStep::RecheckAbsence);
    let voided = payment_sent_and(1, PaymentEvent::Voided);
    assert_eq!(K::absent().next_step(NOW), NextStep::Run(void));
    let absent = after(K::absent(), voided);
    assert_eq!(absent.next_step(NOW), NextStep::WaitUntil(LATER));
    assert_eq!(absent.next_step(LATER), recheck);
    let apply = |booking: &Booking<K>, event| booking.clone().apply(event, LATER);
    let last = BookingEvent::AbsenceRechecked { next_at: None };
    let ended = apply(&absent, last).unwrap().booking;
    assert_eq!(ended.next_step(LATER), NextStep::Idle);
    // The supplier's own report is a reason to look again at any time, the processor's is not.
    let report = |source| BookingEvent::ChangeReported(source);
    let reported = apply(&ended, report(ChangeSource::Supplier)).unwrap();
    assert_eq!(reported.booking.next_step(LATER), recheck);
    assert!(apply(&ended, report(ChangeSource::Processor)).is_err());
    let found = apply(&absent, BookingEvent::OrphanFound(orphan())).unwrap();
    assert!(
        notified(&found).is_empty(),
        "the client was told of the failure"
    );
    let found = found.booking;
    assert_eq!(found.status(), BookingStatus::Failed);
    assert_eq!(found.orphan(), Some(&orphan()));
    assert_eq!(found.next_step(LATER), NextStep::Idle);
    let resolved = apply(&found, BookingEvent::OrphanResolved).unwrap().booking;
    assert_eq!(resolved.orphan(), None);
    assert_eq!(resolved.status(), BookingStatus::Failed);
}

/// The state of bookings that were stored before lookups followed a failure.
pub(crate) fn check_stored_failure<K: BookingKind>() {
    let failed: BookingState<K::BookedState> =
        serde_json::from_str(r#"{"state":"failed"}"#).unwrap();
    assert_eq!(failed, BookingState::Failed { absence: None });
    assert_eq!(
        serde_json::to_string(&failed).unwrap(),
        r#"{"state":"failed"}"#
    );
}

/// The data just read may predate the second report.
pub(crate) fn check_change_reported_during_refresh<K: Sample>() {
    let report = BookingEvent::ChangeReported(ChangeSource::Supplier);
    let again = K::changed().apply(report, LATER).unwrap().booking;
    let confirmed = K::reported(SupplierBookingStatus::Confirmed);
    let stale = again.apply(K::refreshed(confirmed, NOW), LATER).unwrap();
    let stale = stale.booking;
    assert_eq!(stale.next_step(LATER), NextStep::Run(BookingStep::Refresh));
    let canceled = K::reported(SupplierBookingStatus::Canceled);
    let read = stale.apply(K::refreshed(canceled, LATER), LATER).unwrap();
    assert_eq!(read.booking.status(), BookingStatus::Canceled);
}

/// The supplier may have refused because it cancelled the booking itself.
pub(crate) fn check_refresh_after_refused_cancellation<K: Sample>() {
    for ended in [
        BookingEvent::CancelRefused(refusal()),
        BookingEvent::CancelNotExecuted(refusal()),
    ] {
        let kept = after(K::cancel_sent(), [ended]);
        assert_eq!(kept.next_step(NOW), NextStep::Run(BookingStep::Refresh));
    }
}

/// The outcome of the purchase that a payment is for.
pub(crate) enum Outcome {
    Open,
    Confirmed,
    Failed,
}

impl Outcome {
    pub(crate) fn of_booking<K: BookingKind>(booking: &Booking<K>) -> Self {
        match booking.state {
            BookingState::Failed { .. } | BookingState::Expired => Self::Failed,
            _ if booking.confirmed_at.is_some() => Self::Confirmed,
            _ => Self::Open,
        }
    }
}

/// Applies those of the picked events that fit. Money follows the booking, whatever their order.
pub(crate) fn check_events_in_any_order<K: Sample>(picks: &[Index]) -> Result<(), TestCaseError> {
    let events = K::events();
    let mut booking = K::created();
    for (count, pick) in (0..).zip(picks) {
        let now = NOW.plus_ms(count);
        if let Ok(transition) = booking.clone().apply(pick.get(&events).clone(), now) {
            prop_assert_eq!(transition.booking.version, booking.version + 1);
            booking = transition.booking;
        }
        K::check_purchases(&booking)?;
        for payment in &booking.payments {
            let refunds = payment.refunds.iter().map(|refund| refund.amount.minor);
            prop_assert!(
                refunds.sum::<i64>() <= payment.amount.minor,
                "refunds exceed the captured amount"
            );
            let outcome = K::outcome(&booking, payment);
            match payment.state {
                PaymentState::Capturing(_) | PaymentState::Captured => prop_assert!(
                    matches!(outcome, Outcome::Confirmed) || payment.refundable().is_zero(),
                    "money was captured before the supplier's confirmation"
                ),
                PaymentState::Authorized | PaymentState::Authorizing(_) => prop_assert!(
                    !matches!(outcome, Outcome::Failed),
                    "money stays authorized after the booking or purchase ended"
                ),
                _ => {}
            }
        }
    }
    Ok(())
}

#[test]
fn booking_id_is_parsed_from_its_references() {
    let booking = BookingId::from_bits(7);
    let payment = payment_client_reference(&booking, &[], &PaymentId::from_bits(1), "authorize", 0);
    for reference in [booking.as_str(), &payment, &format!("{booking}-c1")] {
        assert_eq!(booking_id_from_reference(reference), Some(booking.clone()));
    }
    for other in ["", "-", "bkg_", "bkg_-1", "ord_1", "pay_1-1", "bkg_a b"] {
        assert_eq!(booking_id_from_reference(other), None, "{other}");
    }
}

#[test]
fn membership_number_is_masked_except_its_end() {
    for (number, shown) in [
        ("AB-1234567", "******4567"),
        ("12345", "***45"),
        ("1234", "**34"),
        ("1", "*"),
        ("", ""),
        ("******4567", "******4567"),
    ] {
        assert_eq!(mask_membership_number(number), shown);
    }
}
