//! Every answer of a supplier or processor, and what it means. The rule that
//! matters most: only a definite no is a no.
#![expect(clippy::too_many_lines, reason = "a table is as long as what it lists")]

use super::*;
use host_domain::hotel::booking::{Event as E, Settlement};
use host_domain::hotel::offer::{Contact, HotelSummary, Occupancy, Stay};
use host_domain::id::{BookingId, HotelId, InstrumentId, PaymentId};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::Instrument;
use host_domain::payment::{
    Decline, Payment, PaymentError, PaymentState, ProcessorState, ProcessorStatus,
};
use host_domain::supplier::SupplierId;
use host_domain::time::Date;

const NOW: Timestamp = Timestamp(10_000);

fn schedules() -> (Schedule, Schedule) {
    (Schedule::new(vec![5, 15]), Schedule::new(vec![30]))
}

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn completing(book: Leg) -> Booking {
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
        hotel: HotelSummary {
            supplier_hotel_id: "OK".into(),
            name: "H".into(),
            address: "A".into(),
            location: None,
            time_zone: None,
        },
        reference_id: None,
        supplier_offer: "o".into(),
        supplier_prebook: Some("p".into()),
        supplier_reference: None,
        stay: Stay {
            check_in: date(1),
            check_out: date(2),
            occupancies: vec![Occupancy {
                adults: 1,
                children: vec![],
            }],
            guest_nationality: "DE".into(),
            guest_residence: None,
            currency: Currency::parse("EUR").unwrap(),
        },
        contact: Contact {
            first_name: "A".into(),
            last_name: "L".into(),
            email: "a@example.org".into(),
            phone: "+491".into(),
        },
        rooms: vec![],
        total: euros(100),
        policy: None,
        promotions: vec![],
        loyalty: None,
        use_payment_sdk: false,
        settlement: Settlement::Gateway,
        hotel_confirmation_code: None,
        hotel_remarks: None,
        offer_expires_at: Timestamp(1_000_000),
        state: State::CompleteInProgress { book },
        payments: vec![],
        cancellations: vec![],
        failure: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        confirmed_at: None,
        canceled_at: None,
    }
}

fn sent(since: i64) -> Leg {
    Leg::due(Timestamp(since)).sent(Timestamp(since), Timestamp(since + 5000))
}

fn pending(since: i64) -> Leg {
    sent(since).pending(Timestamp(since), Timestamp(since + 5000))
}

fn state(status: BookingStatus) -> BookingState {
    BookingState {
        status,
        supplier_reference: "S1".into(),
        client_reference: None,
        total: euros(100),
        hotel_confirmation_code: None,
        remarks: None,
        rooms: vec![],
        policy: None,
        cancellation: None,
    }
}

fn refusal(reason: RefusalReason) -> Refusal {
    Refusal {
        reason,
        supplier_code: None,
        message: "no".into(),
    }
}

