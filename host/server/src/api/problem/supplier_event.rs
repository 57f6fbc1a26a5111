//! How a supplier's own delivery ends in HTTP when it is not taken.

use crate::api::code::Code;
use crate::api::extract::BodyError;
use crate::api::problem::{ApiError, Violation};
use crate::flow::supplier_event::ReceiveError;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::VerifyError;
use host_storage::{CommitError, DatabaseError};

impl ApiError {
    /// A delivery of which nothing, or not everything, is stored. What may come
    /// again is told so.
    pub(crate) fn from_receive(supplier: &SupplierId, error: ReceiveError) -> Self {
        let verify = match error {
            // What is stored already is known when it comes again.
            ReceiveError::Store(CommitError::Database(
                error @ (DatabaseError::Unavailable(_)
                | DatabaseError::CommitUnknown(_)
                | DatabaseError::Closed),
            )) => return Self::from(Code::Overloaded).with_cause(error),
            ReceiveError::Store(error) => return Self::from_commit(error),
            ReceiveError::Verify(error) => error,
        };
        let answer = match &verify {
            VerifyError::Unsupported => return Code::NotFound.into(),
            VerifyError::InvalidSignature(_) => Self::from(Code::InvalidSignature),
            VerifyError::Malformed(_) => Self::violation(Violation::body(
                "",
                "unreadable",
                "must be as the supplier is known to send it",
            )),
            VerifyError::Failed(_) => Self::from(Code::SupplierUnavailable),
            VerifyError::Overloaded => Self::from(Code::Overloaded),
        };
        answer.with_supplier(supplier).with_cause(verify)
    }

    /// A delivery whose body did not come as a whole.
    pub(crate) fn from_body(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Code::BodyTooLarge.into(),
            BodyError::Timeout | BodyError::Incomplete => {
                Self::violation(Violation::body("", "incomplete", error.to_string()))
            }
        }
    }
}
