//! Classification of failed calls for reads, changes, payments and events: whether something may
//! have taken effect. The host's own count of sent requests takes precedence over the guest's
//! statement.

use crate::bindings::exports::stopover::payment::processor as payment_wire;
use crate::bindings::exports::stopover::supplier::supplier_events as event_wire;
use crate::bindings::stopover::supplier::types as wire;
use crate::call_log::PluginCallOutcome;
use crate::call_scope::OutboundTracker;
use crate::call_state::GuestError;
use crate::convert::{self, InvalidResponse};
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, ReadError};
use host_domain::supplier_event::VerifyError;
use std::time::Duration;

/// The reason why a call has no result of the guest.
pub(super) enum CallFailure {
    Unsupported,
    Overloaded,
    CircuitOpen {
        retry_after: Duration,
        last_failure: String,
    },
    TimedOut,
    Trapped(String),
}

impl CallFailure {
    pub(super) const fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::Overloaded => PluginCallOutcome::Overloaded,
            Self::CircuitOpen { .. } => PluginCallOutcome::CircuitOpen,
            Self::TimedOut => PluginCallOutcome::TimedOut,
            Self::Trapped(_) => PluginCallOutcome::Trapped,
        }
    }

    fn sentence(self) -> String {
        match self {
            Self::Unsupported => "the supplier does not offer this operation".to_owned(),
            Self::Overloaded => "too many calls at once".to_owned(),
            Self::CircuitOpen {
                retry_after,
                last_failure,
            } => {
                format!(
                    "the supplier is down; the next call is allowed in {} s; last failure: {last_failure}",
                    retry_after.as_secs() + 1
                )
            }
            Self::TimedOut => "no response before the deadline".to_owned(),
            Self::Trapped(reason) => reason,
        }
    }
}

impl From<GuestError> for CallFailure {
    fn from(error: GuestError) -> Self {
        match error {
            GuestError::Trapped(reason) => Self::Trapped(reason),
            GuestError::TimedOut => Self::TimedOut,
            GuestError::PoolExhausted => Self::Overloaded,
        }
    }
}

/// The error type of one kind of call.
pub(super) trait CallError: std::fmt::Display + Sized {
    type Wire;

    /// Converts the failure of a call that was not made or returned no result.
    fn from_failure(failure: CallFailure, sent: &OutboundTracker) -> Self;
    /// Converts an error that the guest returned.
    fn from_wire(wire: Self::Wire, sent: &OutboundTracker) -> Self;
    /// Converts a result of the guest that is invalid.
    fn from_invalid_response(invalid: InvalidResponse) -> Self;
    fn outcome(&self) -> PluginCallOutcome;
}

const NOT_SENT_OVERRULED: &str =
    "the plugin reports that nothing was sent, but a request left the gateway";

impl CallError for ReadError {
    type Wire = wire::ReadError;

    fn from_failure(failure: CallFailure, _sent: &OutboundTracker) -> Self {
        match failure {
            CallFailure::Unsupported => Self::Unsupported,
            CallFailure::Overloaded => Self::Overloaded,
            CallFailure::CircuitOpen { .. } => Self::Unavailable(failure.sentence()),
            CallFailure::TimedOut => Self::TimedOut(failure.sentence()),
            CallFailure::Trapped(_) => Self::Failed(failure.sentence()),
        }
    }

    fn from_wire(wire: Self::Wire, _sent: &OutboundTracker) -> Self {
        convert::error::read_error(wire)
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::InvalidResponse(invalid.to_string())
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::NotFound(_) => PluginCallOutcome::NotFound,
            Self::Rejected(_) => PluginCallOutcome::Refused,
            Self::RateLimited { .. } => PluginCallOutcome::RateLimited,
            Self::TimedOut(_) => PluginCallOutcome::TimedOut,
            Self::Unavailable(_) | Self::Failed(_) => PluginCallOutcome::Unavailable,
            Self::InvalidResponse(_) => PluginCallOutcome::InvalidResponse,
            Self::Misconfigured(_) => PluginCallOutcome::Misconfigured,
            Self::Overloaded => PluginCallOutcome::Overloaded,
        }
    }
}

impl CallError for ChangeError {
    type Wire = wire::ChangeError;

    fn from_failure(failure: CallFailure, sent: &OutboundTracker) -> Self {
        match failure {
            CallFailure::Unsupported => Self::Unsupported,
            CallFailure::Overloaded => Self::Overloaded,
            failure if sent.has_sent() => Self::Unknown(failure.sentence()),
            failure => Self::NotSent(failure.sentence()),
        }
    }

    /// A rate limit is accepted even if a request was sent, because the supplier may return it for
    /// the very request that would have changed something. An unknown outcome is not sent if no
    /// request left the gateway, for example because the plugin could not read its own token.
    fn from_wire(wire: Self::Wire, sent: &OutboundTracker) -> Self {
        match convert::error::change_error(wire) {
            Self::NotSent(reason) if sent.has_sent_mutation() => {
                Self::Unknown(format!("{NOT_SENT_OVERRULED}: {reason}"))
            }
            Self::Unknown(reason) if !sent.has_sent() => Self::NotSent(reason),
            error => error,
        }
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Unknown(format!("the response cannot be used: {invalid}"))
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::Refused(_) => PluginCallOutcome::Refused,
            Self::NotSent(_) => PluginCallOutcome::NotSent,
            Self::RateLimited { .. } => PluginCallOutcome::RateLimited,
            Self::Overloaded => PluginCallOutcome::Overloaded,
            Self::Unknown(_) => PluginCallOutcome::Unknown,
        }
    }
}

impl CallError for PaymentError {
    type Wire = payment_wire::PaymentError;

    fn from_failure(failure: CallFailure, sent: &OutboundTracker) -> Self {
        if sent.has_sent() {
            Self::Unknown(failure.sentence())
        } else {
            Self::NotSent(failure.sentence())
        }
    }

    fn from_wire(wire: Self::Wire, sent: &OutboundTracker) -> Self {
        match convert::payment::payment_error(wire) {
            Self::NotSent(reason) if sent.has_sent_mutation() => {
                Self::Unknown(format!("{NOT_SENT_OVERRULED}: {reason}"))
            }
            Self::Unknown(reason) if !sent.has_sent() => Self::NotSent(reason),
            error => error,
        }
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Unknown(format!("the response cannot be used: {invalid}"))
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Declined(_) => PluginCallOutcome::Declined,
            Self::Refused(_) => PluginCallOutcome::Refused,
            Self::NotSent(_) => PluginCallOutcome::NotSent,
            Self::Unknown(_) => PluginCallOutcome::Unknown,
        }
    }
}

impl CallError for VerifyError {
    type Wire = event_wire::VerifyError;

    fn from_failure(failure: CallFailure, _sent: &OutboundTracker) -> Self {
        match failure {
            CallFailure::Unsupported => Self::Unsupported,
            CallFailure::Overloaded => Self::Overloaded,
            failure => Self::Failed(failure.sentence()),
        }
    }

    fn from_wire(wire: Self::Wire, _sent: &OutboundTracker) -> Self {
        convert::supplier_event::verify_error(wire)
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Failed(format!("its response cannot be used: {invalid}"))
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::InvalidSignature(_) => PluginCallOutcome::InvalidSignature,
            Self::Malformed(_) => PluginCallOutcome::InvalidResponse,
            Self::Failed(_) => PluginCallOutcome::Unavailable,
            Self::Overloaded => PluginCallOutcome::Overloaded,
        }
    }
}

#[cfg(test)]
mod tests;
