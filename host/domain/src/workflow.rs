//! The next action of a booking's workflow, and the time when it is due.

use crate::time::Timestamp;

/// A transition that happens when its time comes, without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// The gateway stops waiting for the response to a prebook.
    PrebookTimeout,
    /// A prebooked offer was not completed in time.
    Offer,
}

impl Expiry {
    /// Returns the name used in failpoints and tests, like the name of a step.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrebookTimeout => "prebook_timeout",
            Self::Offer => "offer_expiry",
        }
    }
}

/// The next step of a workflow and when it is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep<S> {
    /// A step that makes a call and is due now.
    Run(S),
    /// An expiry that is due now. It makes no call.
    Expire(Expiry),
    /// The workflow has no step before this time.
    WaitUntil(Timestamp),
    /// The workflow has no step until a new request arrives.
    Idle,
}

/// Returns the earliest of the expiry and the steps. If several are due at the same time, the
/// expiry comes first, then the steps in their order.
pub fn earliest_step<S>(
    expiry: Option<(Timestamp, Expiry)>,
    steps: impl Iterator<Item = (Timestamp, S)>,
    now: Timestamp,
) -> NextStep<S> {
    let expiry = expiry.map(|(at, expiry)| (at, NextStep::Expire(expiry)));
    let steps = steps.map(|(at, step)| (at, NextStep::Run(step)));
    match expiry.into_iter().chain(steps).min_by_key(|(at, _)| *at) {
        Some((at, next)) if at <= now => next,
        Some((at, _)) => NextStep::WaitUntil(at),
        None => NextStep::Idle,
    }
}
