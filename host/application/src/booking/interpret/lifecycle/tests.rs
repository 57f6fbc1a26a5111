//! Tables of suppliers' responses and what each means, for both kinds of booking. The most
//! important rule: only a definite refusal counts as a refusal.

use super::*;
use crate::booking::interpret::tests::{
    NOW, REPEATABLE, SampleKind, consistent, euros, interpret, interpret_with, lost, named,
    pending, refusal, refused, repeated, sent, unknown, unsent,
};
use crate::booking::interpret::{CallOutcome, SupplierGuarantees};
use host_domain::booking::{Named, PaymentCollector};
use host_domain::flight::FlightBookingDetails;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use host_domain::hotel::supplier_api::SupplierRoom;
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

on_both_kinds![
    booking_is_refused_only_by_a_definite_refusal,
    missing_booking_is_refused_only_after_reads_are_consistent,
    /// The payer has paid at the supplier's checkout or is about to. A missing booking does not end
    /// the workflow.
    missing_booking_paid_at_the_supplier_is_resent_or_stays_unknown,
    /// The first call may have arrived, whatever the outcome of the resend.
    unsent_resend_leaves_the_booking_unknown,
    cancellation_succeeds_only_if_the_supplier_shows_it,
    confirmed_booking_is_interpreted_by_the_state_of_its_cancellation,
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
            .chain([Ok(K::reported(Status::Canceled)), Ok(K::reported(failed()))])
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
        let not_sent = unsent().into_iter().chain([ChangeError::Unsupported]);
        let not_sent = not_sent.map(|error| (Err(error), ("book_not_sent", CallOutcome::NotSent)));
        let cases = definite.chain(succeeded).chain(others).chain(not_sent);
        for (response, expected) in cases {
            let shown = format!("{response:?}");
            let interpretation = interpret(|context| book_response(&booking, response, context));
            assert_eq!(named(&interpretation), expected, "{shown}");
        }
    }

    pub(super) fn missing_booking_is_refused_only_after_reads_are_consistent<K: SampleKind>() {
        for (call, guarantees, event) in [
            (sent(0), consistent(None), "book_unresolved"),
            (sent(0), consistent(Some(10_001)), "book_unresolved"),
            (sent(0), consistent(Some(10_000)), "book_refused"),
            // The call may have been executed when it ended, and no sooner.
            (lost(0, 9_500), consistent(Some(1_000)), "book_unresolved"),
            (lost(0, 9_000), consistent(Some(1_000)), "book_refused"),
            (sent(0), REPEATABLE, "book_resend_scheduled"),
            // The supplier had accepted the call. Not finding it now is a contradiction, not a
            // refusal.
            (pending(0), REPEATABLE, "book_unresolved"),
            (pending(0), consistent(Some(0)), "book_unresolved"),
        ] {
            let booking = K::completing(call);
            let interpretation = interpret_with(guarantees, |context| {
                book_lookup(&booking, Ok(BookingLookup::NotFound), context)
            });
            assert_eq!(interpretation.event.name(), event, "{guarantees:?}");
        }
        let asked_early = interpret_with(consistent(Some(1_000)), |context| {
            let mut context = *context;
            context.schedules.requested_at = Timestamp(9_999);
            let booking = K::completing(lost(0, 9_000));
            book_lookup(&booking, Ok(BookingLookup::NotFound), &context)
        });
        assert_eq!(
            asked_early.event.name(),
            "book_unresolved",
            "the request was made too early, although its response came late enough"
        );
        let failed = interpret_with(consistent(Some(0)), |context| {
            let response = Err(ReadError::TimedOut("late".into()));
            book_lookup(&K::completing(sent(0)), response, context)
        });
        let next_at = Timestamp(15_000);
        assert_eq!(failed.event, BookingEvent::BookUnresolved { next_at });
    }

    pub(super) fn missing_booking_paid_at_the_supplier_is_resent_or_stays_unknown<K: SampleKind>() {
        let long_ago = -60 * 60 * 1000;
        let both = SupplierGuarantees {
            supports_idempotent_retry: true,
            ..consistent(Some(0))
        };
        let resent = "book_resend_scheduled";
        for (call, guarantees, event) in [
            (sent(0), consistent(Some(0)), "book_unresolved"),
            (sent(0), consistent(None), "book_unresolved"),
            (sent(0), both, resent),
            (repeated(0, 9_000), REPEATABLE, resent),
            (repeated(long_ago + 10_001, 9_000), both, resent),
            (repeated(long_ago + 10_000, 9_000), both, "book_unresolved"),
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

    pub(super) fn unsent_resend_leaves_the_booking_unknown<K: SampleKind>() {
        let booking = K::completing(repeated(0, 9_000));
        for error in unsent() {
            let interpretation = interpret(|context| book_response(&booking, Err(error), context));
            let unresolved = ("book_unresolved", CallOutcome::Unknown);
            assert_eq!(named(&interpretation), unresolved);
        }
    }

    pub(super) fn cancellation_succeeds_only_if_the_supplier_shows_it<K: SampleKind>() {
        let booking = K::canceling(sent(9_000));
        let unresolved = ("cancel_unresolved", CallOutcome::Unknown);
        let accepted = ("cancel_accepted", CallOutcome::Succeeded);
        let refused_event = ("cancel_refused", CallOutcome::Refused);
        let succeeded = ("cancel_succeeded", CallOutcome::Succeeded);
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
            (Err(unknown()), unresolved),
        ];
        let not_sent =
            unsent().map(|error| (Err(error), ("cancel_not_sent", CallOutcome::NotSent)));
        for (response, expected) in reported.into_iter().chain(errors).chain(not_sent) {
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
            (pending(0), consistent(None), "cancel_refused"),
            (sent(0), consistent(Some(1_000)), "cancel_not_executed"),
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
            cancel_lookup(&K::canceling(sent(0)), partly_canceled, context)
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
