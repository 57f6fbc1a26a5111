//! Outcomes of calls in short form, for tables of expected outcomes.

use crate::payment_processor::PaymentError;
use crate::supplier_events::VerifyError;
use crate::types::{ChangeError, ReadError, Refusal, RefusalReason};

/// The outcome of a call: the case of its error, without the text. `Rejected` and `Refused` have
/// the refusal's reason, or an empty text for a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    NotFound,
    Rejected(&'static str),
    RateLimited,
    TimedOut,
    Unavailable,
    InvalidResponse,
    Misconfigured,
    Failed,
    Refused(&'static str),
    Declined,
    NotSent,
    Unknown,
    InvalidSignature,
    Malformed,
}

/// Returns the outcome of a call.
pub fn outcome<T, E>(result: &Result<T, E>) -> Outcome
where
    for<'e> Outcome: From<&'e E>,
{
    result.as_ref().err().map_or(Outcome::Done, Outcome::from)
}

/// Returns the refusal with which a supplier rejected a read or refused a change.
///
/// # Panics
/// Panics if the call succeeded or failed in another way.
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn refusal<T, E>(result: Result<T, E>) -> Refusal
where
    E: Into<Option<Refusal>>,
    for<'e> Outcome: From<&'e E>,
{
    let outcome = outcome(&result);
    let refusal = result.err().and_then(Into::into);
    refusal.unwrap_or_else(|| panic!("the outcome is no refusal: {outcome:?}"))
}

impl From<ReadError> for Option<Refusal> {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Rejected(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl From<ChangeError> for Option<Refusal> {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl From<&ReadError> for Outcome {
    fn from(error: &ReadError) -> Self {
        match error {
            ReadError::NotFound(_) => Self::NotFound,
            ReadError::Rejected(refusal) => Self::Rejected(reason_name(&refusal.reason)),
            ReadError::RateLimited(_) => Self::RateLimited,
            ReadError::TimedOut(_) => Self::TimedOut,
            ReadError::Unavailable(_) => Self::Unavailable,
            ReadError::InvalidResponse(_) => Self::InvalidResponse,
            ReadError::Misconfigured(_) => Self::Misconfigured,
            ReadError::Failed(_) => Self::Failed,
        }
    }
}

impl From<&ChangeError> for Outcome {
    fn from(error: &ChangeError) -> Self {
        match error {
            ChangeError::Refused(refusal) => Self::Refused(reason_name(&refusal.reason)),
            ChangeError::NotSent(_) => Self::NotSent,
            ChangeError::RateLimited(_) => Self::RateLimited,
            ChangeError::Unknown(_) => Self::Unknown,
        }
    }
}

impl From<&PaymentError> for Outcome {
    fn from(error: &PaymentError) -> Self {
        match error {
            PaymentError::Declined(_) => Self::Declined,
            PaymentError::Refused(_) => Self::Refused(""),
            PaymentError::NotSent(_) => Self::NotSent,
            PaymentError::Unknown(_) => Self::Unknown,
        }
    }
}

impl From<&VerifyError> for Outcome {
    fn from(error: &VerifyError) -> Self {
        match error {
            VerifyError::InvalidSignature(_) => Self::InvalidSignature,
            VerifyError::Malformed(_) => Self::Malformed,
        }
    }
}

fn reason_name(reason: &RefusalReason) -> &'static str {
    match reason {
        RefusalReason::Unavailable => "unavailable",
        RefusalReason::Expired => "expired",
        RefusalReason::PriceChanged(_) => "price changed",
        RefusalReason::TermsChanged => "terms changed",
        RefusalReason::PaymentRequired => "payment required",
        RefusalReason::PaymentDeclined => "payment declined",
        RefusalReason::Invalid => "invalid",
        RefusalReason::Duplicate => "duplicate",
        RefusalReason::NotCancellable => "not cancellable",
        RefusalReason::Account => "account",
        RefusalReason::Other(_) => "other",
    }
}
