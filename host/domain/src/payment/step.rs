//! What is to be done next about a payment, whatever it pays for.

use crate::booking::Expiry;
use crate::id::{PaymentId, RefundId};
use crate::leg::RemoteCall;
use crate::payment::{Payment, PaymentState};
use crate::time::Timestamp;

/// One thing to do at a processor, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentStep {
    /// Hold the amount.
    Authorize(PaymentId),
    /// Take the held amount.
    Capture(PaymentId),
    /// Release the held amount.
    Void(PaymentId),
    /// Read back a payment whose outcome is not known.
    Reconcile(PaymentId),
    /// Give money back.
    Refund(PaymentId, RefundId),
    /// Read back a refund whose outcome is not known.
    ReconcileRefund(PaymentId, RefundId),
}

impl PaymentStep {
    /// Its name: in logs, metrics, failpoints and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Authorize(_) => "authorize",
            Self::Capture(_) => "capture",
            Self::Void(_) => "void",
            Self::Reconcile(_) => "find_payment",
            Self::Refund(..) => "refund",
            Self::ReconcileRefund(..) => "find_refund",
        }
    }

    /// Which payment it is about.
    #[must_use]
    pub const fn payment(&self) -> &PaymentId {
        match self {
            Self::Authorize(id)
            | Self::Capture(id)
            | Self::Void(id)
            | Self::Reconcile(id)
            | Self::Refund(id, _)
            | Self::ReconcileRefund(id, _) => id,
        }
    }
}

impl Payment {
    /// What is to be done about it, and when; several refunds may be.
    #[must_use]
    pub fn steps(&self) -> Vec<(Timestamp, PaymentStep)> {
        let id = || self.id.clone();
        match &self.state {
            PaymentState::Authorizing(RemoteCall::Pending { due_at: at, .. }) => {
                vec![(*at, PaymentStep::Authorize(id()))]
            }
            PaymentState::Capturing(RemoteCall::Pending { due_at: at, .. }) => vec![(*at, PaymentStep::Capture(id()))],
            PaymentState::Voiding(RemoteCall::Pending { due_at: at, .. }) => vec![(*at, PaymentStep::Void(id()))],
            PaymentState::Authorizing(leg)
            | PaymentState::Capturing(leg)
            | PaymentState::Voiding(leg) => vec![(leg.due_at(), PaymentStep::Reconcile(id()))],
            PaymentState::Captured => self
                .refunds
                .iter()
                .filter_map(|refund| {
                    let step = match refund.call.as_ref()? {
                        RemoteCall::Pending { due_at: at, .. } => (*at, PaymentStep::Refund(id(), refund.id.clone())),
                        leg @ (RemoteCall::Sent { .. } | RemoteCall::Accepted { .. }) => {
                            (leg.due_at(), PaymentStep::ReconcileRefund(id(), refund.id.clone()))
                        }
                    };
                    Some(step)
                })
                .collect(),
            PaymentState::RequiresAction
            | PaymentState::Authorized
            | PaymentState::Voided
            | PaymentState::Failed => Vec::new(),
        }
    }
}

/// When to do what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep<S> {
    /// At once, and somebody is called.
    Run(S),
    /// The time for this is over, and nobody is called.
    Expire(Expiry),
    /// Nothing until then.
    WaitUntil(Timestamp),
    /// Nothing, unless somebody asks for something.
    Idle,
}

/// Of several things the earliest; of several at once the first named.
pub fn earliest_step<S>(
    lapse: Option<(Timestamp, Expiry)>,
    steps: impl Iterator<Item = (Timestamp, S)>,
    now: Timestamp,
) -> NextStep<S> {
    let lapse = lapse.map(|(at, lapse)| (at, NextStep::Expire(lapse)));
    let steps = steps.map(|(at, step)| (at, NextStep::Run(step)));
    match lapse.into_iter().chain(steps).min_by_key(|(at, _)| *at) {
        Some((at, next)) if at <= now => next,
        Some((at, _)) => NextStep::WaitUntil(at),
        None => NextStep::Idle,
    }
}
