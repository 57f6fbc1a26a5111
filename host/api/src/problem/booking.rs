//! Conversion of errors of bookings to HTTP errors.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use host_application::booking::cancel_error::{CancelError, CancellationQuoteError};
use host_application::booking::completion::CompleteBookingError;
use host_application::booking::execution::{NotSentCause, WorkflowError};
use host_application::booking::prebook::PrebookError;
use host_application::booking::prebook_refusal::PrebookRefusal;
use host_application::booking::service_purchase::ServicePurchaseError;
use host_domain::id::{BookingId, RoomId};
use host_domain::payment::PaymentError;
use host_domain::supplier::SupplierId;

/// The booking has ended, and its key is free.
const ENDED_WITHOUT_RESPONSE: &str = "The offer is not bound: the supplier's answer is missing or cannot be used. The supplier may \
     have received the request, but it reserves and charges nothing at this stage. The idempotency key is free: send the \
     same request again, with this key or another.";

const PAYMENT_NOT_CREATED: &str = "The offer is not bound: the processor did not create the payment for the browser. Nothing is \
     charged. The idempotency key is free: send the same request again, with this key or another.";

fn unresolved_detail(booking: &BookingId) -> String {
    format!(
        "The supplier's answer is missing or cannot be used. It may have made a checkout, which nobody can reach, so nothing \
         is charged. Booking {booking} stays PREBOOK_IN_PROGRESS for at most 15 minutes; then the idempotency key is free. \
         Use a new key to try again before."
    )
}

fn unconfirmed_detail(booking: &BookingId) -> String {
    format!(
        "The database has not confirmed what became of booking {booking}. Nothing is charged. Send the same request again \
         with the same idempotency key: it returns the booking, or binds the offer again. A new key is safe, too."
    )
}

const fn missing_response(timed_out: bool) -> ErrorCode {
    match timed_out {
        true => ErrorCode::SupplierTimeout,
        false => ErrorCode::SupplierError,
    }
}

impl ApiError {
    /// Creates the error for a call to a supplier or processor that had no effect.
    pub(crate) fn not_sent(called: &SupplierId, cause: NotSentCause) -> Self {
        let (code, retry_after_s) = match cause {
            NotSentCause::RateLimited { retry_after_s } => {
                (ErrorCode::SupplierRateLimited, retry_after_s)
            }
            NotSentCause::Temporary | NotSentCause::RequiresCorrection => {
                (ErrorCode::SupplierUnavailable, None)
            }
        };
        Self::from(code)
            .with_supplier(called)
            .with_retry_after(retry_after_s)
            .with_required_correction(cause == NotSentCause::RequiresCorrection)
    }

    pub(crate) fn from_prebook(supplier: &SupplierId, error: PrebookError) -> Self {
        let of_supplier = |code: ErrorCode| Self::from(code).with_supplier(supplier);
        let (cause, requires_correction) = (error.to_string(), error.requires_correction());
        let answer = match error {
            PrebookError::Workflow(error) => error.into(),
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
            PrebookError::NotSent {
                overloaded: true, ..
            } => of_supplier(ErrorCode::Overloaded),
            PrebookError::NotSent {
                overloaded: false, ..
            } => of_supplier(ErrorCode::SupplierUnavailable),
            PrebookError::SupplierAccount { .. } => of_supplier(ErrorCode::SupplierError),
            PrebookError::NoResponse { timed_out, .. } => {
                of_supplier(missing_response(timed_out)).with_detail(ENDED_WITHOUT_RESPONSE)
            }
            PrebookError::Unresolved {
                booking, timed_out, ..
            } => of_supplier(missing_response(timed_out))
                .with_detail(unresolved_detail(&booking))
                .with_booking_id(booking),
            PrebookError::Unconfirmed { booking } => Self::from(ErrorCode::ResultUnknown)
                .with_detail(unconfirmed_detail(&booking))
                .with_booking_id(booking),
            PrebookError::PaymentNotCreated { processor, error } => {
                let code = match error {
                    PaymentError::NotSent(_) => ErrorCode::SupplierUnavailable,
                    PaymentError::Unknown(_)
                    | PaymentError::Declined(_)
                    | PaymentError::Refused(_)
                    | PaymentError::RefusedByAdapter(_) => ErrorCode::SupplierError,
                };
                Self::from(code)
                    .with_supplier(&processor)
                    .with_detail(PAYMENT_NOT_CREATED)
            }
            PrebookError::NoProcessor => Self::from(ErrorCode::SupplierOperationUnsupported)
                .with_detail("no payment processor is configured for this mode"),
            PrebookError::Unsupported => of_supplier(ErrorCode::SupplierOperationUnsupported),
        };
        answer
            .or_cause(cause)
            .with_required_correction(requires_correction)
    }

