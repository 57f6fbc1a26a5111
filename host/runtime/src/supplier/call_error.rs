//! Classification of failed calls for reads, changes, payments and events: whether something may
//! have taken effect. The host's own count of sent requests takes precedence over the guest's
//! statement.

use crate::bindings::exports::stopover::payment::processor as payment_wire;
use crate::bindings::exports::stopover::supplier::supplier_events as event_wire;
use crate::bindings::stopover::supplier::types as wire;
use crate::call_log::PluginCallOutcome;
use crate::call_scope::OutboundTracker;
use crate::convert::{self, InvalidResponse};
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, FailureReason, ReadError};
use host_domain::supplier_event::VerifyError;
use std::time::Duration;

/// The reason why a call has no result of the guest.
pub(super) enum CallFailure {
    Unsupported,
    /// No permit was free. Contains the limit.
    Overloaded(String),
    CircuitOpen {
        retry_after: Duration,
        last_failure: String,
    },
    /// Contains the limit.
    TimedOut(String),
    Trapped(String),
}

impl CallFailure {
    pub(super) const fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::Overloaded(_) => PluginCallOutcome::Overloaded,
            Self::CircuitOpen { .. } => PluginCallOutcome::CircuitOpen,
            Self::TimedOut(_) => PluginCallOutcome::TimedOut,
            Self::Trapped(_) => PluginCallOutcome::Trapped,
        }
    }

    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Unsupported => "the supplier does not offer this operation".to_owned(),
            Self::CircuitOpen {
                retry_after,
                last_failure,
            } => {
                format!(
                    "the supplier is down; the next call is allowed in {} s; last failure: {last_failure}",
                    retry_after.as_secs() + 1
                )
            }
            Self::Overloaded(reason) | Self::TimedOut(reason) | Self::Trapped(reason) => {
                reason.clone()
            }
        }
    }

    /// Returns the reason for a call that may change something. After a trap, somebody has to correct
    /// something: the same call traps again until the plugin or its limits are changed.
    fn reason(&self) -> FailureReason {
        FailureReason {
            message: self.sentence(),
            requires_correction: match self {
                Self::Unsupported | Self::Trapped(_) => true,
                Self::Overloaded(_) | Self::CircuitOpen { .. } | Self::TimedOut(_) => false,
            },
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
    /// Adds what the host knows about the failure to its text for operators.
    fn append(&mut self, note: &str);
    fn outcome(&self) -> PluginCallOutcome;
}

/// Adds the host's knowledge whether somebody must correct something before the call can succeed.
fn with_required_correction(reason: FailureReason, sent: &OutboundTracker) -> FailureReason {
    FailureReason {
        requires_correction: sent.requires_correction(),
        ..reason
    }
}

/// Checks the guest's statement that nothing was sent. It is overruled if a request that may change
/// something left the gateway; then the outcome is unknown.
fn overrule_not_sent(
    reason: FailureReason,
    sent: &OutboundTracker,
) -> Result<FailureReason, FailureReason> {
    let reason = with_required_correction(reason, sent);
    if !sent.has_sent_mutation() {
        return Ok(reason);
    }
    Err(FailureReason {
        message: format!("{NOT_SENT_OVERRULED}: {reason}"),
        ..reason
    })
}

fn unusable_response(invalid: InvalidResponse) -> FailureReason {
    FailureReason::requiring_correction(format!("the response cannot be used: {invalid}"))
}

fn append_to(text: &mut String, note: &str) {
    text.push_str(": ");
    text.push_str(note);
}

const NOT_SENT_OVERRULED: &str =
    "the plugin reports that nothing was sent, but a request left the gateway";
const REFUSAL_OVERRULED: &str =
    "the plugin reports a refusal, but a request that may have changed something has no response";
const CREDENTIALS_REJECTED: &str = "the processor does not accept the gateway's credentials";
const REFUSAL_WITHOUT_RESPONSE: &str =
    "the plugin reports a refusal, but the supplier did not respond";
const RATE_LIMIT_OVERRULED: &str =
    "the plugin reports a rate limit, but a request may have changed something before";

/// Returns the outcome instead of a refusal if the supplier did not respond to a request that may
/// have changed something: the refusal is about another request, or about none.
fn overruled_refusal(message: &str, sent: &OutboundTracker) -> Option<FailureReason> {
    let reason =
        || with_required_correction(format!("{REFUSAL_OVERRULED}: {message}").into(), sent);
    sent.has_unanswered_change().then(reason)
}

impl CallError for ReadError {
    type Wire = wire::ReadError;

    fn from_failure(failure: CallFailure, _sent: &OutboundTracker) -> Self {
        match failure {
            CallFailure::Unsupported => Self::Unsupported,
            CallFailure::Overloaded(_) => Self::Overloaded,
            CallFailure::CircuitOpen { .. } => Self::Unavailable(failure.sentence()),
            CallFailure::TimedOut(reason) => Self::TimedOut(reason),
            CallFailure::Trapped(reason) => Self::AdapterFailed(reason),
        }
    }

    fn from_wire(wire: Self::Wire, _sent: &OutboundTracker) -> Self {
        convert::error::read_error(wire)
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::InvalidResponse(invalid.to_string())
    }

    fn append(&mut self, note: &str) {
        match self {
            Self::NotFound(text)
            | Self::TimedOut(text)
            | Self::Unavailable(text)
            | Self::Failed(text)
            | Self::AdapterFailed(text)
            | Self::InvalidResponse(text)
            | Self::Misconfigured(text) => append_to(text, note),
            Self::Rejected(refusal) => append_to(&mut refusal.message, note),
            Self::Unsupported | Self::RateLimited { .. } | Self::Overloaded => {}
        }
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::NotFound(_) => PluginCallOutcome::NotFound,
            Self::Rejected(_) => PluginCallOutcome::Refused,
            Self::RateLimited { .. } => PluginCallOutcome::RateLimited,
            Self::TimedOut(_) => PluginCallOutcome::TimedOut,
            Self::Unavailable(_) | Self::Failed(_) | Self::AdapterFailed(_) => {
                PluginCallOutcome::Unavailable
            }
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
            CallFailure::Overloaded(_) => Self::Overloaded,
            failure if sent.has_sent() => Self::Unknown(failure.reason()),
            failure => Self::NotSent(failure.reason()),
        }
    }

    /// Converts an error of the guest. A rate limit is accepted even if a request was sent, because
    /// the supplier may return it for the very request that would have changed something. It is
    /// overruled if this request has no response or a failure of the supplier, or if there was another
    /// one before, which may have taken effect. An unknown outcome is not sent if no request left the
    /// gateway, for example because the plugin could not read its own token. A refusal without any
    /// request is the adapter's own.
    fn from_wire(wire: Self::Wire, sent: &OutboundTracker) -> Self {
        match convert::error::change_error(wire) {
            Self::NotSent(reason) => match overrule_not_sent(reason, sent) {
                Ok(reason) => Self::NotSent(reason),
                Err(overruled) => Self::Unknown(overruled),
            },
            Self::Unknown(reason) if !sent.has_sent() => {
                Self::NotSent(with_required_correction(reason, sent))
            }
            Self::Unknown(reason) => Self::Unknown(with_required_correction(reason, sent)),
            Self::Refused(refusal) => match overruled_refusal(&refusal.message, sent) {
                Some(overruled) => Self::Unknown(overruled),
                None if sent.attempted_requests() == 0 => Self::RefusedByAdapter(refusal),
                None if !sent.has_response() => {
                    let message = format!("{REFUSAL_WITHOUT_RESPONSE}: {}", refusal.message);
                    Self::NotSent(with_required_correction(message.into(), sent))
                }
                None => Self::Refused(refusal),
            },
            Self::RateLimited { .. } if !sent.may_be_rate_limited() => {
                Self::Unknown(with_required_correction(RATE_LIMIT_OVERRULED.into(), sent))
            }
            error @ (Self::Unsupported
            | Self::RefusedByAdapter(_)
            | Self::RateLimited { .. }
            | Self::Overloaded) => error,
        }
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Unknown(unusable_response(invalid))
    }

    fn append(&mut self, note: &str) {
        match self {
            Self::NotSent(reason) | Self::Unknown(reason) => append_to(&mut reason.message, note),
            Self::Refused(refusal) | Self::RefusedByAdapter(refusal) => {
                append_to(&mut refusal.message, note);
            }
            Self::Unsupported | Self::RateLimited { .. } | Self::Overloaded => {}
        }
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Unsupported => PluginCallOutcome::Unsupported,
            Self::Refused(_) | Self::RefusedByAdapter(_) => PluginCallOutcome::Refused,
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
            Self::Unknown(failure.reason())
        } else {
            Self::NotSent(failure.reason())
        }
    }

    /// Converts an error of the guest. A processor that rejects the gateway's credentials has refused
    /// no payment: the interface has no such error, and another card does not help.
    fn from_wire(wire: Self::Wire, sent: &OutboundTracker) -> Self {
        match convert::payment::payment_error(wire) {
            Self::Refused(reason) if sent.attempted_requests() == 0 => {
                Self::RefusedByAdapter(reason)
            }
            error @ Self::Declined(_) if sent.attempted_requests() == 0 => {
                Self::RefusedByAdapter(error.to_string())
            }
            Self::Refused(reason) if sent.is_unauthorized() => {
                let message = format!("{CREDENTIALS_REJECTED}: {reason}");
                Self::NotSent(FailureReason::requiring_correction(message))
            }
            Self::NotSent(reason) => match overrule_not_sent(reason, sent) {
                Ok(reason) => Self::NotSent(reason),
                Err(overruled) => Self::Unknown(overruled),
            },
            Self::Unknown(reason) if !sent.has_sent() => {
                Self::NotSent(with_required_correction(reason, sent))
            }
            Self::Unknown(reason) => Self::Unknown(with_required_correction(reason, sent)),
            error @ (Self::Declined(_) | Self::Refused(_) | Self::RefusedByAdapter(_)) => {
                match overruled_refusal(&error.to_string(), sent) {
                    Some(overruled) => Self::Unknown(overruled),
                    None => error,
                }
            }
        }
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Unknown(unusable_response(invalid))
    }

    fn append(&mut self, note: &str) {
        match self {
            Self::Refused(text) | Self::RefusedByAdapter(text) => append_to(text, note),
            Self::NotSent(reason) | Self::Unknown(reason) => append_to(&mut reason.message, note),
            Self::Declined(_) => {}
        }
    }

    fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Declined(_) => PluginCallOutcome::Declined,
            Self::Refused(_) | Self::RefusedByAdapter(_) => PluginCallOutcome::Refused,
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
            CallFailure::Overloaded(_) => Self::Overloaded,
            failure => Self::Failed(failure.reason()),
        }
    }

    fn from_wire(wire: Self::Wire, _sent: &OutboundTracker) -> Self {
        convert::supplier_event::verify_error(wire)
    }

    fn from_invalid_response(invalid: InvalidResponse) -> Self {
        Self::Failed(unusable_response(invalid))
    }

    fn append(&mut self, note: &str) {
        match self {
            Self::InvalidSignature(text) | Self::Malformed(text) => append_to(text, note),
            Self::Failed(reason) => append_to(&mut reason.message, note),
            Self::Unsupported | Self::Overloaded => {}
        }
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
