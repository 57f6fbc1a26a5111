//! What a processor's answers mean for a payment.

#[cfg(test)]
mod tests;

use crate::flow::judge::{
    Absence, Interpretation, NOT_FOUND, CallOutcome, SupplierGuarantees, REPEATED, ScheduleContext, absence, judged,
    may_have_happened,
};
use host_domain::id::RefundId;
use host_domain::leg::RemoteCall;
use host_domain::payment::{
    DeclineReason, Payment, PaymentError, PaymentEvent, PaymentState, ProcessorPayment, ProcessorPaymentStatus,
};
use host_domain::supplier::ReadError;

fn payment_leg(payment: &Payment) -> Option<&RemoteCall> {
    match &payment.state {
        PaymentState::Authorizing(leg)
        | PaymentState::Capturing(leg)
        | PaymentState::Voiding(leg) => Some(leg),
        PaymentState::RequiresAction
        | PaymentState::Authorized
        | PaymentState::Captured
        | PaymentState::Voided
        | PaymentState::Failed => None,
    }
}

/// The answer to an authorization.
pub(crate) fn authorize_response(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match answer {
        Ok(state) => held(payment, state, times),
        Err(PaymentError::Declined(decline)) => judged(
            PaymentEvent::Declined(decline),
            CallOutcome::Rejected,
            "declined",
        ),
        Err(PaymentError::Refused(why)) => judged(
            PaymentEvent::Declined(DeclineReason::Other),
            CallOutcome::Rejected,
            why,
        ),
        Err(PaymentError::NotSent(why)) if may_have_happened(payment_leg(payment)) => {
            check(payment, times, why)
        }
        Err(PaymentError::NotSent(why)) => judged(PaymentEvent::NotAuthorized, CallOutcome::NotSent, why),
        // Read back at once, within the caller's own call.
        Err(PaymentError::Unknown(why)) => judged(
            PaymentEvent::Unresolved { next_at: times.now },
            CallOutcome::Unknown,
            why,
        ),
    }
}

fn held(payment: &Payment, state: ProcessorPayment, times: ScheduleContext<'_>) -> Interpretation<PaymentEvent> {
    let reference = state.processor_reference.clone();
    let judgement = match state.status {
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured
            if state.authorized == payment.amount || state.captured == payment.amount =>
        {
            let event = PaymentEvent::Authorized {
                processor_reference: reference.clone(),
                card: state.card,
            };
            judged(event, CallOutcome::Succeeded, "held")
        }
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured => {
            // Neither the hold that was asked for nor none at all: a person has to look.
            let next_at = times.recheck(payment_leg(payment));
            judged(
                PaymentEvent::Unresolved { next_at },
                CallOutcome::Unknown,
                "another amount is held than asked for",
            )
        }
        ProcessorPaymentStatus::RequiresAction => {
            let decline = if payment.is_browser_payment() {
                DeclineReason::NotCompleted
            } else {
                DeclineReason::RequiresAction
            };
            judged(
                PaymentEvent::Declined(decline),
                CallOutcome::Rejected,
                "the payer has to act",
            )
        }
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => judged(
            PaymentEvent::Declined(DeclineReason::Other),
            CallOutcome::Rejected,
            "declined",
        ),
    };
    judgement.with_reference(&reference)
}

/// The answer to taking what is held.
pub(crate) fn capture_response(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let leg = payment_leg(payment);
    let again = |why: String, outcome| {
        judged(
            PaymentEvent::StepFailed {
                retry_at: times.retry(leg),
            },
            outcome,
            why,
        )
    };
    match answer {
        Ok(state) if state.status == ProcessorPaymentStatus::Captured => {
            judged(PaymentEvent::Captured, CallOutcome::Succeeded, "captured")
                .with_reference(&state.processor_reference)
        }
        Ok(_) => again("not captured".to_owned(), CallOutcome::Rejected),
        Err(error @ (PaymentError::Declined(_) | PaymentError::Refused(_))) => {
            again(error.to_string(), CallOutcome::Rejected)
        }
        Err(PaymentError::NotSent(why)) => again(why, CallOutcome::NotSent),
        Err(PaymentError::Unknown(why)) => judged(
            PaymentEvent::Unresolved {
                next_at: times.recheck(leg),
            },
            CallOutcome::Unknown,
            why,
        ),
    }
}

/// The answer to releasing what is held.
pub(crate) fn void_response(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let leg = payment_leg(payment);
    let check = |why: String| {
        judged(
            PaymentEvent::Unresolved {
                next_at: times.recheck(leg),
            },
            CallOutcome::Unknown,
            why,
        )
    };
    match answer {
        Ok(state) if state.status == ProcessorPaymentStatus::Voided => {
            judged(PaymentEvent::Voided, CallOutcome::Succeeded, "released")
                .with_reference(&state.processor_reference)
        }
        Ok(_) => check("not released yet".to_owned()),
        // Perhaps it is released already, or was never held: reading tells.
        Err(
            error @ (PaymentError::Declined(_)
            | PaymentError::Refused(_)
            | PaymentError::Unknown(_)),
        ) => check(error.to_string()),
        Err(PaymentError::NotSent(why)) => judged(
            PaymentEvent::StepFailed {
                retry_at: times.retry(leg),
            },
            CallOutcome::NotSent,
            why,
        ),
    }
}

