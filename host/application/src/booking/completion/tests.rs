use super::*;
use crate::booking::interpret::tests::SampleKind;
use host_domain::booking::BookingState;
use host_domain::flight::FlightBookingDetails;
use host_domain::supplier::{ChangeError, FailureReason};

/// Returns the outcome of a run after which the booking waits for the payer again.
fn outcome_of_run(
    collector: PaymentCollector,
    findings: &RunFindings,
) -> CompletionOutcome<FlightBookingDetails> {
    let mut booking = FlightBookingDetails::sample(BookingState::ReadyForComplete);
    booking.payment_collector = collector;
    CompletionOutcome::from_booking(booking, findings)
}

/// The payer may have paid at the supplier's checkout. Only the supplier says that they did not.
#[test]
fn booking_paid_at_the_supplier_is_unpaid_only_if_the_supplier_says_so() {
    let findings = RunFindings::default();
    for collector in [PaymentCollector::Supplier, PaymentCollector::Gateway] {
        let outcome = outcome_of_run(collector, &findings);
        let is_unsent = matches!(outcome, CompletionOutcome::NotSent { .. });
        assert!(is_unsent && !outcome.is_final(), "{outcome:?}");
    }
    let findings = RunFindings::default();
    findings.record_incomplete_checkout();
    let outcome = outcome_of_run(PaymentCollector::Supplier, &findings);
    let is_unpaid = matches!(
        outcome,
        CompletionOutcome::PaymentFailed {
            requires_action: false,
            ..
        }
    );
    assert!(is_unpaid, "{outcome:?}");
}

/// The caller learns when a repeat may succeed, or that it cannot without help.
#[test]
fn unsent_booking_has_the_cause_of_every_error_that_sends_nothing() {
    let requires_correction = ChangeError::NotSent(FailureReason::requiring_correction("no grant"));
    let retry_after_s = Some(3_600);
    for (error, expected) in [
        (requires_correction, Some(NotSentCause::RequiresCorrection)),
        (
            ChangeError::NotSent("no connection".into()),
            Some(NotSentCause::Temporary),
        ),
        (
            ChangeError::RateLimited { retry_after_s },
            Some(NotSentCause::RateLimited { retry_after_s }),
        ),
        (ChangeError::Overloaded, Some(NotSentCause::Temporary)),
        (
            ChangeError::Unsupported,
            Some(NotSentCause::RequiresCorrection),
        ),
        (ChangeError::Unknown("slow".into()), None),
    ] {
        let cause = NotSentCause::of_change(&error);
        assert_eq!(cause, expected, "{error:?}");
        let Some(cause) = cause else { continue };
        let findings = RunFindings::default();
        findings.record_not_sent(cause);
        let outcome = outcome_of_run(PaymentCollector::Gateway, &findings);
        let CompletionOutcome::NotSent { cause: told, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(told, cause);
    }
}
