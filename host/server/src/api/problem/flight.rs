//! How purchases of bags end in HTTP when they do not succeed.

use crate::api::code::Code;
use crate::api::problem::{ApiError, Violation};
use crate::flow::flight::purchase::PurchaseError;

impl ApiError {
    /// Bags that were not bought, or could not be listed.
    pub(crate) fn purchase(error: PurchaseError) -> Self {
        match error {
            PurchaseError::Flow(error) => Self::flow(error),
            PurchaseError::NotFound => Code::BookingNotFound.into(),
            PurchaseError::State(status) => Self::state(status),
            PurchaseError::KeyReused => Code::IdempotencyKeyReused.into(),
            PurchaseError::Unsupported => Code::SupplierOperationUnsupported.into(),
            PurchaseError::NotOffered(at) => Self::violation(Violation::body(
                format!("/services/{at}/id"),
                "not_for_sale",
                "the airline does not sell this on the booking now",
            )),
            PurchaseError::TooMany { at, max } => Self::violation(Violation::body(
                format!("/services/{at}/quantity"),
                "too_large",
                format!("at most {max} can be bought"),
            )),
            PurchaseError::InstrumentInvalid => Code::PaymentInstrumentInvalid.into(),
            PurchaseError::InstrumentSealed(error) => Self::internal(error),
            PurchaseError::PaymentFailed { requires_action } => {
                Self::payment_failed(requires_action)
                    .detail("Nothing was charged or bought; another try needs a new key.")
            }
            PurchaseError::Refused(supplier) => Self::from(Code::SupplierRejected)
                .supplier(&supplier)
                .detail(
                    "Nothing was bought, and the payment is released; another try needs a new key.",
                ),
            PurchaseError::Unknown => Code::ResultUnknown.into(),
            PurchaseError::NotSent { overloaded: true } => Code::Overloaded.into(),
            PurchaseError::NotSent { overloaded: false } => Code::SupplierUnavailable.into(),
            PurchaseError::Supplier(supplier, error) => {
                Self::read(&supplier, &error, Code::SupplierError)
            }
        }
    }
}
