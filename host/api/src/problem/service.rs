//! Conversion of errors of all other services to HTTP errors.

use crate::error_code::ErrorCode;
use crate::extract::BodyError;
use crate::problem::{ApiError, ChangeOperation, Violation};
use host_application::idempotency::IdempotencyError;
use host_application::mandate::service::MandateError;
use host_application::mandate::signing_key::SigningKeyError;
use host_application::payment_instrument::AddInstrumentError;
use host_application::storage_failure::StorageFailure;
use host_application::supplier::query_error::QueryError;
use host_application::supplier_event::service::{AdmitError, ReceiveError};
use host_application::watch::service::WatchError;
use host_application::webhook::error::WebhookError;
use host_application::webhook::listen::ListenError;
use host_domain::supplier::{ReadError, SupplierId};
use host_domain::supplier_event::VerifyError;

impl ApiError {
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
            VerifyError::Malformed(_) => Self::violation(
                "",
                "unreadable",
                "is not a valid webhook request of the supplier",
            ),
            VerifyError::Failed(reason) => Self::from(ErrorCode::SupplierUnavailable)
                .with_required_correction(reason.requires_correction),
            VerifyError::Overloaded => Self::from(ErrorCode::Overloaded),
        };
        answer.with_supplier(supplier).with_cause(verify)
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Database(error) => {
                Self::from_storage(error).with_next_step(ChangeOperation::StoringQuery)
            }
            QueryError::Unsupported(None) => ErrorCode::SupplierOperationUnsupported.into(),
            QueryError::Unsupported(Some(supplier)) => {
                Self::from(ErrorCode::SupplierOperationUnsupported).with_supplier(&supplier)
            }
            QueryError::Supplier { supplier, error } => {
                Self::from_supplier_read(&supplier, &error, ErrorCode::HotelNotFound)
            }
            QueryError::HotelsNotFound(ids) => {
                let names: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
                Self::from(ErrorCode::HotelNotFound)
                    .with_detail(format!("there is no hotel {}", names.join(", ")))
            }
            QueryError::MixedSuppliers(hotels) => Self::violations(
                hotels
                    .into_iter()
                    .map(|(at, id, owners)| {
                        let owners: Vec<&str> = owners.iter().map(SupplierId::as_str).collect();
                        let detail = format!(
                            "the hotels of a request must be of one supplier; {id} belongs to {}",
                            owners.join(", ")
                        );
                        Violation::body(format!("/hotel_ids/{at}"), "several_suppliers", detail)
                    })
                    .collect::<Vec<_>>(),
            ),
            QueryError::CheckInPassed => Self::violation(
                "/check_in",
                "in_the_past",
                "must not be in the past at the hotel",
            ),
            QueryError::PlaceNotFound => ErrorCode::PlaceNotFound.into(),
            QueryError::AirlineNotFound => ErrorCode::AirlineNotFound.into(),
            QueryError::BookingNotFound => ErrorCode::BookingNotFound.into(),
        }
    }
}

impl From<IdempotencyError> for ApiError {
    fn from(error: IdempotencyError) -> Self {
        match error {
            IdempotencyError::Commit(error) => Self::from_storage(error),
            IdempotencyError::KeyReused => ErrorCode::IdempotencyKeyReused.into(),
        }
    }
}

impl From<AddInstrumentError> for ApiError {
    fn from(error: AddInstrumentError) -> Self {
        match error {
            AddInstrumentError::Commit(error) => Self::from_storage(error),
            AddInstrumentError::Seal(error) => Self::internal(error),
            AddInstrumentError::Idempotency(error) => error.into(),
            AddInstrumentError::NoProcessor => Self::from(ErrorCode::SupplierOperationUnsupported)
                .with_detail("no payment processor is configured for this mode"),
            AddInstrumentError::Processor(
                processor,
                error @ (ReadError::NotFound(_) | ReadError::Rejected(_)),
            ) => Self::from(ErrorCode::PaymentInstrumentInvalid)
                .with_supplier(&processor)
                .with_cause(error),
            AddInstrumentError::Processor(processor, error) => {
                Self::from_supplier_read(&processor, &error, ErrorCode::PaymentInstrumentInvalid)
            }
            AddInstrumentError::Deleted => ErrorCode::PaymentInstrumentNotFound.into(),
        }
    }
}

