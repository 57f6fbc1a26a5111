//! Interprets a processor's responses.

#[cfg(test)]
mod tests;

use crate::booking::interpret::{
    AbsenceMeaning, CallOutcome, Interpretation, NextLookup, REFUSED_EVIDENCE, RESENT_EVIDENCE,
    ScheduleContext, SupplierGuarantees, classify_absence, may_have_been_executed,
};
use host_domain::id::RefundId;
use host_domain::payment::{
    DeclineReason, Payment, PaymentError, PaymentEvent, PaymentState, ProcessorPayment,
    ProcessorPaymentStatus,
};
use host_domain::remote_call::{RemoteCall, ResendRefusal};
use host_domain::supplier::ReadError;

pub fn authorize_response(
    payment: &Payment,
    response: Result<ProcessorPayment, PaymentError>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let call = payment.state.call();
    match response {
        Ok(state) => authorization_state(payment, state, schedules),
        Err(PaymentError::Declined(decline)) => {
            declined_authorization(call, decline, "declined", schedules)
        }
        Err(PaymentError::Refused(reason)) => {
            declined_authorization(call, DeclineReason::Other, reason, schedules)
        }
        Err(PaymentError::RefusedByAdapter(reason)) if may_have_been_executed(call) => {
            reconcile_later(payment, schedules, reason)
        }
        Err(PaymentError::RefusedByAdapter(reason)) => {
            Interpretation::refused(PaymentEvent::Declined(DeclineReason::Other), reason)
        }
        Err(PaymentError::NotSent(reason)) if may_have_been_executed(call) => {
            reconcile_later(payment, schedules, reason)
        }
        Err(PaymentError::NotSent(reason)) => {
            Interpretation::not_sent(PaymentEvent::NotAuthorized, reason)
        }
        // The payment is reconciled at once, within the caller's own request.
        Err(PaymentError::Unknown(reason)) => Interpretation::unknown(
            PaymentEvent::Unresolved {
                next_at: schedules.now,
                absence: None,
            },
            reason,
        ),
    }
}

fn declined_authorization(
    call: Option<&RemoteCall>,
    decline: DeclineReason,
    evidence: impl Into<String>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    if may_have_been_executed(call) {
        let refusal = ResendRefusal::Processor(decline);
        unresolved(schedules.lookup_after_refusal(call, refusal), evidence)
    } else {
        Interpretation::refused(PaymentEvent::Declined(decline), evidence)
    }
}

fn authorization_state(
    payment: &Payment,
    state: ProcessorPayment,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let reference = state.processor_reference.clone();
    let interpretation = match state.status {
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured
            if state.authorized == payment.amount || state.captured == payment.amount =>
        {
            let event = PaymentEvent::Authorized {
                processor_reference: reference.clone(),
                card: state.card,
            };
            Interpretation::succeeded(event, "held")
        }
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::Captured => {
            // The processor holds neither the requested amount nor nothing, so an operator has to
            // decide.
            let evidence = "a different amount is authorized than was requested";
            reconcile_later(payment, schedules, evidence)
        }
        ProcessorPaymentStatus::RequiresAction => {
            let decline = if payment.is_browser_payment() {
                DeclineReason::NotCompleted
            } else {
                DeclineReason::RequiresAction
            };
            Interpretation::refused(PaymentEvent::Declined(decline), "the payer has to act")
        }
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => {
            let call = payment.state.call();
            let decline = call.and_then(RemoteCall::processor_decline);
            let decline = decline.unwrap_or(DeclineReason::Other);
            Interpretation::refused(PaymentEvent::Declined(decline), "declined")
        }
    };
    interpretation.with_reference(&reference)
}

pub fn capture_response(
    payment: &Payment,
    response: Result<ProcessorPayment, PaymentError>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match response {
        Ok(state) if state.status == ProcessorPaymentStatus::Captured => {
            Interpretation::succeeded(PaymentEvent::Captured, "captured")
                .with_reference(&state.processor_reference)
        }
        // An earlier capture, which was given up, may have been executed meanwhile. The payment is
        // reconciled at once.
        Ok(_) => unresolved(schedules.now, "not captured"),
        Err(
            error @ (PaymentError::Declined(_)
            | PaymentError::Refused(_)
            | PaymentError::RefusedByAdapter(_)),
        ) => unresolved(schedules.now, error.to_string()),
        Err(PaymentError::NotSent(reason)) => retry_later(payment, schedules, reason),
        Err(PaymentError::Unknown(reason)) => reconcile_later(payment, schedules, reason),
    }
}

pub fn void_response(
    payment: &Payment,
    response: Result<ProcessorPayment, PaymentError>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match response {
        Ok(state) if state.status == ProcessorPaymentStatus::Voided => {
            Interpretation::succeeded(PaymentEvent::Voided, "released")
                .with_reference(&state.processor_reference)
        }
        Ok(_) => reconcile_later(payment, schedules, "not voided yet"),
        // The authorization may already be voided, or may never have existed; reconciling shows
        // which.
        Err(
            error @ (PaymentError::Declined(_)
            | PaymentError::Refused(_)
            | PaymentError::RefusedByAdapter(_)
            | PaymentError::Unknown(_)),
        ) => reconcile_later(payment, schedules, error.to_string()),
        Err(PaymentError::NotSent(reason)) => retry_later(payment, schedules, reason),
    }
}

