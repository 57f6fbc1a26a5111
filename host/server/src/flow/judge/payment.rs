//! What a processor's answers mean for a payment.

#[cfg(test)]
mod tests;

use crate::flow::judge::{
    Absence, Judgement, NOT_FOUND, Outcome, Promises, REPEATED, Times, absence, judged,
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
pub(crate) fn authorized(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
    match answer {
        Ok(state) => held(payment, state, times),
        Err(PaymentError::Declined(decline)) => judged(
            PaymentEvent::Declined(decline),
            Outcome::Refused,
            "declined",
        ),
        Err(PaymentError::Refused(why)) => judged(
            PaymentEvent::Declined(DeclineReason::Other),
            Outcome::Refused,
            why,
        ),
        Err(PaymentError::NotSent(why)) if may_have_happened(payment_leg(payment)) => {
            check(payment, times, why)
        }
        Err(PaymentError::NotSent(why)) => judged(PaymentEvent::NotAuthorized, Outcome::NotSent, why),
        // Read back at once, within the caller's own call.
        Err(PaymentError::Unknown(why)) => judged(
            PaymentEvent::Unresolved { next_at: times.now },
            Outcome::Unknown,
            why,
        ),
    }
}

fn held(payment: &Payment, state: ProcessorPayment, times: Times<'_>) -> Judgement<PaymentEvent> {
    let reference = state.processor_reference.clone();
    let judgement = match state.status {
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured
            if state.authorized == payment.amount || state.captured == payment.amount =>
        {
            let event = PaymentEvent::Authorized {
                processor_reference: reference.clone(),
                card: state.card,
            };
            judged(event, Outcome::Done, "held")
        }
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured => {
            // Neither the hold that was asked for nor none at all: a person has to look.
            let next_at = times.recheck(payment_leg(payment));
            judged(
                PaymentEvent::Unresolved { next_at },
                Outcome::Unknown,
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
                Outcome::Refused,
                "the payer has to act",
            )
        }
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => judged(
            PaymentEvent::Declined(DeclineReason::Other),
            Outcome::Refused,
            "declined",
        ),
    };
    judgement.with_reference(&reference)
}

/// The answer to taking what is held.
pub(crate) fn captured(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
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
            judged(PaymentEvent::Captured, Outcome::Done, "captured")
                .with_reference(&state.processor_reference)
        }
        Ok(_) => again("not captured".to_owned(), Outcome::Refused),
        Err(error @ (PaymentError::Declined(_) | PaymentError::Refused(_))) => {
            again(error.to_string(), Outcome::Refused)
        }
        Err(PaymentError::NotSent(why)) => again(why, Outcome::NotSent),
        Err(PaymentError::Unknown(why)) => judged(
            PaymentEvent::Unresolved {
                next_at: times.recheck(leg),
            },
            Outcome::Unknown,
            why,
        ),
    }
}

/// The answer to releasing what is held.
pub(crate) fn voided(
    payment: &Payment,
    answer: Result<ProcessorPayment, PaymentError>,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
    let leg = payment_leg(payment);
    let check = |why: String| {
        judged(
            PaymentEvent::Unresolved {
                next_at: times.recheck(leg),
            },
            Outcome::Unknown,
            why,
        )
    };
    match answer {
        Ok(state) if state.status == ProcessorPaymentStatus::Voided => {
            judged(PaymentEvent::Voided, Outcome::Done, "released")
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
            Outcome::NotSent,
            why,
        ),
    }
}

/// What reading back a payment found; none: the processor knows nothing of it.
pub(crate) fn found_payment(
    payment: &Payment,
    answer: Result<Option<ProcessorPayment>, ReadError>,
    promises: Promises,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
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

fn not_found(payment: &Payment, absence: Absence, times: Times<'_>) -> Judgement<PaymentEvent> {
    let never = "read back: never asked for";
    match (absence, &payment.state) {
        (Absence::Proof, PaymentState::Authorizing(_)) => {
            judged(PaymentEvent::NotAuthorized, Outcome::NotSent, never)
        }
        (Absence::Proof, PaymentState::Voiding(_)) => {
            judged(PaymentEvent::Voided, Outcome::NotSent, never)
        }
        // Of a payment by the browser there is no call to repeat.
        (Absence::Repeat, PaymentState::Authorizing(_)) if !payment.is_browser_payment() => {
            let at = times.recheck(payment_leg(payment));
            judged(PaymentEvent::ResendScheduled { at }, Outcome::NotSent, REPEATED)
        }
        (Absence::Proof | Absence::Repeat | Absence::Nothing, _) => {
            check(payment, times, NOT_FOUND)
        }
    }
}

fn found_capturing(
    payment: &Payment,
    status: ProcessorPaymentStatus,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
    match status {
        ProcessorPaymentStatus::Captured => {
            judged(PaymentEvent::Captured, Outcome::Done, "read back: captured")
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
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
    match status {
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => {
            judged(PaymentEvent::Voided, Outcome::Done, "read back: released")
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
fn check(payment: &Payment, times: Times<'_>, why: impl Into<String>) -> Judgement<PaymentEvent> {
    let next_at = times.recheck(payment_leg(payment));
    judged(PaymentEvent::Unresolved { next_at }, Outcome::Unknown, why)
}

/// It is known not to have happened; try again at once.
fn again(times: Times<'_>, why: &str) -> Judgement<PaymentEvent> {
    let retry_at = times.now;
    judged(PaymentEvent::StepFailed { retry_at }, Outcome::NotSent, why)
}

/// The answer to giving money back.
pub(crate) fn refunded(
    payment: &Payment,
    refund: &RefundId,
    answer: Result<String, PaymentError>,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
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
            Outcome::Done,
            "refunded",
        )
        .with_reference(&reference),
        Err(error @ (PaymentError::Declined(_) | PaymentError::Refused(_))) => {
            again(error.to_string(), Outcome::Refused)
        }
        Err(PaymentError::NotSent(why)) if !may_have_happened(leg) => again(why, Outcome::NotSent),
        Err(PaymentError::NotSent(why) | PaymentError::Unknown(why)) => {
            let event = PaymentEvent::RefundUnresolved {
                refund: refund.clone(),
                next_at: times.recheck(leg),
            };
            judged(event, Outcome::Unknown, why)
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
pub(crate) fn found_refund(
    payment: &Payment,
    refund: &RefundId,
    answer: Result<bool, ReadError>,
    promises: Promises,
    times: Times<'_>,
) -> Judgement<PaymentEvent> {
    let leg = refund_leg(payment, refund);
    let check = |why: String| {
        let event = PaymentEvent::RefundUnresolved {
            refund: refund.clone(),
            next_at: times.recheck(leg),
        };
        judged(event, Outcome::Unknown, why)
    };
    match answer {
        Ok(true) => judged(
            PaymentEvent::Refunded(refund.clone()),
            Outcome::Done,
            "read back: refunded",
        ),
        Ok(false) => match absence(leg, promises, times) {
            Absence::Proof => {
                let event = PaymentEvent::RefundFailed {
                    refund: refund.clone(),
                    retry_at: times.now,
                };
                judged(event, Outcome::NotSent, "read back: never asked for")
            }
            Absence::Repeat => {
                let event = PaymentEvent::RefundResendScheduled {
                    refund: refund.clone(),
                    at: times.recheck(leg),
                };
                judged(event, Outcome::NotSent, REPEATED)
            }
            Absence::Nothing => check(NOT_FOUND.to_owned()),
        },
        Err(error) => check(error.to_string()),
    }
}
