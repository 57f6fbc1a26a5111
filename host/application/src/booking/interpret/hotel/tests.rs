//! Tables of a hotel supplier's responses and what each means. The most important rule: only a
//! definite refusal counts as a refusal.
#![expect(clippy::too_many_lines, reason = "a table has one entry for each case")]

use super::*;
use crate::booking::interpret::tests::{
    NOW, consistent, euros, judge, lost, pending, refusal, sent,
};
use host_domain::booking::PaymentCollector;
use host_domain::hotel::booking::Event as E;
use host_domain::hotel::types::{Contact, HotelSummary, Occupancy, Stay};
use host_domain::id::{BookingId, CancellationId, HotelId, RefundId};
use host_domain::money::Currency;
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::supplier::SupplierId;
use host_domain::time::Date;

fn completing(book: RemoteCall) -> Booking {
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
        payment_collector: PaymentCollector::Gateway,
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

fn state(status: SupplierBookingStatus) -> SupplierBooking {
    SupplierBooking {
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

#[test]
fn booking_is_refused_only_by_a_definite_refusal() {
    use ChangeError as C;
    use RefusalReason as R;
    for (answer, event, outcome) in [
        (
            Ok(state(SupplierBookingStatus::Confirmed)),
            "book_confirmed",
            CallOutcome::Succeeded,
        ),
        (
            Ok(state(SupplierBookingStatus::PartiallyCanceled)),
            "book_confirmed",
            CallOutcome::Succeeded,
        ),
        (
            Ok(state(SupplierBookingStatus::Pending)),
            "book_accepted",
            CallOutcome::Succeeded,
        ),
        (
            Ok(state(SupplierBookingStatus::CancelPending)),
            "book_accepted",
            CallOutcome::Succeeded,
        ),
        (
            Ok(state(SupplierBookingStatus::Canceled)),
            "book_refused",
            CallOutcome::Rejected,
        ),
        (
            Ok(state(SupplierBookingStatus::Failed(refusal(
                R::Unavailable,
            )))),
            "book_refused",
            CallOutcome::Rejected,
        ),
        (
            Err(C::Refused(refusal(R::Unavailable))),
            "book_refused",
            CallOutcome::Rejected,
        ),
        (
            Err(C::Refused(refusal(R::PriceChanged(euros(120))))),
            "book_refused",
            CallOutcome::Rejected,
        ),
        (
            Err(C::Refused(refusal(R::Account))),
            "book_refused",
            CallOutcome::Rejected,
        ),
        (
            Err(C::Refused(refusal(R::PaymentRequired))),
            "checkout_not_completed",
            CallOutcome::Rejected,
        ),
        (
            Err(C::Refused(refusal(R::Duplicate))),
            "book_unresolved",
            CallOutcome::Unknown,
        ),
        (
            Err(C::NotSent("refused".into())),
            "book_not_sent",
            CallOutcome::NotSent,
        ),
        (Err(C::Overloaded), "book_not_sent", CallOutcome::NotSent),
        (Err(C::Unsupported), "book_not_sent", CallOutcome::NotSent),
        (
            Err(C::Unknown("timed out".into())),
            "book_unresolved",
            CallOutcome::Unknown,
        ),
    ] {
        let shown = format!("{answer:?}");
        let judgement = judge(|times| book_response(&completing(sent(9_000)), answer, times));
        assert_eq!(
            (judgement.event.name(), judgement.outcome),
            (event, outcome),
            "{shown}"
        );
    }
}

#[test]
fn missing_booking_is_refused_only_after_reads_are_consistent() {
    for (leg, consistent_after_ms, event) in [
        (sent(9_500), Some(1_000), "book_unresolved"),
        (sent(9_000), Some(1_000), "book_refused"),
        (sent(0), None, "book_unresolved"),
        // The call may have been executed when it ended, and no sooner.
        (lost(0, 9_500), Some(1_000), "book_unresolved"),
        (lost(0, 9_000), Some(1_000), "book_refused"),
        // The supplier had accepted the call. Not finding it now is a contradiction, not a refusal.
        (pending(0), Some(1_000), "book_unresolved"),
    ] {
        let judgement = judge(|times| {
            book_lookup(
                &completing(leg.clone()),
                Ok(BookingLookup::NotFound),
                consistent(consistent_after_ms),
                times,
            )
        });
        assert_eq!(
            judgement.event.name(),
            event,
            "{leg:?}, {consistent_after_ms:?}"
        );
    }
    let asked_early = judge(|times| {
        let times = times.with_requested_at(Timestamp(9_999));
        let promises = consistent(Some(1_000));
        book_lookup(
            &completing(lost(0, 9_000)),
            Ok(BookingLookup::NotFound),
            promises,
            times,
        )
    });
    assert_eq!(
        asked_early.event.name(),
        "book_unresolved",
        "the request was made too early, although its response came late enough"
    );
    let failed = judge(|times| {
        book_lookup(
            &completing(sent(0)),
            Err(ReadError::TimedOut("late".into())),
            consistent(Some(0)),
            times,
        )
    });
    assert_eq!(
        failed.event,
        E::BookUnresolved {
            next_at: Timestamp(15_000)
        }
    );
}

#[test]
fn cancellation_succeeds_only_if_the_supplier_shows_it() {
    use ChangeError as C;
    let canceling = |leg: RemoteCall| {
        let mut booking = completing(sent(0));
        booking.state = State::CancelInProgress {
            previous: host_domain::hotel::booking::BookedState::Confirmed,
            cancellation: host_domain::id::CancellationId::from_bits(1),
            cancel: leg,
        };
        booking
    };
    let refund = || RefundId::from_bits(1);
    for (answer, event) in [
        (
            Ok(state(SupplierBookingStatus::Canceled)),
            "cancel_succeeded",
        ),
        (
            Ok(state(SupplierBookingStatus::CancelPending)),
            "cancel_accepted",
        ),
        (
            Ok(state(SupplierBookingStatus::Confirmed)),
            "cancel_unresolved",
        ),
        (
            Err(C::Refused(refusal(RefusalReason::NotCancellable))),
            "cancel_refused",
        ),
        (Err(C::NotSent("refused".into())), "cancel_not_sent"),
        (Err(C::Unknown("cut".into())), "cancel_unresolved"),
        (Err(C::Unsupported), "cancel_refused"),
    ] {
        let judgement = judge(|times| {
            cancel_response(&canceling(sent(9_000)), answer.clone(), refund(), times)
        });
        assert_eq!(judgement.event.name(), event, "{answer:?}");
    }
    let still_there = || {
        Ok(BookingLookup::Found(Box::new(state(
            SupplierBookingStatus::Confirmed,
        ))))
    };
    for (leg, consistent_after_ms, event) in [
        (pending(0), None, "cancel_refused"),
        (sent(0), Some(1_000), "cancel_not_executed"),
        (sent(9_900), Some(1_000), "cancel_unresolved"),
        (sent(0), None, "cancel_unresolved"),
    ] {
        let judgement = judge(|times| {
            cancel_lookup(
                &canceling(leg.clone()),
                still_there(),
                refund(),
                consistent(consistent_after_ms),
                times,
            )
        });
        assert_eq!(judgement.event.name(), event, "{leg:?}");
    }
}

#[test]
fn failed_refresh_of_a_booking_is_scheduled_again() {
    let mut booking = completing(pending(0));
    booking.state = State::Confirmed {
        refresh: Some(pending(0)),
    };
    let read = BookingLookup::Found(Box::new(state(SupplierBookingStatus::Confirmed)));
    let (cancellation, refund) = (CancellationId::from_bits(1), RefundId::from_bits(1));
    for (answer, event) in [
        (Ok(read), "refreshed"),
        (Ok(BookingLookup::NotFound), "refresh_failed"),
        (Err(ReadError::TimedOut("slow".into())), "refresh_failed"),
    ] {
        let judgement = judge(|times| {
            refresh_response(
                &booking,
                answer.clone(),
                cancellation.clone(),
                refund.clone(),
                times,
            )
        });
        assert_eq!(judgement.event.name(), event, "{answer:?}");
        if let Event::RefreshFailed { next_at } = judgement.event {
            assert!(next_at > NOW);
        }
    }
}
