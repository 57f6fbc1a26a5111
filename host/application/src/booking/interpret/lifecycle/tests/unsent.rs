//! What a call means that sent nothing.

use super::*;

on_both_kinds![
    /// The first call may have arrived, whatever the outcome of the resend.
    unsent_resend_leaves_the_booking_unknown,
    unsent_cancellation_is_not_repeated_before_the_time_that_the_supplier_states,
    cancellation_refused_for_the_account_is_sent_again_a_limited_number_of_times,
];

mod check {
    use super::*;

    pub(super) fn unsent_resend_leaves_the_booking_unknown<K: SampleKind>() {
        let booking = K::completing(repeated(0, 9_000));
        for error in unsent().into_iter().chain([unasked()]) {
            let interpretation = interpret(|context| book_response(&booking, Err(error), context));
            assert_eq!(interpretation.outcome, CallOutcome::Unknown);
            // Nobody said anything about the first call, so that this is no evidence.
            let unresolved = BookingEvent::BookUnresolved {
                next_at: Timestamp(14_000),
                absence: None,
            };
            assert_eq!(interpretation.event, unresolved);
        }
    }

    pub(super) fn unsent_cancellation_is_not_repeated_before_the_time_that_the_supplier_states<
        K: SampleKind,
    >() {
        let booking = K::canceling(sent(9_000));
        let limited = |retry_after_s| ChangeError::RateLimited { retry_after_s };
        // The schedule repeats after 30 s.
        for (error, wait_s) in [
            (limited(Some(3_600)), 3_600),
            (limited(Some(7)), 30),
            (limited(None), 30),
            (ChangeError::Overloaded, 30),
        ] {
            let shown = format!("{error:?}");
            let interpretation =
                interpret(|context| cancel_response(&booking, Err(error), context));
            let retry_at = NOW.plus_s(wait_s);
            let expected = BookingEvent::CancelNotSent { retry_at };
            assert_eq!(interpretation.event, expected, "{shown}");
        }
    }

    pub(super) fn cancellation_refused_for_the_account_is_sent_again_a_limited_number_of_times<
        K: SampleKind,
    >() {
        let resend = |call: RemoteCall, _| call.schedule_retry(NOW).mark_sent(NOW, NOW);
        for (retries, event) in [(7, "cancel_not_sent"), (8, "cancel_refused")] {
            let booking = K::canceling((0..retries).fold(sent(9_000), resend));
            let refused = || Err(refused(RefusalReason::Account));
            let interpretation = interpret(|context| cancel_response(&booking, refused(), context));
            assert_eq!(named(&interpretation).0, event);
        }
    }
}