/// Interprets a reconciliation. `None` means that the processor does not know the payment.
pub fn payment_lookup(
    payment: &Payment,
    response: Result<Option<ProcessorPayment>, ReadError>,
    guarantees: SupplierGuarantees,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let call = payment.state.call();
    let state = match response {
        Ok(state) => state,
        Err(error) => return reconcile_later(payment, schedules, error.to_string()),
    };
    let Some(state) = state else {
        return payment_not_found(
            payment,
            classify_absence(call, guarantees, schedules),
            schedules,
        );
    };
    match &payment.state {
        PaymentState::Capturing(_) => capture_lookup(payment, state.status, schedules),
        PaymentState::Voiding(_) => void_lookup(payment, &state, schedules),
        PaymentState::Authorizing(_)
        | PaymentState::RequiresAction
        | PaymentState::Authorized
        | PaymentState::Captured
        | PaymentState::Voided
        | PaymentState::Failed => authorization_state(payment, state, schedules),
    }
}

fn payment_not_found(
    payment: &Payment,
    absence: AbsenceMeaning,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let never = "reconciled: never requested";
    match (absence, &payment.state) {
        (AbsenceMeaning::NeverExecuted, PaymentState::Authorizing(call)) => {
            let event = payment.not_authorized_event();
            match call.processor_decline() {
                Some(_) => Interpretation::refused(event, REFUSED_EVIDENCE),
                None => Interpretation::not_sent(event, never),
            }
        }
        // An authorization of unknown outcome was never made. A payment of a browser has a reference
        // before anything is authorized, and processors may forget one that nobody completed.
        (AbsenceMeaning::NeverExecuted, PaymentState::Voiding(_))
            if payment.processor_reference.is_none() || payment.is_browser_payment() =>
        {
            Interpretation::not_sent(PaymentEvent::Voided, never)
        }
        // A browser payment has no call to resend.
        (AbsenceMeaning::SafeToResend(_), PaymentState::Authorizing(_))
            if !payment.is_browser_payment() =>
        {
            let at = schedules.next_reconcile_at(payment.state.call());
            Interpretation::not_sent(PaymentEvent::ResendScheduled { at }, RESENT_EVIDENCE)
        }
        (AbsenceMeaning::SafeToResend(next) | AbsenceMeaning::Inconclusive(next), _) => {
            let evidence = next.evidence();
            unresolved(next, evidence)
        }
        // The processor lost a payment that it had authorized, so an operator has to decide.
        (AbsenceMeaning::NeverExecuted, _) => {
            reconcile_later(payment, schedules, "reconciled: not found")
        }
    }
}

fn capture_lookup(
    payment: &Payment,
    status: ProcessorPaymentStatus,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match status {
        ProcessorPaymentStatus::Captured => {
            Interpretation::succeeded(PaymentEvent::Captured, "found as captured")
        }
        // Processors that refuse a capture are not asked again without end at short intervals.
        ProcessorPaymentStatus::Authorized => {
            retry_later(payment, schedules, "reconciled: still authorized")
        }
        ProcessorPaymentStatus::RequiresAction
        | ProcessorPaymentStatus::Voided
        | ProcessorPaymentStatus::Declined => {
            reconcile_later(payment, schedules, "reconciled: nothing is authorized")
        }
    }
}

fn void_lookup(
    payment: &Payment,
    state: &ProcessorPayment,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    match state.status {
        ProcessorPaymentStatus::Voided | ProcessorPaymentStatus::Declined => {
            Interpretation::succeeded(PaymentEvent::Voided, "reconciled: voided")
        }
        ProcessorPaymentStatus::Authorized | ProcessorPaymentStatus::RequiresAction => {
            retry_now(schedules, "reconciled: still authorized")
        }
        // A capture that was given up arrived before the void. It can only be refunded.
        ProcessorPaymentStatus::Captured
            if state.captured == payment.amount && state.refunded.is_zero() =>
        {
            let evidence = "reconciled: captured, although it was to be voided; it is refunded";
            Interpretation::refused(PaymentEvent::CapturedDespiteVoid, evidence)
        }
        ProcessorPaymentStatus::Captured => reconcile_later(
            payment,
            schedules,
            "reconciled: captured, although it was to be voided, but not in full or with refunds",
        ),
    }
}

/// Records that the outcome is unknown and schedules the next reconciliation.
fn reconcile_later(
    payment: &Payment,
    schedules: ScheduleContext<'_>,
    evidence: impl Into<String>,
) -> Interpretation<PaymentEvent> {
    unresolved(schedules.next_reconcile_at(payment.state.call()), evidence)
}

fn unresolved(
    next: impl Into<NextLookup>,
    evidence: impl Into<String>,
) -> Interpretation<PaymentEvent> {
    let NextLookup { next_at, absence } = next.into();
    Interpretation::unknown(PaymentEvent::Unresolved { next_at, absence }, evidence)
}

