//! Conversion of query, booking and idempotency errors to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::{ApiError, Violation};
use host_application::booking::cancel_error::{CancelError, CancellationQuoteError};
use host_application::booking::completion::CompleteBookingError;
use host_application::booking::execution::WorkflowError;
use host_application::booking::prebook::PrebookError;
use host_application::booking::prebook_refusal::PrebookRefusal;
use host_application::idempotency::IdempotencyError;
use host_application::payment_instrument::AddInstrumentError;
use host_application::supplier::query_error::QueryError;
use host_domain::id::RoomId;
use host_domain::supplier::{ReadError, SupplierId};

impl ApiError {
    /// Creates the error for a failed query.
    pub(crate) fn from_query(error: QueryError) -> Self {
        match error {
            QueryError::Database(error) => Self::from_storage(error),
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
                    .collect(),
            ),
            QueryError::CheckInPassed => Self::violation(Violation::body(
                "/check_in",
                "in_the_past",
                "must not be in the past at the hotel",
            )),
            QueryError::PlaceNotFound => ErrorCode::PlaceNotFound.into(),
            QueryError::AirlineNotFound => ErrorCode::AirlineNotFound.into(),
            QueryError::BookingNotFound => ErrorCode::BookingNotFound.into(),
        }
    }

    /// Creates the error for an idempotency key that cannot be used.
    pub(crate) fn from_idempotency(error: IdempotencyError) -> Self {
        match error {
            IdempotencyError::Commit(error) => Self::from_storage(error),
            IdempotencyError::KeyReused => ErrorCode::IdempotencyKeyReused.into(),
        }
    }

    /// Creates the error for a prebook that bound nothing.
    pub(crate) fn from_prebook(supplier: &SupplierId, error: PrebookError) -> Self {
        let of_supplier = |code: ErrorCode| Self::from(code).with_supplier(supplier);
        match error {
            PrebookError::Workflow(error) => Self::from_workflow(error),
            PrebookError::IdempotencyKeyReused => ErrorCode::IdempotencyKeyReused.into(),
            PrebookError::IdempotencyInProgress => ErrorCode::IdempotencyInProgress.into(),
            PrebookError::Refused(PrebookRefusal::PriceChanged { offered, current }) => {
                of_supplier(ErrorCode::OfferPriceChanged).with_prices(offered, current)
            }
            PrebookError::Refused(PrebookRefusal::Unavailable) => {
                of_supplier(ErrorCode::OfferUnavailable)
            }
            PrebookError::Refused(PrebookRefusal::Expired) => of_supplier(ErrorCode::OfferExpired),
            PrebookError::Refused(PrebookRefusal::Rejected) => {
                of_supplier(ErrorCode::SupplierRejected)
            }
            PrebookError::OfferInUse => of_supplier(ErrorCode::OfferInUse),
            PrebookError::RateLimited { retry_after_s } => {
                of_supplier(ErrorCode::SupplierRateLimited).with_retry_after(retry_after_s)
            }
            PrebookError::Seal(error) => Self::internal(error),
            PrebookError::NotSent { overloaded: true } => of_supplier(ErrorCode::Overloaded),
            PrebookError::NotSent { overloaded: false } => {
                of_supplier(ErrorCode::SupplierUnavailable)
            }
            PrebookError::SupplierAccount => of_supplier(ErrorCode::SupplierError),
            PrebookError::NoResponse { timed_out: true } => of_supplier(ErrorCode::SupplierTimeout),
            PrebookError::NoResponse { timed_out: false } => of_supplier(ErrorCode::SupplierError),
            PrebookError::Unsupported => of_supplier(ErrorCode::SupplierOperationUnsupported),
        }
    }

    /// Creates the error for a completion that was not started, or whose workflow stopped.
    pub(crate) fn from_complete(error: CompleteBookingError) -> Self {
        let body = |code: &str, detail: &str| {
            Self::violation(Violation::body("/payment_instrument_id", code, detail))
        };
        match error {
            CompleteBookingError::Workflow(error) => Self::from_workflow(error),
            CompleteBookingError::NotFound => ErrorCode::BookingNotFound.into(),
            CompleteBookingError::InvalidState(status) => Self::booking_state_conflict(status),
            CompleteBookingError::InstrumentInvalid => ErrorCode::PaymentInstrumentInvalid.into(),
            CompleteBookingError::InstrumentUnreadable(error) => Self::internal(error),
            CompleteBookingError::InstrumentMissing => body(
                "required",
                "this booking is paid with a stored payment instrument",
            ),
            CompleteBookingError::InstrumentNotAllowed => {
                body("not_allowed", "this booking is paid in a browser: send {}")
            }
            CompleteBookingError::Idempotency(error) => Self::from_idempotency(error),
        }
    }

    /// Creates the error for a cancellation that was not started. `rooms` are those of the request.
    pub(crate) fn from_cancel(error: CancelError, rooms: &[RoomId]) -> Self {
        match error {
            CancelError::Workflow(error) => Self::from_workflow(error),
            CancelError::NotFound => ErrorCode::BookingNotFound.into(),
            CancelError::InvalidState(status) => Self::booking_state_conflict(status),
            CancelError::UnknownRoom(room) => {
                let at = rooms
                    .iter()
                    .position(|named| *named == room)
                    .unwrap_or_default();
                Self::violation(Violation::body(
                    format!("/room_ids/{at}"),
                    "unknown_room",
                    "the booking has no such room",
                ))
            }
            CancelError::Unsupported => ErrorCode::SupplierOperationUnsupported.into(),
            CancelError::Idempotency(error) => Self::from_idempotency(error),
        }
    }

    /// Creates the error for a cancellation that could not be quoted.
    pub(crate) fn from_quote(error: CancellationQuoteError) -> Self {
        match error {
            CancellationQuoteError::Workflow(error) => Self::from_workflow(error),
            CancellationQuoteError::NotFound => ErrorCode::BookingNotFound.into(),
            CancellationQuoteError::InvalidState(status) => Self::booking_state_conflict(status),
            CancellationQuoteError::BookingChanged => ErrorCode::BookingChanged.into(),
            CancellationQuoteError::CancellationRestricted => {
                ErrorCode::CancellationRestricted.into()
            }
            CancellationQuoteError::Supplier(supplier, error) => {
                Self::from_supplier_read(&supplier, &error, ErrorCode::SupplierError)
            }
        }
    }

    /// Creates the error for a payment instrument that was not added.
    pub(crate) fn from_add_instrument(error: AddInstrumentError) -> Self {
        match error {
            AddInstrumentError::Commit(error) => Self::from_storage(error),
            AddInstrumentError::Seal(error) => Self::internal(error),
            AddInstrumentError::Idempotency(error) => Self::from_idempotency(error),
            AddInstrumentError::NoProcessor => Self::from(ErrorCode::SupplierOperationUnsupported)
                .with_detail("no payment processor is configured for this mode"),
            AddInstrumentError::Processor(
                _,
                error @ (ReadError::NotFound(_) | ReadError::Rejected(_)),
            ) => Self::from(ErrorCode::PaymentInstrumentInvalid).with_cause(error),
            AddInstrumentError::Processor(processor, error) => {
                Self::from_supplier_read(&processor, &error, ErrorCode::PaymentInstrumentInvalid)
            }
            AddInstrumentError::Deleted => ErrorCode::PaymentInstrumentNotFound.into(),
        }
    }

    pub(crate) fn booking_state_conflict(status: &'static str) -> Self {
        Self::from(ErrorCode::BookingStateConflict)
            .with_booking_status(status)
            .with_detail(match status {
                // A confirmed booking allows all other operations, so only an unresolved purchase
                // can cause this error.
                "CONFIRMED" => {
                    "the outcome of a service purchase that is in progress on the booking is not known yet"
                        .to_owned()
                }
                _ => format!("the booking is {status}"),
            })
    }

    /// Creates the error for a workflow that stopped. The calls that were sent are reconciled in
    /// the background, so their outcome is not known here.
    pub(super) fn from_workflow(error: WorkflowError) -> Self {
        match error {
            WorkflowError::Database(error) => Self::from_storage(error),
            WorkflowError::InvalidTransition(_) => {
                Self::from(ErrorCode::BookingChanged).with_cause(error)
            }
            WorkflowError::StorageFailedAfterSend(_)
            | WorkflowError::LeaseLost(_)
            | WorkflowError::TooManyConflicts(_)
            | WorkflowError::TaskPanicked => Self::from(ErrorCode::ResultUnknown).with_cause(error),
            WorkflowError::BookingMissing(_) => Self::internal(error),
        }
    }
}