impl From<MandateError> for ApiError {
    fn from(error: MandateError) -> Self {
        match error {
            MandateError::NotFound => ErrorCode::MandateNotFound.into(),
            MandateError::Invalid(refusal) => {
                Self::from(ErrorCode::MandateInvalid).with_detail(refusal.to_string())
            }
            MandateError::OtherUser => {
                Self::violation("/user_id", "other_user", "must be the user in x-user-id")
            }
            MandateError::InstrumentNotFound => ErrorCode::PaymentInstrumentInvalid.into(),
            MandateError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            MandateError::Idempotency(error) => error.into(),
            MandateError::Storage(error) => Self::from_storage(error),
            MandateError::SigningKey(error) => error.into(),
            MandateError::Claims(error) => Self::internal(error),
        }
    }
}

impl From<SigningKeyError> for ApiError {
    fn from(error: SigningKeyError) -> Self {
        match error {
            SigningKeyError::Storage(error) => Self::from_storage(error),
            SigningKeyError::Seal(_)
            | SigningKeyError::Missing
            | SigningKeyError::Unusable(_)
            | SigningKeyError::Json(_) => Self::internal(error),
        }
    }
}

impl From<WatchError> for ApiError {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::NotFound => ErrorCode::WatchNotFound.into(),
            WatchError::EventNotFound => ErrorCode::EventNotFound.into(),
            WatchError::NoAutoBook => {
                Self::from(ErrorCode::WatchStateConflict).with_detail("the watch has no auto_book")
            }
            WatchError::InvalidTransition(conflict) => Self::from(ErrorCode::WatchStateConflict)
                .with_detail(format!("the watch is {}", conflict.status)),
            WatchError::Query(error) => error.into(),
            WatchError::InstrumentNotFound => ErrorCode::PaymentInstrumentInvalid.into(),
            WatchError::Mandate(error) => Self::internal(error),
            WatchError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            WatchError::Idempotency(error) => error.into(),
            WatchError::Storage(error) => Self::from_storage(error),
        }
    }
}

impl From<WebhookError> for ApiError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::NotFound => ErrorCode::SubscriptionNotFound.into(),
            WebhookError::DeliveryNotFound => ErrorCode::DeliveryNotFound.into(),
            WebhookError::SubscriptionLimitReached { max } => Self::violation(
                "",
                "too_many_subscriptions",
                format!("there are {max} subscriptions to this product already: delete one"),
            ),
            WebhookError::UrlNotAllowed(refusal) => {
                Self::from(ErrorCode::UrlNotAllowed).with_detail(format!("The url: {refusal}."))
            }
            WebhookError::ReplayNotAllowed(refusal) => Self::from(ErrorCode::ReplayNotAllowed)
                .with_detail(format!("{refusal}: it may still arrive")),
            WebhookError::SubscriptionNotActive => ErrorCode::SubscriptionPaused.into(),
            WebhookError::TooManyConflicts => Self::from(ErrorCode::Overloaded).with_cause(error),
            WebhookError::Idempotency(error) => error.into(),
            WebhookError::Storage(error) => Self::from_storage(error),
            WebhookError::Seal(error) => Self::internal(error),
        }
    }
}

impl From<ListenError> for ApiError {
    fn from(error: ListenError) -> Self {
        match error {
            ListenError::NotFound => ErrorCode::NotFound.into(),
            ListenError::TooManySessions | ListenError::CallInProgress => {
                Self::from(ErrorCode::RateLimited).with_detail(error.to_string())
            }
            ListenError::Storage(failure) => Self::from_storage(failure),
        }
    }
}

/// Applies to webhook requests of suppliers.
impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => ErrorCode::BodyTooLarge.into(),
            BodyError::Timeout | BodyError::Incomplete => {
                Self::violation("", "incomplete", error.to_string())
            }
        }
    }
}
