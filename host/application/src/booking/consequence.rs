//! Computes the effects of an operator's decision on a booking and its money. The code is pure.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::plan::{PlannedAction, TransitionPlan, plan_transitions};
use crate::booking::resolution::{CallSelector, Resolution, ResolveError, resolution_outcome};
use host_domain::booking::{Booking, BookingStatus, Named};
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentState};
use host_storage::Attempt;
use std::slice;

/// The effects of a decision, computed before it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consequence {
    /// The booking's status right after the decision.
    pub status: BookingStatus,
    pub money: Vec<MoneyEffect>,
    /// Whether a refund remains undecided, so that another decision is needed.
    pub leaves_refund_undecided: bool,
    /// The step that follows at once.
    pub next_step: Option<&'static str>,
}

/// The effect of a decision on a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoneyEffect {
    /// The authorized amount is captured.
    Capture(Money),
    /// The authorized amount is released.
    Release(Money),
    Refund(Money),
    /// The amount counts as authorized.
    CountAsAuthorized(Money),
    /// The amount counts as captured.
    CountAsCaptured(Money),
    /// The amount counts as released.
    CountAsReleased(Money),
    /// The amount counts as refunded.
    CountAsRefunded(Money),
    /// The amount counts as never authorized.
    CountAsNotCharged(Money),
}

/// Returns what a decision about a call does.
///
/// # Errors
/// [`ResolveError`], if the decision does not fit.
pub(super) fn consequence<K: BookingAggregate>(
    base: &Base,
    booking: &Booking<K>,
    attempt: &Attempt,
    resolution: Resolution,
) -> Result<Consequence, ResolveError> {
    let (now, ids) = (base.now(), &*base.ids);
    let call = CallSelector::Attempt(&attempt.call.id);
    let attempts = slice::from_ref(attempt);
    let outcome = resolution_outcome(booking, attempts, call, resolution, now, ids)?;
    let event = Some(outcome.interpretation.event);
    let plan = plan_transitions(booking.clone(), event, now, now, ids, |_| {})?;
    Ok(describe(booking, &plan))
}

fn describe<K: BookingAggregate>(booking: &Booking<K>, plan: &TransitionPlan<K>) -> Consequence {
    let after = &plan.booking;
    let money = after.payments.iter().flat_map(|payment| {
        let before = booking.payment(&payment.id);
        let own = payment_effect(before, payment);
        own.into_iter().chain(refund_effects(before, payment))
    });
    Consequence {
        status: after.status(),
        money: money.collect(),
        leaves_refund_undecided: !plan.undecided_refunds.is_empty(),
        next_step: match &plan.next {
            PlannedAction::Execute(prepared, _) => Some(prepared.step.name()),
            PlannedAction::Wait(_) => None,
        },
    }
}

fn payment_effect(before: Option<&Payment>, payment: &Payment) -> Option<MoneyEffect> {
    use PaymentState::{
        Authorized, Authorizing, Captured, Capturing, Failed, RequiresAction, Voided, Voiding,
    };
    let (amount, before) = (payment.amount, before.map(|payment| &payment.state));
    match (&payment.state, before) {
        (Capturing(_), Some(Capturing(_)))
        | (Voiding(_), Some(Voiding(_)))
        | (Captured, Some(Captured))
        | (Voided, Some(Voided))
        | (Failed, Some(Failed))
        | (Authorized, Some(Authorized))
        | (Authorizing(_) | RequiresAction, _) => None,
        (Capturing(_), _) => Some(MoneyEffect::Capture(amount)),
        (Voiding(_), _) => Some(MoneyEffect::Release(amount)),
        (Authorized, _) => Some(MoneyEffect::CountAsAuthorized(amount)),
        (Captured, _) => Some(MoneyEffect::CountAsCaptured(amount)),
        (Voided, _) => Some(MoneyEffect::CountAsReleased(amount)),
        (Failed, _) => Some(MoneyEffect::CountAsNotCharged(amount)),
    }
}

fn refund_effects<'a>(
    before: Option<&'a Payment>,
    payment: &'a Payment,
) -> impl Iterator<Item = MoneyEffect> + 'a {
    payment.refunds.iter().filter_map(move |refund| {
        let known = before.and_then(|before| {
            let mut refunds = before.refunds.iter();
            refunds.find(|known| known.id == refund.id)
        });
        match known {
            None => Some(MoneyEffect::Refund(refund.amount)),
            Some(known) if known.call.is_some() && refund.call.is_none() => {
                Some(MoneyEffect::CountAsRefunded(refund.amount))
            }
            Some(_) => None,
        }
    })
}