/// What reading back a payment found; none: the processor knows nothing of it.
pub(crate) fn payment_lookup(
    payment: &Payment,
    answer: Result<Option<ProcessorPayment>, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let leg = payment_leg(payment);
    let state = match answer {
        Ok(state) => state,
        Err(error) => return check(payment, times, error.to_string()),
    };
    let Some(state) = state else {
        return not_found(payment, absence(leg, promises, times), times);
    };
    match &payment.state {
        PaymentState::Capturing(_) => found_capturing(payment, state.status, times),
        PaymentState::Voiding(_) => found_voiding(payment, state.status, times),
        PaymentState::Authorizing(_)
        | PaymentState::RequiresAction
        | PaymentState::Authorized
        | PaymentState::Captured
        | PaymentState::Voided
        | PaymentState::Failed => held(payment, state, times),
    }
}

fn not_found(payment: &Payment, absence: Absence, times: ScheduleContext<'_>) -> Interpretation<PaymentEvent> {
    let never = "read back: never asked for";
    match (absence, &payment.state) {
        (Absence::Proof, PaymentState::Authorizing(_)) => {
            judged(PaymentEvent::NotAuthorized, CallOutcome::NotSent, never)
        }
        (Absence::Proof, PaymentState::Voiding(_)) => {
            judged(PaymentEvent::Voided, CallOutcome::NotSent, never)
        }
        // Of a payment by the browser there is no call to repeat.
        (Absence::Repeat, PaymentState::Authorizing(_)) if !payment.is_browser_payment() => {
            let at = times.recheck(payment_leg(payment));
            judged(PaymentEvent::ResendScheduled { at }, CallOutcome::NotSent, REPEATED)
        }
        (Absence::Proof | Absence::Repeat | Absence::Nothing, _) => {
            check(payment, times, NOT_FOUND)
        }
    }
}

fn found_capturing(
    payment: &Payment,
    status: ProcessorPaymentStatus,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match status {
        ProcessorPaymentStatus::Captured => {
            judged(PaymentEvent::Captured, CallOutcome::Succeeded, "read back: captured")
        }
        ProcessorPaymentStatus::Authorized => again(times, "read back: still held"),
        ProcessorPaymentStatus::RequiresAction | ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => {
            check(payment, times, "read back: nothing is held")
        }
    }
}

fn found_voiding(
    payment: &Payment,
    status: ProcessorPaymentStatus,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match status {
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => {
            judged(PaymentEvent::Voided, CallOutcome::Succeeded, "read back: released")
        }
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::RequiresAction => {
            again(times, "read back: still held")
        }
        ProcessorPaymentStatus::Captured => check(
            payment,
            times,
            "read back: taken, though it was to be released",
        ),
    }
}

/// Nobody knows; look again later.
fn check(payment: &Payment, times: ScheduleContext<'_>, why: impl Into<String>) -> Interpretation<PaymentEvent> {
    let next_at = times.recheck(payment_leg(payment));
    judged(PaymentEvent::Unresolved { next_at }, CallOutcome::Unknown, why)
}

/// It is known not to have happened; try again at once.
fn again(times: ScheduleContext<'_>, why: &str) -> Interpretation<PaymentEvent> {
    let retry_at = times.now;
    judged(PaymentEvent::StepFailed { retry_at }, CallOutcome::NotSent, why)
}

/// The answer to giving money back.
pub(crate) fn refund_response(
    payment: &Payment,
    refund: &RefundId,
    answer: Result<String, PaymentError>,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let leg = refund_leg(payment, refund);
    let again = |why: String, outcome| {
        let event = PaymentEvent::RefundFailed {
            refund: refund.clone(),
            retry_at: times.retry(leg),
        };
        judged(event, outcome, why)
    };
    match answer {
        Ok(reference) => judged(
            PaymentEvent::Refunded(refund.clone()),
            CallOutcome::Succeeded,
            "refunded",
        )
        .with_reference(&reference),
        Err(error @ (PaymentError::Declined(_) | PaymentError::Refused(_))) => {
            again(error.to_string(), CallOutcome::Rejected)
        }
        Err(PaymentError::NotSent(why)) if !may_have_happened(leg) => again(why, CallOutcome::NotSent),
        Err(PaymentError::NotSent(why) | PaymentError::Unknown(why)) => {
            let event = PaymentEvent::RefundUnresolved {
                refund: refund.clone(),
                next_at: times.recheck(leg),
            };
            judged(event, CallOutcome::Unknown, why)
        }
    }
}

fn refund_leg<'a>(payment: &'a Payment, refund: &RefundId) -> Option<&'a RemoteCall> {
    payment
        .refunds
        .iter()
        .find(|known| known.id == *refund)
        .and_then(|known| known.call.as_ref())
}

/// What reading back a refund found.
pub(crate) fn refund_lookup(
    payment: &Payment,
    refund: &RefundId,
    answer: Result<bool, ReadError>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let leg = refund_leg(payment, refund);
    let check = |why: String| {
        let event = PaymentEvent::RefundUnresolved {
            refund: refund.clone(),
            next_at: times.recheck(leg),
        };
        judged(event, CallOutcome::Unknown, why)
    };
    match answer {
        Ok(true) => judged(
            PaymentEvent::Refunded(refund.clone()),
            CallOutcome::Succeeded,
            "read back: refunded",
        ),
        Ok(false) => match absence(leg, promises, times) {
            Absence::Proof => {
                let event = PaymentEvent::RefundFailed {
                    refund: refund.clone(),
                    retry_at: times.now,
                };
                judged(event, CallOutcome::NotSent, "read back: never asked for")
            }
            Absence::Repeat => {
                let event = PaymentEvent::RefundResendScheduled {
                    refund: refund.clone(),
                    at: times.recheck(leg),
                };
                judged(event, CallOutcome::NotSent, REPEATED)
            }
            Absence::Nothing => check(NOT_FOUND.to_owned()),
        },
        Err(error) => check(error.to_string()),
    }
}
