//! Conversion of supplier webhook errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::extract::BodyError;
use crate::problem::{ApiError, Violation};
use host_application::storage_failure::StorageFailure;
use host_application::supplier_event::service::{AdmitError, ReceiveError};
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::VerifyError;

impl ApiError {
    /// Creates the error for a webhook request whose body is not read.
    pub(crate) fn from_admit(supplier: &SupplierId, error: &AdmitError) -> Self {
        match error {
            AdmitError::NotFound => ErrorCode::NotFound.into(),
            AdmitError::NotLoaded => {
                Self::from(ErrorCode::SupplierUnavailable).with_supplier(supplier)
            }
            AdmitError::Overloaded => ErrorCode::Overloaded.into(),
        }
    }

    /// Creates the error for a webhook request that is not, or not completely, stored. If the
    /// request may be sent again, the error says so.
    pub(crate) fn from_receive(supplier: &SupplierId, error: ReceiveError) -> Self {
        let verify = match error {
            // Events that are already stored are recognized when the request is sent again.
            ReceiveError::Store(
                error @ (StorageFailure::Unavailable(_) | StorageFailure::CommitUnknown(_)),
            ) => return Self::from(ErrorCode::Overloaded).with_cause(error),
            ReceiveError::Store(error) => return Self::from_storage(error),
            ReceiveError::Verify(error) => error,
        };
        let answer = match &verify {
            VerifyError::Unsupported => return ErrorCode::NotFound.into(),
            VerifyError::InvalidSignature(_) => Self::from(ErrorCode::InvalidSignature),
            VerifyError::Malformed(_) => Self::violation(Violation::body(
                "",
                "unreadable",
                "is not a valid webhook request of the supplier",
            )),
            VerifyError::Failed(_) => Self::from(ErrorCode::SupplierUnavailable),
            VerifyError::Overloaded => Self::from(ErrorCode::Overloaded),
        };
        answer.with_supplier(supplier).with_cause(verify)
    }

    /// Creates the error for a webhook request whose body is incomplete.
    pub(crate) fn from_body(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => ErrorCode::BodyTooLarge.into(),
            BodyError::Timeout | BodyError::Incomplete => {
                Self::violation(Violation::body("", "incomplete", error.to_string()))
            }
        }
    }
}
