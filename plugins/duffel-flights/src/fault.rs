//! Meaning of Duffel's error codes. A code counts together with the HTTP status of the response.
//! The status in the body's `meta` is ignored, because the two differ. A status alone, such as that
//! of a proxy, neither refuses anything nor proves that an object does not exist.
//!
//! For calls that change something, [`Fault::refusal_reason`] is the closed list of definite
//! refusals. Every other response leaves the outcome unknown.

use stopover_sdk::http::Response;
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason, clock, time};

use crate::wire::{Failure, WireError};

/// Status of a response to too many requests.
pub(crate) const RATE_LIMITED: u16 = 429;

/// An error response.
pub(crate) struct Fault {
    pub(crate) status: u16,
    /// Errors of the body, each with a code. Empty if the body is not Duffel's, such as a proxy's
    /// response, or contradicts the status.
    errors: Vec<WireError>,
    /// Identifier by which Duffel's support finds the call.
    request_id: Option<String>,
    /// Seconds until the rate limit is reset.
    pub(crate) wait_s: Option<u32>,
}

/// Kinds of calls that change something, with the reads that prepare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Setting a passenger's loyalty programmes on an offer, and reading the offer.
    Passenger,
    Book,
    /// Quoting a cancellation, and reading the order. A quote changes nothing, and is requested
    /// here only to be confirmed.
    Quote,
    Cancel,
    BuyServices,
}

impl Fault {
    pub(crate) fn new(response: &Response) -> Self {
        let failure: Failure = response.json().unwrap_or_default();
        let header = response.header("x-request-id").map(str::to_owned);
        let in_body = || failure.meta.decoded()?.request_id.into_option();
        let errors = failure.errors.value().unwrap_or_default();
        let has_codes = errors.iter().all(|error| !error.code().is_empty());
        let is_error = has_codes && failure.data.is_none();
        Self {
            status: response.status,
            request_id: header.or_else(in_body),
            errors: if is_error { errors } else { Vec::new() },
            wait_s: wait_s(response),
        }
    }

    /// Returns whether the airline caused the error, rather than Duffel or the gateway.
    pub(crate) fn is_airlines(&self) -> bool {
        self.first()
            .is_some_and(|error| error.category() == "airline_error")
    }

    /// Returns whether Duffel says that it does not have the object.
    pub(crate) fn is_not_found(&self) -> bool {
        self.is(404, "not_found")
    }

    /// Returns whether the price of the offer or service has changed.
    pub(crate) fn is_price_change(&self) -> bool {
        self.is(422, "payment_amount_does_not_match_order_amount")
    }

