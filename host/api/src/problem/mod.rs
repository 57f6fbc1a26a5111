//! Conversion of errors to HTTP responses: RFC 9457 bodies with a stable code.
//!
//! A handler returns an [`ApiError`]. The outermost middleware writes the body, because only it has
//! the request id. Internal details of an error go to the log and cannot be written to a response.

mod booking;
mod change_operation;
mod service;
mod violation;

pub(crate) use crate::problem::change_operation::ChangeOperation;
pub(crate) use crate::problem::violation::{Violation, ViolationList, ViolationLocation};

use crate::error_code::ErrorCode;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use host_application::error_chain::describe_error_chain;
use host_application::storage_failure::StorageFailure;
use host_domain::id::BookingId;
use host_domain::supplier::{ReadError, RefusalReason, SupplierId};
use host_resources::value::MoneyResource;
use http::HeaderValue;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use serde::Serialize;
use std::error::Error;
use utoipa::ToSchema;

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Body of an error response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// URL of the documentation page about the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Short title, the same for every occurrence of the code.
    pub title: String,
    /// HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// Stable error code.
    pub code: String,
    /// Explanation of this occurrence.
    pub detail: String,
    /// Id of the request. Quote it when you ask for help.
    pub request_id: String,
    /// Whether the same request may be sent again, and may then succeed without anybody's help.
    pub retryable: bool,
    /// Id of the supplier that the error concerns.
    #[schema(required)]
    pub supplier: Option<String>,
    /// Id of the booking that the request made, if it can be read although the request failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_id: Option<String>,
    /// The violations in the request: all of them, or the first 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<Violation>,
    /// Status of the booking that the error concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booking_status: Option<String>,
    /// Status of the payment that the error concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_status: Option<String>,
    /// Total price of the offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<MoneyResource>,
    /// Current total price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<MoneyResource>,
}

#[derive(Debug, Clone, Default)]
struct ErrorDetails {
    detail: Option<String>,
    supplier: Option<SupplierId>,
    booking_id: Option<BookingId>,
    violations: Vec<Violation>,
    retry_after_s: Option<u32>,
    booking_status: Option<String>,
    payment_status: Option<String>,
    prices: Option<(MoneyResource, MoneyResource)>,
    internal: Option<String>,
    /// Whether the request cannot succeed before somebody has corrected something.
    requires_correction: bool,
    /// Whether the request may be sent again although its code does not say so.
    is_repeat_safe: bool,
}

/// Error of a handler. Responses only contain its code and the details that were added as public.
#[must_use]
#[derive(Debug, Clone)]
pub(crate) struct ApiError(ErrorCode, Box<ErrorDetails>);

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self(code, Box::default())
    }
}

impl ApiError {
    /// Creates the error for a request that violates rules, with its violations.
    pub(crate) fn violations(violations: impl Into<ViolationList>) -> Self {
        let (violations, detail) = violations.into().into_response();
        let mut error = Self::from(ErrorCode::ValidationFailed);
        error.1.detail = detail;
        error.1.violations = violations;
        error
    }

    /// Creates the error for one violation in the body.
    pub(crate) fn violation(
        pointer: impl Into<String>,
        code: &str,
        detail: impl Into<String>,
    ) -> Self {
        Self::violations(vec![Violation::body(pointer, code, detail)])
    }

    /// Creates an internal error. The error and its sources are logged but not sent.
    pub(crate) fn internal(error: impl Error) -> Self {
        Self::from(ErrorCode::InternalError).with_cause(error)
    }

    /// Creates the error for data that could not be read or stored. Conflicts that matter to the
    /// client are handled before.
    pub(crate) fn from_storage(failure: impl Into<StorageFailure>) -> Self {
        let failure = failure.into();
        match &failure {
            // A repeat with the same key finds what was already done.
            StorageFailure::Unavailable(_) => Self::from(ErrorCode::Overloaded).with_detail(
                "The database cannot be reached now. Send the same request again after the time in Retry-After, \
                 with the same idempotency key if it has one.",
            ),
            StorageFailure::CommitUnknown(_) => ErrorCode::ResultUnknown.into(),
            StorageFailure::Internal(_) => ErrorCode::InternalError.into(),
        }
        .with_cause(failure)
    }

    /// Creates the error for a failed supplier read. `absent` is the code to use if the supplier
    /// has no such resource.
    pub(crate) fn from_supplier_read(
        supplier: &SupplierId,
        error: &ReadError,
        absent: ErrorCode,
    ) -> Self {
        let code = match error {
            ReadError::Unsupported => ErrorCode::SupplierOperationUnsupported,
            ReadError::NotFound(_) => absent,
            ReadError::Rejected(refusal) => refusal_code(&refusal.reason),
            ReadError::RateLimited { .. } => ErrorCode::SupplierRateLimited,
            ReadError::TimedOut(_) => ErrorCode::SupplierTimeout,
            ReadError::Unavailable(_) => ErrorCode::SupplierUnavailable,
            ReadError::Failed(_)
            | ReadError::AdapterFailed(_)
            | ReadError::InvalidResponse(_)
            | ReadError::Misconfigured(_) => ErrorCode::SupplierError,
            ReadError::Overloaded => ErrorCode::Overloaded,
        };
        let known = match error {
            ReadError::RateLimited { retry_after_s } => *retry_after_s,
            _ => None,
        };
        let answer = Self::from(code).with_supplier(supplier);
        answer
            .with_cause(error)
            .with_retry_after(known)
            .with_required_correction(!error.is_retryable())
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.1.detail = Some(detail.into());
        self
    }