fn judge<T>(with: impl FnOnce(Times<'_>) -> T) -> T {
    let (reconcile, capture_retry) = schedules();
    with(Times {
        now: NOW,
        reconcile: &reconcile,
        capture_retry: &capture_retry,
    })
}

#[test]
fn only_a_definite_no_to_a_booking_is_a_no() {
    use ChangeError as C;
    use RefusalReason as R;
    for (answer, event, outcome) in [
        (
            Ok(state(BookingStatus::Confirmed)),
            "book_confirmed",
            Outcome::Done,
        ),
        (
            Ok(state(BookingStatus::PartiallyCanceled)),
            "book_confirmed",
            Outcome::Done,
        ),
        (
            Ok(state(BookingStatus::Pending)),
            "book_pending",
            Outcome::Done,
        ),
        (
            Ok(state(BookingStatus::CancelPending)),
            "book_pending",
            Outcome::Done,
        ),
        (
            Ok(state(BookingStatus::Canceled)),
            "book_refused",
            Outcome::Refused,
        ),
        (
            Ok(state(BookingStatus::Failed(refusal(R::Unavailable)))),
            "book_refused",
            Outcome::Refused,
        ),
        (
            Err(C::Refused(refusal(R::Unavailable))),
            "book_refused",
            Outcome::Refused,
        ),
        (
            Err(C::Refused(refusal(R::PriceChanged(euros(120))))),
            "book_refused",
            Outcome::Refused,
        ),
        (
            Err(C::Refused(refusal(R::Account))),
            "book_refused",
            Outcome::Refused,
        ),
        (
            Err(C::Refused(refusal(R::PaymentRequired))),
            "checkout_not_completed",
            Outcome::Refused,
        ),
        (
            Err(C::Refused(refusal(R::Duplicate))),
            "book_checked",
            Outcome::Unknown,
        ),
        (
            Err(C::NotSent("refused".into())),
            "book_not_sent",
            Outcome::NotSent,
        ),
        (Err(C::Overloaded), "book_not_sent", Outcome::NotSent),
        (Err(C::Unsupported), "book_not_sent", Outcome::NotSent),
        (
            Err(C::Unknown("timed out".into())),
            "book_checked",
            Outcome::Unknown,
        ),
    ] {
        let shown = format!("{answer:?}");
        let judgement = judge(|times| booked(&completing(sent(9_000)), answer, times));
        assert_eq!(
            (judgement.event.name(), judgement.outcome),
            (event, outcome),
            "{shown}"
        );
    }
}

#[test]
fn not_found_is_proof_only_where_reads_are_consistent_and_late_enough() {
    for (leg, consistent_after_ms, event) in [
        (sent(9_500), Some(1_000), "book_checked"),
        (sent(9_000), Some(1_000), "book_refused"),
        (sent(0), None, "book_checked"),
        // The supplier had accepted it: not finding it now is a contradiction, not a no.
        (pending(0), Some(1_000), "book_checked"),
    ] {
        let judgement = judge(|times| {
            found(
                &completing(leg.clone()),
                Ok(Found::Nothing),
                consistent_after_ms,
                times,
            )
        });
        assert_eq!(
            judgement.event.name(),
            event,
            "{leg:?}, {consistent_after_ms:?}"
        );
    }
    let failed = judge(|times| {
        found(
            &completing(sent(0)),
            Err(ReadError::TimedOut("late".into())),
            Some(0),
            times,
        )
    });
    assert_eq!(
        failed.event,
        E::BookChecked {
            next_at: Timestamp(15_000)
        }
    );
}

#[test]
fn a_cancellation_is_done_only_when_the_supplier_shows_it() {
    use ChangeError as C;
    let canceling = |leg: Leg| {
        let mut booking = completing(sent(0));
        booking.state = State::CancelInProgress {
            before: host_domain::hotel::booking::Held::Confirmed,
            cancellation: host_domain::id::CancellationId::from_bits(1),
            cancel: leg,
        };
        booking
    };
    let refund = || RefundId::from_bits(1);
    for (answer, event) in [
        (Ok(state(BookingStatus::Canceled)), "cancel_done"),
        (Ok(state(BookingStatus::CancelPending)), "cancel_pending"),
        (Ok(state(BookingStatus::Confirmed)), "cancel_checked"),
        (
            Err(C::Refused(refusal(RefusalReason::NotCancellable))),
            "cancel_refused",
        ),
        (Err(C::NotSent("refused".into())), "cancel_not_sent"),
        (Err(C::Unknown("cut".into())), "cancel_checked"),
        (Err(C::Unsupported), "cancel_refused"),
    ] {
        let judgement =
            judge(|times| canceled(&canceling(sent(9_000)), answer.clone(), refund(), times));
        assert_eq!(judgement.event.name(), event, "{answer:?}");
    }
    let still_there = || Ok(Found::Booking(Box::new(state(BookingStatus::Confirmed))));
    for (leg, consistent, event) in [
        (pending(0), None, "cancel_refused"),
        (sent(0), Some(1_000), "cancel_lost"),
        (sent(9_900), Some(1_000), "cancel_checked"),
        (sent(0), None, "cancel_checked"),
    ] {
        let judgement = judge(|times| {
            found_canceling(
                &canceling(leg.clone()),
                still_there(),
                refund(),
                consistent,
                times,
            )
        });
        assert_eq!(judgement.event.name(), event, "{leg:?}");
    }
}

fn paying(payment_state: PaymentState) -> Payment {
    let processor = SupplierId::parse("CARDS").unwrap();
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: processor.clone(),
        token: "t".into(),
        card: None,
        created_at: NOW,
    };
    let payment = Payment::to_authorize(
        PaymentId::from_bits(1),
        euros(100),
        processor,
        &instrument,
        NOW,
    );
    Payment {
        state: payment_state,
        ..payment
    }
}

