//! What is to be done next about a payment, whatever it pays for.

use crate::booking::Lapse;
use crate::id::{PaymentId, RefundId};
use crate::leg::Leg;
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
    Find(PaymentId),
    /// Give money back.
    Refund(PaymentId, RefundId),
    /// Read back a refund whose outcome is not known.
    FindRefund(PaymentId, RefundId),
}

impl PaymentStep {
    /// Its name: in logs, metrics, failpoints and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Authorize(_) => "authorize",
            Self::Capture(_) => "capture",
            Self::Void(_) => "void",
            Self::Find(_) => "find_payment",
            Self::Refund(..) => "refund",
            Self::FindRefund(..) => "find_refund",
        }
    }

    /// Which payment it is about.
    #[must_use]
    pub const fn payment(&self) -> &PaymentId {
        match self {
            Self::Authorize(id)
            | Self::Capture(id)
            | Self::Void(id)
            | Self::Find(id)
            | Self::Refund(id, _)
            | Self::FindRefund(id, _) => id,
        }
    }
}

impl Payment {
    /// What is to be done about it, and when; several refunds may be.
    #[must_use]
    pub fn steps(&self) -> Vec<(Timestamp, PaymentStep)> {
        let id = || self.id.clone();
        match &self.state {
            PaymentState::Authorizing(Leg::Due { at, .. }) => {
                vec![(*at, PaymentStep::Authorize(id()))]
            }
            PaymentState::Capturing(Leg::Due { at, .. }) => vec![(*at, PaymentStep::Capture(id()))],
            PaymentState::Voiding(Leg::Due { at, .. }) => vec![(*at, PaymentStep::Void(id()))],
            PaymentState::Authorizing(leg)
            | PaymentState::Capturing(leg)
            | PaymentState::Voiding(leg) => vec![(leg.at(), PaymentStep::Find(id()))],
            PaymentState::Captured => self
                .refunds
                .iter()
                .filter_map(|refund| {
                    let step = match refund.leg.as_ref()? {
                        Leg::Due { at, .. } => (*at, PaymentStep::Refund(id(), refund.id.clone())),
                        leg @ (Leg::Sent { .. } | Leg::Pending { .. }) => {
                            (leg.at(), PaymentStep::FindRefund(id(), refund.id.clone()))
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
pub enum Next<S> {
    /// At once, and somebody is called.
    Now(S),
    /// The time for this is over, and nobody is called.
    Over(Lapse),
    /// Nothing until then.
    At(Timestamp),
    /// Nothing, unless somebody asks for something.
    Nothing,
}

/// Of several things the earliest; of several at once the first named.
pub fn due<S>(
    lapse: Option<(Timestamp, Lapse)>,
    steps: impl Iterator<Item = (Timestamp, S)>,
    now: Timestamp,
) -> Next<S> {
    let lapse = lapse.map(|(at, lapse)| (at, Next::Over(lapse)));
    let steps = steps.map(|(at, step)| (at, Next::Now(step)));
    match lapse.into_iter().chain(steps).min_by_key(|(at, _)| *at) {
        Some((at, next)) if at <= now => next,
        Some((at, _)) => Next::At(at),
        None => Next::Nothing,
    }
}
