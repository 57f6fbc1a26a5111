//! Conversion of service purchase errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::{ApiError, Violation};
use host_application::booking::service_purchase::ServicePurchaseError;

impl ApiError {
    /// Creates the error for services that were not purchased or could not be listed.
    pub(crate) fn from_service_purchase(error: ServicePurchaseError) -> Self {
        match error {
            ServicePurchaseError::Workflow(error) => Self::from_workflow(error),
            ServicePurchaseError::NotFound => ErrorCode::BookingNotFound.into(),
            ServicePurchaseError::InvalidState(status) => Self::booking_state_conflict(status),
            ServicePurchaseError::IdempotencyKeyReused => ErrorCode::IdempotencyKeyReused.into(),
            ServicePurchaseError::Unsupported => ErrorCode::SupplierOperationUnsupported.into(),
            ServicePurchaseError::NotOffered(at) => Self::violation(Violation::body(
                format!("/services/{at}/id"),
                "not_for_sale",
                "the airline does not sell this for the booking now",
            )),
            ServicePurchaseError::QuantityExceeded { at, max } => Self::violation(Violation::body(
                format!("/services/{at}/quantity"),
                "too_large",
                format!("must be at most {max}"),
            )),
            ServicePurchaseError::InstrumentInvalid => ErrorCode::PaymentInstrumentInvalid.into(),
            ServicePurchaseError::InstrumentUnreadable(error) => Self::internal(error),
            ServicePurchaseError::PaymentFailed { requires_action } => {
                Self::payment_failed(requires_action)
                    .with_detail("Nothing was charged or bought. Use a new key to try again.")
            }
            ServicePurchaseError::Rejected(supplier) => Self::from(ErrorCode::SupplierRejected)
                .with_supplier(&supplier)
                .with_detail(
                    "Nothing was bought, and the payment is released. Use a new key to try again.",
                ),
            ServicePurchaseError::Unknown => ErrorCode::ResultUnknown.into(),
            ServicePurchaseError::NotSent { overloaded: true } => ErrorCode::Overloaded.into(),
            ServicePurchaseError::NotSent { overloaded: false } => {
                ErrorCode::SupplierUnavailable.into()
            }
            ServicePurchaseError::Supplier(supplier, error) => {
                Self::from_supplier_read(&supplier, &error, ErrorCode::SupplierError)
            }
        }
    }
}
