//! Conversion of errors that both suppliers have. Each supplier has its own list of errors, and its
//! own list of those that refuse a change.

use stopover_sdk::fault::DocumentedErrors;
use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, Refusal, RefusalReason};

/// Message of the error with which a supplier says that the airline cannot quote a cancellation.
pub(crate) const NO_QUOTE_MESSAGE: &str = "The airline cannot quote the cancellation.";

/// Returns the reason of a definite refusal that the interface has no case for.
pub(crate) fn other_refusal(reason: &str) -> RefusalReason {
    RefusalReason::Other(reason.to_owned())
}

/// Returns the response of a prebook. A prebook changes nothing at either supplier. After a rate
/// limit, whoever applies it, it is therefore certain that nothing was done.
pub(crate) fn check_prebook(
    errors: &DocumentedErrors,
    response: Response,
    definite: &[&str],
) -> Result<Response, ChangeError> {
    match response.status {
        429 => Err(ChangeError::RateLimited(response.retry_after_s())),
        _ => errors.check_change(response, definite),
    }
}

/// Returns the refusal of a booking that the supplier gave up, by a code without a status. The
/// refusal is definite, whatever the reason.
pub(crate) fn booking_failure(errors: &DocumentedErrors, code: Option<&str>) -> Refusal {
    let failed = || Refusal::new(other_refusal("failed"), "The supplier gave up the booking.");
    match code {
        Some(code) => errors
            .refusal(code)
            .unwrap_or_else(|| failed().with_code(code)),
        None => failed(),
    }
}
