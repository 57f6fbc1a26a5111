//! Tables of suppliers' responses and what each means, for both kinds of booking. The most
//! important rule: only a definite refusal counts as a refusal.

use super::*;
use crate::booking::aggregate::SupplierResponse;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, SampleKind, absent, consistent, euros, interpret, interpret_with, lost, named,
    pending, refusal, refused, refused_resend, repeated, sent, unasked, unknown, unsent,
};
use crate::booking::interpret::{CallOutcome, SupplierGuarantees};
use crate::booking::steps::execute::interpret_response;
use host_domain::booking::{AbsenceRecheck, BookingState, BookingStep, Named, PaymentCollector};
use host_domain::flight::FlightBookingDetails;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use host_domain::hotel::supplier_api::SupplierRoom;
use host_domain::remote_call::AbsenceEvidence;
use host_domain::supplier::ReadError;
use host_domain::supplier::SupplierBookingStatus as Status;
use serde_json::json;

macro_rules! on_both_kinds {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {
        $(#[test]
        $(#[$attribute])*
        fn $name() {
            check::$name::<HotelBookingDetails>();
            check::$name::<FlightBookingDetails>();
        })*
    };
}

mod canceled;
mod unsent;

on_both_kinds![
    booking_is_refused_only_by_a_definite_refusal,
    missing_booking_is_unknown_before_two_late_lookups,
    second_late_lookup_proves_that_nothing_was_booked,
    failed_booking_is_looked_up_until_the_schedule_ends,
    /// The payer has paid at the supplier's checkout or is about to. A missing booking does not end
    /// the workflow.
    missing_booking_paid_at_the_supplier_is_resent_or_stays_unknown,
    /// The first call may have booked, and then the resend is refused.
    refused_resend_ends_the_booking_only_if_a_lookup_confirms_it,
    confirmed_refusal_of_a_resend_is_the_reason_of_the_failure,
    cancellation_succeeds_only_if_the_supplier_shows_it,
    confirmed_booking_is_interpreted_by_the_state_of_its_cancellation,
    accepted_cancellation_is_refused_only_if_two_lookups_apart_show_the_booking,
    failed_refresh_is_scheduled_again,
];

fn failed() -> Status {
    Status::Failed(refusal(RefusalReason::Unavailable))
}

mod check {
    use super::*;

    pub(super) fn booking_is_refused_only_by_a_definite_refusal<K: SampleKind>() {
        use RefusalReason as R;
        let booking = K::completing(sent(9_000));
        let definite = [
            R::Unavailable,
            R::Expired,
            R::PriceChanged(euros(110)),
            R::TermsChanged,
            R::PaymentDeclined,
            R::Invalid,
            R::Account,
            R::Other("no".into()),
        ];
        let definite = definite.map(|reason| Err(refused(reason)));
        let definite = definite
            .into_iter()
            .chain([Ok(K::reported(failed()))])
            .map(|response| (response, ("book_refused", CallOutcome::Refused)));
        let partly_canceled = match K::CAN_CANCEL_PARTIALLY {
            true => "book_confirmed",
            false => "book_accepted",
        };
        let succeeded = [
            (Status::Confirmed, "book_confirmed"),
            (Status::PartiallyCanceled, partly_canceled),
            (Status::Pending, "book_accepted"),
            (Status::CancelPending, "book_accepted"),
        ];
        let succeeded = succeeded
            .map(|(status, event)| (Ok(K::reported(status)), (event, CallOutcome::Succeeded)));
        let unresolved = ("book_unresolved", CallOutcome::Unknown);
        let not_completed = ("checkout_not_completed", CallOutcome::Refused);
        let others = [
            (Err(refused(R::PaymentRequired)), not_completed),
            (Err(refused(R::Duplicate)), unresolved),
            (Err(unknown()), unresolved),
        ];
        let not_sent = unsent()
            .into_iter()
            .chain([ChangeError::Unsupported, unasked()]);
        let not_sent = not_sent.map(|error| (Err(error), ("book_not_sent", CallOutcome::NotSent)));
        let cases = definite.chain(succeeded).chain(others).chain(not_sent);
        for (response, expected) in cases {
            let shown = format!("{response:?}");
            let interpretation = interpret(|context| book_response(&booking, response, context));
            assert_eq!(named(&interpretation), expected, "{shown}");
        }
    }

    pub(super) fn missing_booking_is_unknown_before_two_late_lookups<K: SampleKind>() {
        let at = |ms: i64| Some(Timestamp(ms));
        let limited = |after_ms, call_ms_max| SupplierGuarantees {
            call_ms_max,
            ..consistent(Some(after_ms))
        };
        // The lookup is made at 10 s. The schedule has 5 s and 15 s after the call was sent.
        for (call, guarantees, absent_at, next_at) in [
            (sent(0), consistent(None), None, 15_000),
            // The supplier has to show the booking 10 s after the end of the call.
            (sent(0), consistent(Some(10_000)), at(10_000), 15_000),
            (sent(0), consistent(Some(10_001)), None, 10_001),
            // The call may have been executed when it ended, and no sooner.
            (
                lost(5_000, 9_000),
                consistent(Some(1_000)),
                at(10_000),
                15_000,
            ),
            (lost(5_000, 9_500), consistent(Some(1_000)), None, 10_500),
            // After a crash, the lookup at 5 s ended nothing.
            (lost(0, 5_000), limited(2_000, 4_000), at(10_000), 15_000),
            (lost(0, 5_000), limited(2_000, 4_001), None, 10_002),
            // The supplier may work on the call for as long as a call may last.
            (lost(0, 1_000), limited(5_000, 4_000), at(10_000), 15_000),
            (lost(0, 1_000), limited(5_000, 20_000), None, 15_000),
            // After a crash, the call may have lasted as long as one may.
            (sent(0), limited(2_000, 4_000), at(10_000), 15_000),
            (sent(0), limited(2_000, 4_001), None, 10_002),
            // The second lookup is not made within the delay of the first one.
            (lost(0, 1_000), limited(9_000, 0), at(10_000), 15_000),
            (
                absent(lost(0, 1_000), 7_000),
                limited(4_000, 0),
                None,
                12_000,
            ),
            (
                absent(lost(0, 1_000), 4_000),
                limited(7_000, 0),
                None,
                11_000,
            ),
            // The supplier had accepted the call. Not finding it now is a contradiction, not a
            // refusal.
            (pending(0), REPEATABLE, None, 15_000),
            (pending(0), consistent(Some(0)), None, 15_000),
        ] {
            let shown = format!("{call:?}, {guarantees:?}");
            let interpretation = not_found::<K>(call, guarantees, NOW);
            let unresolved = BookingEvent::BookUnresolved {
                next_at: Timestamp(next_at),
                absence: absent_at.map(AbsenceEvidence::from_lookup),
            };
            assert_eq!(interpretation.event, unresolved, "{shown}");
            assert_eq!(interpretation.outcome, CallOutcome::Unknown, "{shown}");
        }
    }

    pub(super) fn second_late_lookup_proves_that_nothing_was_booked<K: SampleKind>() {
        let second = |guarantees| not_found::<K>(absent(lost(0, 1_000), 5_000), guarantees, NOW);
        let proven = second(consistent(Some(5_000)));
        let not_executed = ("book_not_executed", CallOutcome::Refused);
        assert_eq!(named(&proven), not_executed);
        let BookingEvent::BookNotExecuted { recheck_at, .. } = proven.event else {
            panic!("{:?}", proven.event);
        };
        assert_eq!(recheck_at, Some(Timestamp(610_000)));
        let too_soon = second(consistent(Some(5_001)));
        assert_eq!(too_soon.event.name(), "book_unresolved");
        let repeated = not_found::<K>(sent(0), REPEATABLE, NOW);
        assert_eq!(repeated.event.name(), "book_resend_scheduled");
        let lost = lost(5_000, 9_000);
        let asked_early = not_found::<K>(lost, consistent(Some(1_000)), Timestamp(9_999));
        let (next_at, absence) = (Timestamp(10_000), None);
        assert_eq!(
            asked_early.event,
            BookingEvent::BookUnresolved { next_at, absence },
            "the request was made too early, although its response came late enough"
        );
        let failed = interpret_with(consistent(Some(0)), |context| {
            let response = Err(ReadError::TimedOut("late".into()));
            book_lookup(&K::completing(sent(0)), response, context)
        });
        let unresolved = BookingEvent::BookUnresolved {
            next_at: Timestamp(15_000),
            absence: None,
        };
        assert_eq!(failed.event, unresolved);
    }

    /// Interprets a lookup that was made at `requested_at` and found no booking.
    fn not_found<K: SampleKind>(
        call: RemoteCall,
        guarantees: SupplierGuarantees,
        requested_at: Timestamp,
    ) -> Interpretation<BookingEvent<K>> {
        interpret_with(guarantees, |context| {
            let mut context = *context;
            context.schedules.requested_at = requested_at;
            book_lookup(&K::completing(call), Ok(BookingLookup::NotFound), &context)
        })
    }

    pub(super) fn failed_booking_is_looked_up_until_the_schedule_ends<K: SampleKind>() {
        let found = |status| Ok(BookingLookup::Found(Box::new(K::reported(status))));
        let lookup = |failed_at: i64, response| {
            let absence = AbsenceRecheck {
                failed_at: Timestamp(failed_at),
                due_at: Some(NOW),
                orphan: None,
            };
            let absence = Some(absence);
            let booking = K::sample(BookingState::Failed { absence });
            interpret(|context| absence_recheck(&booking, response, context))
        };
        let next = |failed_at, response| match lookup(failed_at, response).event {
            BookingEvent::AbsenceRechecked { next_at } => next_at,
            other => panic!("{other:?}"),
        };
        // The schedule has 10 minutes and 1 hour after the failure.
        let (minutes_ago, hour_ago) = (NOW.0 - 600_000, NOW.0 - 3_600_000);
        let in_an_hour = Some(Timestamp(minutes_ago).plus_s(3600));
        assert_eq!(next(minutes_ago, Ok(BookingLookup::NotFound)), in_an_hour);
        assert_eq!(next(minutes_ago, found(Status::Canceled)), in_an_hour);
        assert_eq!(next(minutes_ago, found(failed())), in_an_hour);
        assert_eq!(next(hour_ago, Ok(BookingLookup::NotFound)), None);
        // A lookup without a result is never the last one.
        let slow = || Err(ReadError::TimedOut("slow".into()));
        let later = Some(NOW.plus_s(15));
        assert_eq!(next(minutes_ago, slow()), later);
        assert_eq!(next(hour_ago, slow()), later);
        for status in [
            Status::Pending,
            Status::Confirmed,
            Status::PartiallyCanceled,
            Status::CancelPending,
        ] {
            let orphan = lookup(hour_ago, found(status));
            assert_eq!(named(&orphan), ("orphan_found", CallOutcome::Unknown));
            assert_eq!(orphan.reference.as_deref(), Some("S1"));
        }
        let orphan = lookup(hour_ago, found(Status::Confirmed));
        let evidence = "found at the supplier after the booking failed: confirmed, reference S1, read at 1970-01-01T00:00:10.000Z";
        assert_eq!(orphan.evidence, evidence);
    }

    pub(super) fn missing_booking_paid_at_the_supplier_is_resent_or_stays_unknown<K: SampleKind>() {
        let long_ago = -60 * 60 * 1000;
        let both = SupplierGuarantees {
            supports_idempotent_resend: true,
            ..consistent(Some(0))
        };
        let resent = "book_resend_scheduled";
        let refused_for = |reason| refused_resend(0, 5_000, ResendRefusal::Supplier(reason));
        let sold_out = || refused_for(RefusalReason::Unavailable);
        let unpaid = || refused_for(RefusalReason::PaymentRequired);
        for (call, guarantees, event) in [
            (sent(0), consistent(Some(0)), "book_unresolved"),
            (sent(0), consistent(None), "book_unresolved"),
            (sent(0), both, resent),
            (repeated(0, 9_000), REPEATABLE, resent),
            (repeated(long_ago + 10_001, 9_000), both, resent),
            (repeated(long_ago + 10_000, 9_000), both, "book_unresolved"),
            // The resend was refused, and nothing was found since.
            (sold_out(), REPEATABLE, "book_unresolved"),
            (sold_out(), both, "book_unresolved"),
            // The supplier says that the payer has not paid.
            (unpaid(), REPEATABLE, "checkout_not_completed"),
            (unpaid(), consistent(Some(5_000)), "checkout_not_completed"),
            (unpaid(), consistent(Some(5_001)), "book_unresolved"),
        ] {
            let booking = Booking {
                payment_collector: PaymentCollector::Supplier,
                ..K::completing(call)
            };
            let interpretation = interpret_with(guarantees, |context| {
                book_lookup(&booking, Ok(BookingLookup::NotFound), context)
            });
            assert_eq!(interpretation.event.name(), event, "{guarantees:?}");
        }
    }

    pub(super) fn refused_resend_ends_the_booking_only_if_a_lookup_confirms_it<K: SampleKind>() {
        use RefusalReason as R;
        let resent = || repeated(0, 9_000);
        let booking = K::completing(resent());
        for (reason, is_evidence) in [
            (R::Unavailable, true),
            (R::PriceChanged(euros(110)), true),
            (R::PaymentDeclined, true),
            (R::PaymentRequired, true),
            // The state of the account says nothing about the first call.
            (R::Account, false),
        ] {
            let evidence = is_evidence.then(|| {
                let refusal = ResendRefusal::Supplier(reason.clone());
                AbsenceEvidence::from_refusal(NOW, refusal)
            });
            let unresolved = BookingEvent::BookUnresolved {
                next_at: Timestamp(14_000),
                absence: evidence,
            };
            let response = Err(refused(reason));
            let refused = interpret(|context| book_response(&booking, response, context));
            assert_eq!(refused.event, unresolved);
        }
        let found = Ok(BookingLookup::Found(Box::new(K::reported(
            Status::Confirmed,
        ))));
        let booking = K::completing(absent(resent(), 9_500));
        let lookup = interpret(|context| book_lookup(&booking, found, context));
        assert_eq!(lookup.event.name(), "book_confirmed");
        let limited = |call_ms_max| SupplierGuarantees {
            call_ms_max,
            ..REPEATABLE
        };
        for (refused_at, call_ms_max, event) in [
            (5_000, 0, "book_not_executed"),
            (5_001, 0, "book_unresolved"),
            (0, 500, "book_not_executed"),
            // The first call may still be running.
            (0, 501, "book_unresolved"),
        ] {
            let call = absent(resent(), refused_at);
            let lookup = not_found::<K>(call, limited(call_ms_max), NOW);
            assert_eq!(lookup.event.name(), event, "{refused_at} {call_ms_max}");
        }
    }

    pub(super) fn confirmed_refusal_of_a_resend_is_the_reason_of_the_failure<K: SampleKind>() {
        use RefusalReason as R;
        let refused_for = |reason| {
            let call = refused_resend(0, 5_000, ResendRefusal::Supplier(reason));
            not_found::<K>(call, REPEATABLE, NOW)
        };
        for (reason, description) in [
            (R::Unavailable, K::TEXTS.sold_out),
            (R::Expired, "The supplier no longer accepts the offer."),
            (
                R::PaymentDeclined,
                "The supplier could not take the payment.",
            ),
        ] {
            let lookup = refused_for(reason);
            let not_executed = BookingEvent::BookNotExecuted {
                failure: Failure::new("book_failed", description),
                recheck_at: Some(Timestamp(610_000)),
            };
            assert_eq!(lookup.event, not_executed);
            assert_eq!(lookup.outcome, CallOutcome::Refused);
        }
        let unpaid = refused_for(R::PaymentRequired);
        let not_completed = ("checkout_not_completed", CallOutcome::Refused);
        assert_eq!(named(&unpaid), not_completed);
    }

    pub(super) fn cancellation_succeeds_only_if_the_supplier_shows_it<K: SampleKind>() {
        let booking = K::canceling(sent(9_000));
        let unresolved = ("cancel_unresolved", CallOutcome::Unknown);
        let accepted = ("cancel_accepted", CallOutcome::Succeeded);
        let refused_event = ("cancel_refused", CallOutcome::Refused);
        let succeeded = ("cancel_succeeded", CallOutcome::Succeeded);
        let not_sent = ("cancel_not_sent", CallOutcome::NotSent);
        let reported = [
            (Status::Canceled, succeeded),
            (Status::CancelPending, accepted),
            (Status::Pending, accepted),
            (Status::Confirmed, unresolved),
            // The rooms that are being cancelled are still booked.
            (Status::PartiallyCanceled, unresolved),
            (failed(), unresolved),
        ];
        let reported = reported.map(|(status, expected)| (Ok(K::reported(status)), expected));
        let errors = [
            (Err(refused(RefusalReason::NotCancellable)), refused_event),
            (Err(ChangeError::Unsupported), refused_event),
            (Err(unasked()), refused_event),
            // The supplier refuses the gateway's account, for example during a token rotation.
            (Err(refused(RefusalReason::Account)), not_sent),
            (Err(unknown()), unresolved),
        ];
        let unsent = unsent().map(|error| (Err(error), not_sent));
        for (response, expected) in reported.into_iter().chain(errors).chain(unsent) {
            let shown = format!("{response:?}");
            let interpretation = interpret(|context| cancel_response(&booking, response, context));
            assert_eq!(named(&interpretation), expected, "{shown}");
        }
    }

    pub(super) fn confirmed_booking_is_interpreted_by_the_state_of_its_cancellation<
        K: SampleKind,
    >() {
        let found = |status| Ok(BookingLookup::Found(Box::new(K::reported(status))));
        for (call, guarantees, event) in [
            (
                absent(sent(0), 5_000),
                consistent(Some(1_000)),
                "cancel_not_executed",
            ),
            (
                absent(sent(0), 5_001),
                consistent(Some(1_000)),
                "cancel_unresolved",
            ),
            (sent(0), consistent(Some(1_000)), "cancel_unresolved"),
            (sent(9_900), consistent(Some(1_000)), "cancel_unresolved"),
            (sent(0), consistent(None), "cancel_unresolved"),
            (sent(0), REPEATABLE, "cancel_unresolved"),
        ] {
            let booking = K::canceling(call);
            let interpretation = interpret_with(guarantees, |context| {
                cancel_lookup(&booking, found(Status::Confirmed), context)
            });
            assert_eq!(interpretation.event.name(), event, "{guarantees:?}");
        }
        let interpretation = interpret_with(consistent(Some(1_000)), |context| {
            let partly_canceled = found(Status::PartiallyCanceled);
            let booking = K::canceling(absent(sent(0), 5_000));
            cancel_lookup(&booking, partly_canceled, context)
        });
        let expected = match K::CAN_CANCEL_PARTIALLY {
            true => "cancel_not_executed",
            false => "cancel_unresolved",
        };
        assert_eq!(interpretation.event.name(), expected);
        let booking = K::canceling(sent(0));
        for response in [
            Ok(BookingLookup::NotFound),
            Err(ReadError::TimedOut("slow".into())),
        ] {
            let shown = format!("{response:?}");
            let interpretation = interpret_with(consistent(Some(0)), |context| {
                cancel_lookup(&booking, response, context)
            });
            assert_eq!(interpretation.event.name(), "cancel_unresolved", "{shown}");
        }
    }

    pub(super) fn accepted_cancellation_is_refused_only_if_two_lookups_apart_show_the_booking<
        K: SampleKind,
    >() {
        const UNRESOLVED: &str = "cancel_unresolved";
        const REFUSED: &str = "cancel_refused";
        let found = || {
            Ok(BookingLookup::Found(Box::new(K::reported(
                Status::Confirmed,
            ))))
        };
        for (call, guarantees, event) in [
            (pending(0), consistent(None), UNRESOLVED),
            (
                pending(0).mark_unresolved(Timestamp(5_000), NOW),
                consistent(None),
                UNRESOLVED,
            ),
            // Two lookups at the first delay of the schedule are as far apart as was declared.
            (absent(pending(0), 5_000), consistent(Some(0)), REFUSED),
            (absent(pending(0), 5_001), consistent(Some(0)), UNRESOLVED),
            // Reads of which nothing is declared may be outdated for 6 s here.
            (absent(pending(0), 4_000), consistent(None), REFUSED),
            (absent(pending(0), 4_001), consistent(None), UNRESOLVED),
            (absent(pending(0), 4_000), consistent(Some(6_000)), REFUSED),
            (
                absent(pending(0), 4_000),
                consistent(Some(6_001)),
                UNRESOLVED,
            ),
            (
                absent(pending(0), 4_000).mark_accepted(Timestamp(7_000), NOW),
                consistent(None),
                UNRESOLVED,
            ),
        ] {
            let booking = K::canceling(call);
            let interpretation = interpret_with(guarantees, |context| {
                cancel_lookup(&booking, found(), context)
            });
            assert_eq!(interpretation.event.name(), event, "{guarantees:?}");
        }
        // The supplier accepted the cancellation at 5 s, so that its reads count from 11 s on.
        let early = interpret_with(consistent(None), |context| {
            cancel_lookup(&K::canceling(pending(5_000)), found(), context)
        });
        let too_early = BookingEvent::CancelUnresolved {
            next_at: Timestamp(11_000),
            absence: None,
        };
        assert_eq!(early.event, too_early);
        let first = interpret_with(consistent(Some(2_000)), |context| {
            cancel_lookup(&K::canceling(pending(0)), found(), context)
        });
        let unresolved = BookingEvent::CancelUnresolved {
            next_at: Timestamp(15_000),
            absence: Some(AbsenceEvidence::from_lookup(NOW)),
        };
        assert_eq!(first.event, unresolved);
    }

    pub(super) fn failed_refresh_is_scheduled_again<K: SampleKind>() {
        let booking = K::confirmed(Some(pending(0)));
        let found = BookingLookup::Found(Box::new(K::reported(Status::Confirmed)));
        for (response, event) in [
            (Ok(found), "refreshed"),
            (Ok(BookingLookup::NotFound), "refresh_failed"),
            (Err(ReadError::TimedOut("slow".into())), "refresh_failed"),
        ] {
            let shown = format!("{response:?}");
            let interpretation = interpret(|context| refresh_response(&booking, response, context));
            assert_eq!(interpretation.event.name(), event, "{shown}");
            if let BookingEvent::RefreshFailed { next_at } = interpretation.event {
                assert!(next_at > NOW);
            }
        }
    }
}

/// Returns a booking of one room, which is being cancelled.
fn canceling_room() -> HotelBooking {
    let mut booking = HotelBookingDetails::canceling(sent(9_000));
    let rooms = json!([{
        "id": "room_1",
        "name": "Double",
        "board": "room_only",
        "board_name": "Room only",
        "adults": 1,
        "children": [],
        "total": euros(100),
        "guests": [],
    }]);
    booking.details.rooms = serde_json::from_value(rooms).unwrap();
    let cancellations = json!([{
        "id": "cxl_1",
        "status": "IN_PROGRESS",
        "room_ids": ["room_1"],
        "is_partial": true,
        "created_at": NOW,
    }]);
    booking.details.cancellations = serde_json::from_value(cancellations).unwrap();
    booking
}

#[test]
fn partial_cancellation_succeeds_once_its_rooms_are_released() {
    let booking = canceling_room();
    for (is_released, event) in [(true, "cancel_succeeded"), (false, "cancel_unresolved")] {
        let mut reported = HotelBookingDetails::reported(Status::PartiallyCanceled);
        reported.rooms = vec![SupplierRoom {
            position: 0,
            supplier_room_reference: None,
            hotel_confirmation_code: None,
            canceled: is_released,
        }];
        let interpretation = interpret(|context| cancel_response(&booking, Ok(reported), context));
        assert_eq!(interpretation.event.name(), event);
    }
}

/// Asserts that a booking that was bound at 1 EUR is confirmed at this total, with this evidence.
fn assert_confirmed<K: SampleKind>(reported: &K::SupplierBooking, evidence: &str) {
    let booking = K::completing(sent(0));
    let found = BookingLookup::Found(Box::new(reported.clone()));
    for (step, response) in [
        (
            BookingStep::Book,
            SupplierResponse::Change(Ok(reported.clone())),
        ),
        (
            BookingStep::FindBooking,
            SupplierResponse::Lookup(Ok(found)),
        ),
    ] {
        let read = interpret(|context| interpret_response(&booking, &step, response, context));
        assert_eq!(named(&read), ("book_confirmed", CallOutcome::Succeeded));
        assert_eq!(read.evidence, evidence);
    }
}

#[test]
fn booking_at_another_total_stays_confirmed_and_tells_both_totals() {
    let deviation = "confirmed; SANDBOX booked at 1.01 EUR, but bound at 1.00 EUR";
    let mut hotel = HotelBookingDetails::reported(Status::Confirmed);
    let mut flight = FlightBookingDetails::reported(Status::Confirmed);
    assert_confirmed::<HotelBookingDetails>(&hotel, "confirmed");
    assert_confirmed::<FlightBookingDetails>(&flight, "confirmed");
    (hotel.total, flight.total) = (euros(101), euros(101));
    assert_confirmed::<HotelBookingDetails>(&hotel, deviation);
    assert_confirmed::<FlightBookingDetails>(&flight, deviation);
}