    /// Creates the error for a cancellation that was not started. `rooms` are those of the request.
    pub(crate) fn from_cancel(error: CancelError, rooms: &[RoomId]) -> Self {
        match error {
            CancelError::Workflow(error) => error.into(),
            CancelError::NotFound => ErrorCode::BookingNotFound.into(),
            CancelError::InvalidState(status) => Self::booking_state_conflict(status),
            CancelError::UnknownRoom(room) => {
                let at = rooms
                    .iter()
                    .position(|named| *named == room)
                    .unwrap_or_default();
                Self::violation(
                    format!("/room_ids/{at}"),
                    "unknown_room",
                    "the booking has no such room",
                )
            }
            CancelError::Unsupported => ErrorCode::SupplierOperationUnsupported.into(),
            CancelError::Idempotency(error) => error.into(),
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
}

impl From<CompleteBookingError> for ApiError {
    fn from(error: CompleteBookingError) -> Self {
        let body =
            |code: &str, detail: &str| Self::violation("/payment_instrument_id", code, detail);
        match error {
            CompleteBookingError::Workflow(error) => error.into(),
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
            CompleteBookingError::Idempotency(error) => error.into(),
        }
    }
}

impl From<CancellationQuoteError> for ApiError {
    fn from(error: CancellationQuoteError) -> Self {
        match error {
            CancellationQuoteError::Workflow(error) => error.into(),
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
}

impl From<ServicePurchaseError> for ApiError {
    fn from(error: ServicePurchaseError) -> Self {
        match error {
            ServicePurchaseError::Workflow(error) => error.into(),
            ServicePurchaseError::NotFound => ErrorCode::BookingNotFound.into(),
            ServicePurchaseError::InvalidState(status) => Self::booking_state_conflict(status),
            ServicePurchaseError::IdempotencyKeyReused => ErrorCode::IdempotencyKeyReused.into(),
            ServicePurchaseError::Unsupported => ErrorCode::SupplierOperationUnsupported.into(),
            ServicePurchaseError::NotOffered(at) => Self::violation(
                format!("/services/{at}/id"),
                "not_for_sale",
                "the airline does not sell this for the booking now",
            ),
            ServicePurchaseError::QuantityExceeded { at, max } => Self::violation(
                format!("/services/{at}/quantity"),
                "too_large",
                format!("must be at most {max}"),
            ),
            ServicePurchaseError::InstrumentInvalid => ErrorCode::PaymentInstrumentInvalid.into(),
            ServicePurchaseError::InstrumentUnreadable(error) => Self::internal(error),
            ServicePurchaseError::PaymentFailed {
                processor,
                requires_action,
            } => Self::payment_failed(requires_action)
                .with_supplier(&processor)
                .with_detail("Nothing was charged or bought. Use a new key to try again."),
            ServicePurchaseError::Rejected(supplier) => Self::from(ErrorCode::SupplierRejected)
                .with_supplier(&supplier)
                .with_detail(
                    "Nothing was bought, and the payment is released. Use a new key to try again.",
                ),
            ServicePurchaseError::Unknown => ErrorCode::ResultUnknown.into(),
            ServicePurchaseError::NotSent { supplier, cause } => Self::not_sent(&supplier, cause),
            ServicePurchaseError::Supplier(supplier, error) => {
                Self::from_supplier_read(&supplier, &error, ErrorCode::SupplierError)
            }
        }
    }
}

/// The calls that were sent are reconciled in the background, so their outcome is not known here.
impl From<WorkflowError> for ApiError {
    fn from(error: WorkflowError) -> Self {
        match error {
            WorkflowError::Database(error) => Self::from_storage(error),
            WorkflowError::InvalidTransition(_) => {
                Self::from(ErrorCode::BookingChanged).with_cause(error)
            }
            WorkflowError::StorageFailedAfterSend(_)
            | WorkflowError::LeaseLost(_)
            | WorkflowError::TooManyConflicts(_)
            | WorkflowError::TooManySteps(_)
            | WorkflowError::TaskPanicked => Self::from(ErrorCode::ResultUnknown).with_cause(error),
            WorkflowError::BookingMissing(_) | WorkflowError::NotStored { .. } => {
                Self::internal(error)
            }
        }
    }
}
