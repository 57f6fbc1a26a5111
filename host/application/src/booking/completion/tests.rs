use super::*;
use crate::booking::interpret::tests::SampleKind;
use host_domain::booking::BookingState;
use host_domain::flight::FlightBookingDetails;
use host_domain::supplier::FailureReason;

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
    findings.record_not_sent(&FailureReason::needing_help("no grant"));
    for collector in [PaymentCollector::Supplier, PaymentCollector::Gateway] {
        let outcome = outcome_of_run(collector, &findings);
        let is_unsent = matches!(
            outcome,
            CompletionOutcome::NotSent {
                needs_help: true,
                ..
            }
        );
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