    /// Returns whether Duffel or the airline does not support the action for this order.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.is(422, "unsupported_action") || self.is(400, "400")
    }

    /// Converts the error of a read that no change follows.
    pub(crate) fn into_read_error(self) -> ReadError {
        let text = self.to_text();
        match (self.status, self.code()) {
            (401 | 403, _) => ReadError::Misconfigured(text),
            (400 | 406, code) if is_header_code(code) => ReadError::Misconfigured(text),
            (400..=499, "unavailable_feature") => ReadError::Misconfigured(text),
            (404, _) if self.is_not_found() => ReadError::NotFound(text),
            (408 | 504, _) => ReadError::TimedOut(text),
            (RATE_LIMITED, _) => ReadError::RateLimited(self.wait_s),
            (503, _) => ReadError::Unavailable(text),
            (500..=599, _) => ReadError::Failed(text),
            (422, "offer_no_longer_available") => self.rejected(RefusalReason::Unavailable),
            (422, "offer_expired") => self.rejected(RefusalReason::Expired),
            (422, "already_cancelled") => self.rejected(RefusalReason::NotCancellable),
            (400..=499, code) if !code.is_empty() => self.rejected(RefusalReason::Invalid),
            _ => ReadError::InvalidResponse(text),
        }
    }

    /// Converts the error into a refusal if the closed list has all its codes, or into a documented
    /// rate limit. Otherwise the outcome is unknown. The result is never "not sent", because Duffel
    /// has responded. Duffel documents a rate limit as its status together with its code: a status without
    /// the code may be that of a proxy which has forwarded the change.
    pub(crate) fn into_change_error(self, change: Change) -> ChangeError {
        if self.is(RATE_LIMITED, "rate_limit_exceeded") {
            return ChangeError::RateLimited(self.wait_s);
        }
        let reasons: Option<Vec<RefusalReason>> = self
            .errors
            .iter()
            .map(|error| self.refusal_reason(change, error))
            .collect();
        match reasons.and_then(|reasons| reasons.into_iter().next()) {
            Some(reason) => self.refusal(reason).into(),
            None => ChangeError::Unknown(self.to_text()),
        }
    }

    /// The closed list of definite refusals. "Already done" codes are not on it: only a read shows
    /// whether this gateway made the change.
    fn refusal_reason(&self, change: Change, error: &WireError) -> Option<RefusalReason> {
        use Change::{Book, BuyServices, Cancel, Passenger, Quote};
        use RefusalReason::{Account, Duplicate, Expired, Invalid, NotCancellable, Unavailable};
        let other = |text: &str| RefusalReason::Other(text.to_owned());
        let invalid = matches!(
            error.code(),
            "invalid_phone_number" | "duplicate_passenger_name" | "invalid_loyalty_card"
        ) || error.code().starts_with("validation_");
        Some(match (self.status, error.code(), change) {
            (401 | 403, _, _) if error.category() == "authentication_error" => Account,
            (400 | 401 | 403 | 406, code, _) if is_header_code(code) => Account,
            (401 | 403 | 422, "unavailable_feature", _) => Account,
            (422, _, Passenger | Book | BuyServices) if invalid => Invalid,
            (422, _, Quote | Cancel) if invalid => NotCancellable,
            (422, "offer_no_longer_available", Passenger | Book) => Unavailable,
            (422, "offer_expired", Passenger | Book) => Expired,
            (404, "not_found", Passenger | Book) => Expired,
            (422, "offer_request_already_booked" | "duplicate_booking", Book) => Duplicate,
            (422, "insufficient_balance", Book | BuyServices) => Account,
            (422, "ancillary_service_not_available", Book | BuyServices) => Unavailable,
            (422, "payment_amount_does_not_match_order_amount", Book | BuyServices) => {
                other("the price changed")
            }
            (502, "order_not_created", Book) => other("the airline did not create the order"),
            (422, "unsupported_action", Quote | Cancel) => NotCancellable,
            (400, "400", Quote | Cancel) => NotCancellable,
            (404, "not_found", Quote) => NotCancellable,
            (404, "not_found", BuyServices) => other("Duffel has no such order"),
            (422, "unsupported_action", Passenger | Book | BuyServices)
            | (400, "400", Passenger | Book | BuyServices)
            | (422, "pay_later_order_no_payment_for_ancillaries", BuyServices) => {
                other("the airline does not do this")
            }
            _ => return None,
        })
    }

    pub(crate) fn refusal(&self, reason: RefusalReason) -> Refusal {
        Refusal::new(reason, self.to_text()).with_code(self.code())
    }

    /// Returns the text for operators. Code and title describe the error in general and contain
    /// nothing of the request.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!("Duffel returned {}", self.status);
        match self.first() {
            Some(error) => text.push_str(&format!(" {}: {}", error.code(), error.title.as_str())),
            None => text.push_str(" without an error that can be read"),
        }
        if let Some(id) = &self.request_id {
            text.push_str(&format!(" (request {id})"));
        }
        text
    }

    fn rejected(&self, reason: RefusalReason) -> ReadError {
        ReadError::Rejected(self.refusal(reason))
    }

    /// Returns whether the response has this error and no other.
    fn is(&self, status: u16, code: &str) -> bool {
        let is_code = |error: &WireError| error.code() == code;
        self.status == status && !self.errors.is_empty() && self.errors.iter().all(is_code)
    }

    fn code(&self) -> &str {
        self.first().map_or("", WireError::code)
    }

    fn first(&self) -> Option<&WireError> {
        self.errors.first()
    }
}

/// Returns whether the code is about a header, such as `missing_version_header` or
/// `invalid_authorization_header`.
fn is_header_code(code: &str) -> bool {
    (code.starts_with("missing_") || code.starts_with("invalid_")) && code.ends_with("_header")
}

/// Returns the seconds until the rate limit is reset, which Duffel gives as an HTTP date.
fn wait_s(response: &Response) -> Option<u32> {
    let reset = response
        .header("ratelimit-reset")
        .and_then(|date| time::parse_http_date(date.trim()));
    let Some(reset) = reset else {
        return response.retry_after_s();
    };
    let wait_ms = reset.saturating_sub(clock::now_ms()).max(0);
    u32::try_from((wait_ms + 999) / 1000).ok()
}