/// Records that the call is known not to have been executed, to be retried later.
fn retry_later(
    payment: &Payment,
    schedules: ScheduleContext<'_>,
    evidence: impl Into<String>,
) -> Interpretation<PaymentEvent> {
    let retry_at = schedules.next_retry_at(payment.state.call());
    Interpretation::not_sent(PaymentEvent::StepFailed { retry_at }, evidence)
}

/// Records that the call is known not to have been executed, to be retried at once.
fn retry_now(schedules: ScheduleContext<'_>, evidence: &str) -> Interpretation<PaymentEvent> {
    let retry_at = schedules.now;
    Interpretation::not_sent(PaymentEvent::StepFailed { retry_at }, evidence)
}

pub fn refund_response(
    payment: &Payment,
    refund: &RefundId,
    response: Result<String, PaymentError>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let call = refund_call(payment, refund);
    let again = |reason: String, outcome| {
        let event = PaymentEvent::RefundFailed {
            refund: refund.clone(),
            retry_at: schedules.next_retry_at(call),
        };
        Interpretation::new(event, outcome, reason)
    };
    let refused = |decline: DeclineReason, reason: String| {
        if may_have_been_executed(call) {
            let refusal = ResendRefusal::Processor(decline);
            let next = schedules.lookup_after_refusal(call, refusal);
            unresolved_refund(refund, next, reason)
        } else {
            again(reason, CallOutcome::Refused)
        }
    };
    match response {
        Ok(reference) => {
            Interpretation::succeeded(PaymentEvent::Refunded(refund.clone()), "refunded")
                .with_reference(&reference)
        }
        Err(PaymentError::Declined(decline)) => refused(decline, "declined".to_owned()),
        Err(PaymentError::Refused(reason)) => refused(DeclineReason::Other, reason),
        Err(PaymentError::RefusedByAdapter(reason)) if !may_have_been_executed(call) => {
            again(reason, CallOutcome::Refused)
        }
        Err(PaymentError::RefusedByAdapter(reason)) => {
            unresolved_refund(refund, schedules.next_reconcile_at(call), reason)
        }
        Err(PaymentError::NotSent(reason)) if !may_have_been_executed(call) => {
            again(reason.message, CallOutcome::NotSent)
        }
        Err(PaymentError::NotSent(reason) | PaymentError::Unknown(reason)) => {
            let next_at = schedules.next_reconcile_at(call);
            unresolved_refund(refund, next_at, reason)
        }
    }
}

fn refund_call<'a>(payment: &'a Payment, refund: &RefundId) -> Option<&'a RemoteCall> {
    payment
        .refunds
        .iter()
        .find(|known| known.id == *refund)
        .and_then(|known| known.call.as_ref())
}

pub fn refund_lookup(
    payment: &Payment,
    refund: &RefundId,
    response: Result<bool, ReadError>,
    guarantees: SupplierGuarantees,
    schedules: ScheduleContext<'_>,
) -> Interpretation<PaymentEvent> {
    let call = refund_call(payment, refund);
    match response {
        Ok(true) => Interpretation::succeeded(
            PaymentEvent::Refunded(refund.clone()),
            "reconciled: refunded",
        ),
        Ok(false) => match classify_absence(call, guarantees, schedules) {
            AbsenceMeaning::NeverExecuted => {
                let decline = call.and_then(RemoteCall::processor_decline);
                let (retry_at, outcome, evidence) = match decline {
                    // A processor that refuses a refund is not asked again at once.
                    Some(_) => {
                        let retry_at = schedules.next_retry_at(call);
                        (retry_at, CallOutcome::Refused, REFUSED_EVIDENCE)
                    }
                    None => {
                        let evidence = "reconciled: never requested";
                        (schedules.now, CallOutcome::NotSent, evidence)
                    }
                };
                let refund = refund.clone();
                let event = PaymentEvent::RefundFailed { refund, retry_at };
                Interpretation::new(event, outcome, evidence)
            }
            AbsenceMeaning::SafeToResend(_) => {
                let event = PaymentEvent::RefundResendScheduled {
                    refund: refund.clone(),
                    at: schedules.next_reconcile_at(call),
                };
                Interpretation::not_sent(event, RESENT_EVIDENCE)
            }
            AbsenceMeaning::Inconclusive(next) => {
                let evidence = next.evidence();
                unresolved_refund(refund, next, evidence)
            }
        },
        Err(error) => {
            let next_at = schedules.next_reconcile_at(call);
            unresolved_refund(refund, next_at, error.to_string())
        }
    }
}

fn unresolved_refund(
    refund: &RefundId,
    next: impl Into<NextLookup>,
    evidence: impl Into<String>,
) -> Interpretation<PaymentEvent> {
    let NextLookup { next_at, absence } = next.into();
    let event = PaymentEvent::RefundUnresolved {
        refund: refund.clone(),
        next_at,
        absence,
    };
    Interpretation::unknown(event, evidence)
}