fn at_processor(status: ProcessorStatus) -> ProcessorState {
    ProcessorState {
        status,
        processor_reference: "ch_1".into(),
        authorized: euros(100),
        captured: euros(if status == ProcessorStatus::Captured {
            100
        } else {
            0
        }),
        refunded: euros(0),
        card: None,
        expires_at: None,
    }
}

#[test]
fn a_hold_counts_only_when_it_is_the_one_that_was_asked_for() {
    use PaymentError as P;
    let payment = paying(PaymentState::Authorizing(sent(9_000)));
    let other_amount = ProcessorState {
        authorized: euros(50),
        ..at_processor(ProcessorStatus::Authorized)
    };
    for (answer, event) in [
        (
            Ok(at_processor(ProcessorStatus::Authorized)),
            "payment_authorized",
        ),
        (Ok(other_amount), "payment_checked"),
        (
            Ok(at_processor(ProcessorStatus::RequiresAction)),
            "payment_declined",
        ),
        (
            Ok(at_processor(ProcessorStatus::Declined)),
            "payment_declined",
        ),
        (
            Err(P::Declined(Decline::InsufficientFunds)),
            "payment_declined",
        ),
        (Err(P::Refused("bad token".into())), "payment_declined"),
        (Err(P::NotSent("refused".into())), "payment_nothing_held"),
        (Err(P::Unknown("cut".into())), "payment_checked"),
    ] {
        let judgement = judge(|times| authorized(&payment, answer.clone(), times));
        assert_eq!(judgement.event.name(), event, "{answer:?}");
    }
}

#[test]
fn what_is_read_back_of_a_payment_fits_what_was_asked_for() {
    use ProcessorStatus as S;
    let sent = || sent(0);
    for (payment_state, found, consistent, event) in [
        (
            PaymentState::Authorizing(sent()),
            Some(S::Authorized),
            None,
            "payment_authorized",
        ),
        (
            PaymentState::Authorizing(sent()),
            None,
            Some(0),
            "payment_nothing_held",
        ),
        (
            PaymentState::Authorizing(sent()),
            None,
            None,
            "payment_checked",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Captured),
            None,
            "payment_captured",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Authorized),
            None,
            "payment_step_failed",
        ),
        (
            PaymentState::Capturing(sent()),
            Some(S::Voided),
            None,
            "payment_checked",
        ),
        (
            PaymentState::Capturing(sent()),
            None,
            Some(0),
            "payment_checked",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Voided),
            None,
            "payment_voided",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Authorized),
            None,
            "payment_step_failed",
        ),
        (
            PaymentState::Voiding(sent()),
            Some(S::Captured),
            None,
            "payment_checked",
        ),
        (
            PaymentState::Voiding(sent()),
            None,
            Some(0),
            "payment_voided",
        ),
    ] {
        let payment = paying(payment_state.clone());
        let judgement =
            judge(|times| found_payment(&payment, Ok(found.map(at_processor)), consistent, times));
        assert_eq!(
            judgement.event.name(),
            event,
            "{payment_state:?}, {found:?}"
        );
    }
}
