//! What a call that was not answered means, for reads, for changes, for money and
//! for events: whether something may have happened. The host's own count of what left
//! the gateway stands above what a guest says.

use crate::bindings::exports::stopover::payment::processor as payment_wire;
use crate::bindings::exports::stopover::supplier::supplier_events as event_wire;
use crate::bindings::stopover::supplier::types as wire;
use crate::call_log::Outcome;
use crate::convert::{self, Unreadable};
use crate::state::{Broken, Sent};
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, ReadError};
use host_domain::supplier_event::VerifyError;
use std::time::Duration;

/// Why the guest was not even asked.
pub(super) enum Unanswered {
    Unsupported,
    Overloaded,
    CircuitOpen {
        retry_after: Duration,
        last_failure: String,
    },
}

impl Unanswered {
    fn sentence(&self) -> String {
        match self {
            Self::Unsupported => "the supplier does not offer this operation".to_owned(),
            Self::Overloaded => "too many calls at once".to_owned(),
            Self::CircuitOpen {
                retry_after,
                last_failure,
            } => {
                format!(
                    "the supplier is down and is tried again in {} s; the last failure: {last_failure}",
                    retry_after.as_secs() + 1
                )
            }
        }
    }
}

/// How a kind of call ends that is not done.
pub(super) trait Ending: std::fmt::Display + Sized {
    type Wire;

    fn unanswered(why: Unanswered) -> Self;
    /// The guest says it.
    fn told(wire: Self::Wire, sent: &Sent) -> Self;
    /// The guest said something that makes no sense.
    fn unreadable(unreadable: Unreadable) -> Self;
    /// The guest said nothing.
    fn broken(broken: Broken, sent: &Sent) -> Self;
    fn outcome(&self) -> Outcome;
}

fn sentence(broken: Broken) -> String {
    match broken {
        Broken::Trapped(reason) => reason,
        Broken::TimedOut => "no answer before the deadline".to_owned(),
        Broken::NoPlace => "too many calls at once".to_owned(),
    }
}

const OVERRULED: &str = "the plugin says that nothing was sent, but a request left the gateway";

impl Ending for ReadError {
    type Wire = wire::ReadError;

    fn unanswered(why: Unanswered) -> Self {
        match why {
            Unanswered::Unsupported => Self::Unsupported,
            Unanswered::Overloaded => Self::Overloaded,
            Unanswered::CircuitOpen { .. } => Self::Unavailable(why.sentence()),
        }
    }

    fn told(wire: Self::Wire, _sent: &Sent) -> Self {
        convert::outcome::read_error(wire)
    }

    fn unreadable(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable.to_string())
    }

    fn broken(broken: Broken, _sent: &Sent) -> Self {
        match broken {
            Broken::TimedOut => Self::TimedOut(sentence(broken)),
            Broken::NoPlace => Self::Overloaded,
            Broken::Trapped(_) => Self::Failed(sentence(broken)),
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Unsupported => Outcome::Unsupported,
            Self::NotFound(_) => Outcome::NotFound,
            Self::Rejected(_) => Outcome::Refused,
            Self::RateLimited { .. } => Outcome::RateLimited,
            Self::TimedOut(_) => Outcome::TimedOut,
            Self::Unavailable(_) | Self::Failed(_) => Outcome::Unavailable,
            Self::Unreadable(_) => Outcome::Unreadable,
            Self::Misconfigured(_) => Outcome::Misconfigured,
            Self::Overloaded => Outcome::Overloaded,
        }
    }
}

impl Ending for ChangeError {
    type Wire = wire::ChangeError;

    fn unanswered(why: Unanswered) -> Self {
        match why {
            Unanswered::Unsupported => Self::Unsupported,
            Unanswered::Overloaded => Self::Overloaded,
            Unanswered::CircuitOpen { .. } => Self::NotSent(why.sentence()),
        }
    }

    /// A limit is believed although something was sent: the supplier answers it
    /// to the very request that would have changed something.
    fn told(wire: Self::Wire, sent: &Sent) -> Self {
        match convert::outcome::change_error(wire) {
            Self::NotSent(reason) if sent.changing() => {
                Self::Unknown(format!("{OVERRULED}: {reason}"))
            }
            error => error,
        }
    }

    fn unreadable(unreadable: Unreadable) -> Self {
        Self::Unknown(format!("the answer cannot be used: {unreadable}"))
    }

    fn broken(broken: Broken, sent: &Sent) -> Self {
        match broken {
            Broken::NoPlace => Self::Overloaded,
            broken if sent.any() => Self::Unknown(sentence(broken)),
            broken => Self::NotSent(sentence(broken)),
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Unsupported => Outcome::Unsupported,
            Self::Refused(_) => Outcome::Refused,
            Self::NotSent(_) => Outcome::NotSent,
            Self::RateLimited { .. } => Outcome::RateLimited,
            Self::Overloaded => Outcome::Overloaded,
            Self::Unknown(_) => Outcome::Unknown,
        }
    }
}

impl Ending for PaymentError {
    type Wire = payment_wire::PaymentError;

    fn unanswered(why: Unanswered) -> Self {
        Self::NotSent(why.sentence())
    }

    fn told(wire: Self::Wire, sent: &Sent) -> Self {
        match convert::payment::payment_error(wire) {
            Self::NotSent(reason) if sent.changing() => {
                Self::Unknown(format!("{OVERRULED}: {reason}"))
            }
            error => error,
        }
    }

    fn unreadable(unreadable: Unreadable) -> Self {
        Self::Unknown(format!("the answer cannot be used: {unreadable}"))
    }

    fn broken(broken: Broken, sent: &Sent) -> Self {
        if sent.any() {
            Self::Unknown(sentence(broken))
        } else {
            Self::NotSent(sentence(broken))
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Declined(_) => Outcome::Declined,
            Self::Refused(_) => Outcome::Refused,
            Self::NotSent(_) => Outcome::NotSent,
            Self::Unknown(_) => Outcome::Unknown,
        }
    }
}

impl Ending for VerifyError {
    type Wire = event_wire::VerifyError;

    fn unanswered(why: Unanswered) -> Self {
        match why {
            Unanswered::Unsupported => Self::Unsupported,
            Unanswered::Overloaded => Self::Overloaded,
            Unanswered::CircuitOpen { .. } => Self::Failed(why.sentence()),
        }
    }

    fn told(wire: Self::Wire, _sent: &Sent) -> Self {
        convert::supplier_event::verify_error(wire)
    }

    fn unreadable(unreadable: Unreadable) -> Self {
        Self::Failed(format!("its answer cannot be used: {unreadable}"))
    }

    fn broken(broken: Broken, _sent: &Sent) -> Self {
        match broken {
            Broken::NoPlace => Self::Overloaded,
            Broken::TimedOut | Broken::Trapped(_) => Self::Failed(sentence(broken)),
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Unsupported => Outcome::Unsupported,
            Self::Unauthentic(_) => Outcome::Unauthentic,
            Self::Unreadable(_) => Outcome::Unreadable,
            Self::Failed(_) => Outcome::Unavailable,
            Self::Overloaded => Outcome::Overloaded,
        }
    }
}

#[cfg(test)]
mod tests;