    pub(crate) fn with_supplier(mut self, supplier: &SupplierId) -> Self {
        self.1.supplier = Some(supplier.clone());
        self
    }

    pub(crate) fn with_booking_id(mut self, id: BookingId) -> Self {
        self.1.booking_id = Some(id);
        self
    }

    pub(crate) fn with_retry_after(mut self, seconds: impl Into<Option<u32>>) -> Self {
        self.1.retry_after_s = seconds.into();
        self
    }

    pub(crate) fn with_booking_status(mut self, status: impl Into<String>) -> Self {
        self.1.booking_status = Some(status.into());
        self
    }

    pub(crate) fn with_payment_status(mut self, status: impl Into<String>) -> Self {
        self.1.payment_status = Some(status.into());
        self
    }

    pub(crate) fn with_prices(
        mut self,
        offered: host_domain::money::Money,
        current: host_domain::money::Money,
    ) -> Self {
        self.1.prices = Some((offered.into(), current.into()));
        self
    }

    /// Stores an error and its sources as the cause, which is only logged.
    pub(crate) fn with_cause(mut self, error: impl Error) -> Self {
        self.1.internal = Some(describe_error_chain(&error));
        self
    }

    /// Stores a cause, which is only logged, unless there is one already.
    pub(crate) fn or_cause(mut self, cause: String) -> Self {
        self.1.internal.get_or_insert(cause);
        self
    }

    /// Sets whether the request cannot succeed before somebody has corrected something, for example
    /// the credentials of a supplier. Then it is not retryable, whatever its code.
    pub(crate) fn with_required_correction(mut self, requires_correction: bool) -> Self {
        self.1.requires_correction = requires_correction;
        self
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.0
    }

    /// Returns the cause, which is logged but not sent.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.1.internal.as_deref()
    }

    /// Returns the body of the response. `docs` is the base URL of the error code pages, with a
    /// trailing slash.
    pub(crate) fn to_problem(&self, docs: &str, request_id: &str) -> Problem {
        let facts = self.0.info();
        let parts = &self.1;
        let prices = parts.prices.clone().unzip();
        Problem {
            kind: format!("{docs}{}", facts.name),
            title: facts.title.to_owned(),
            status: facts.status,
            code: facts.name.to_owned(),
            detail: self.public_detail(),
            request_id: request_id.to_owned(),
            retryable: (facts.retryable || parts.is_repeat_safe) && !parts.requires_correction,
            supplier: parts.supplier.as_ref().map(ToString::to_string),
            booking_id: parts.booking_id.as_ref().map(ToString::to_string),
            errors: parts.violations.clone(),
            booking_status: parts.booking_status.clone(),
            payment_status: parts.payment_status.clone(),
            offered: prices.0,
            current: prices.1,
        }
    }

    /// Replaces status and body of a response and sets its headers; other headers stay.
    pub(crate) fn write_response(&self, response: &mut Response, docs: &str, request_id: &str) {
        let problem = self.to_problem(docs, request_id);
        *response.status_mut() = self.0.status();
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if let Some(seconds) = self.retry_after_s() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(supplier) = &problem.supplier
            && let Ok(value) = HeaderValue::from_str(supplier)
        {
            headers.insert("x-supplier", value);
        }
        *response.body_mut() = Body::from(body);
    }

    fn public_detail(&self) -> String {
        if let Some(detail) = &self.1.detail {
            return detail.clone();
        }
        self.0.info().description.to_owned()
    }

    /// Returns the time until a retry. Every 429 and 503, and the 409 of a request in progress, has
    /// one.
    fn retry_after_s(&self) -> Option<u32> {
        let expected =
            matches!(self.0.info().status, 429 | 503) || self.0 == ErrorCode::IdempotencyInProgress;
        self.1.retry_after_s.or(expected.then_some(1))
    }
}

/// Returns the error code of a supplier's definite refusal.
fn refusal_code(reason: &RefusalReason) -> ErrorCode {
    match reason {
        RefusalReason::Unavailable => ErrorCode::OfferUnavailable,
        RefusalReason::Expired => ErrorCode::OfferExpired,
        RefusalReason::PaymentRequired | RefusalReason::PaymentDeclined => ErrorCode::PaymentFailed,
        RefusalReason::PriceChanged(_)
        | RefusalReason::TermsChanged
        | RefusalReason::Invalid
        | RefusalReason::Duplicate
        | RefusalReason::NotCancellable
        | RefusalReason::Account
        | RefusalReason::Other(_) => ErrorCode::SupplierRejected,
    }
}

/// Passes the error to the outermost middleware, which writes the body.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.0.status();
        response.extensions_mut().insert(self);
        response
    }
}

/// Takes the error of a response. Also recognizes error responses of the router or a library. Their
/// `Allow` header stays.
pub(crate) fn take_error(response: &mut Response) -> Option<ApiError> {
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        return Some(error);
    }
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    let error = ApiError::from(ErrorCode::from_status(status));
    let methods = response.headers().get(ALLOW).map(HeaderValue::to_str);
    Some(match methods {
        Some(Ok(methods)) => error.with_detail(format!("the path has the methods {methods}")),
        _ => error,
    })
}

#[cfg(test)]
mod tests;
