//! How questions and flows about hotels end in HTTP when they do not succeed.

use crate::api::code::Code;
use crate::api::problem::{ApiError, Violation};
use crate::flow::cancel::{CancelError, QuoteError};
use crate::flow::complete::CompleteError;
use crate::flow::prebook::PrebookError;
use crate::flow::refusal::Decision;
use crate::flow::step::FlowError;
use crate::idempotency::KeyError;
use crate::instrument::AddError;
use crate::query::QueryError;
use host_domain::id::RoomId;
use host_domain::supplier::{ReadError, SupplierId};

impl ApiError {
    /// A question without an answer.
    pub(crate) fn query(error: QueryError) -> Self {
        match error {
            QueryError::Database(error) => Self::storage(error),
            QueryError::Unsupported(None) => Code::SupplierOperationUnsupported.into(),
            QueryError::Unsupported(Some(supplier)) => {
                Self::from(Code::SupplierOperationUnsupported).supplier(&supplier)
            }
            QueryError::Supplier { supplier, error } => {
                Self::read(&supplier, &error, Code::HotelNotFound)
            }
            QueryError::UnknownHotels(ids) => {
                let names: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
                Self::from(Code::HotelNotFound)
                    .detail(format!("there is no hotel {}", names.join(", ")))
            }
            QueryError::SeveralSuppliers(hotels) => Self::violations(
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
                "must not be over at the hotel",
            )),
            QueryError::UnknownPlace => Code::PlaceNotFound.into(),
            QueryError::UnknownAirline => Code::AirlineNotFound.into(),
            QueryError::UnknownBooking => Code::BookingNotFound.into(),
        }
    }

    /// A key that cannot be used.
    pub(crate) fn key(error: KeyError) -> Self {
        match error {
            KeyError::Commit(error) => Self::commit(error),
            KeyError::Reused => Code::IdempotencyKeyReused.into(),
        }
    }

    /// A prebook that bound nothing.
    pub(crate) fn prebook(supplier: &SupplierId, error: PrebookError) -> Self {
        let of_supplier = |code: Code| Self::from(code).supplier(supplier);
        match error {
            PrebookError::Flow(error) => Self::flow(error),
            PrebookError::KeyReused => Code::IdempotencyKeyReused.into(),
            PrebookError::InProgress => Code::IdempotencyInProgress.into(),
            PrebookError::Decided(Decision::PriceChanged { offered, current }) => {
                of_supplier(Code::OfferPriceChanged).prices(offered, current)
            }
            PrebookError::Decided(Decision::Unavailable) => of_supplier(Code::OfferUnavailable),
            PrebookError::Decided(Decision::Expired) => of_supplier(Code::OfferExpired),
            PrebookError::Decided(Decision::Rejected) => of_supplier(Code::SupplierRejected),
            PrebookError::OfferInUse => of_supplier(Code::OfferInUse),
            PrebookError::RateLimited { retry_after_s } => {
                of_supplier(Code::SupplierRateLimited).retry_after(retry_after_s)
            }
            PrebookError::Sealed(error) => Self::internal(error),
            PrebookError::NotSent { overloaded: true } => of_supplier(Code::Overloaded),
            PrebookError::NotSent { overloaded: false } => of_supplier(Code::SupplierUnavailable),
            PrebookError::Account => of_supplier(Code::SupplierError),
            PrebookError::NoAnswer { timed_out: true } => of_supplier(Code::SupplierTimeout),
            PrebookError::NoAnswer { timed_out: false } => of_supplier(Code::SupplierError),
            PrebookError::Unsupported => of_supplier(Code::SupplierOperationUnsupported),
        }
    }

    /// A completion that was not begun, or whose walk stopped.
    pub(crate) fn complete(error: CompleteError) -> Self {
        let body = |code: &str, detail: &str| {
            Self::violation(Violation::body("/payment_instrument_id", code, detail))
        };
        match error {
            CompleteError::Flow(error) => Self::flow(error),
            CompleteError::NotFound => Code::BookingNotFound.into(),
            CompleteError::State(status) => Self::state(status),
            CompleteError::InstrumentInvalid => Code::PaymentInstrumentInvalid.into(),
            CompleteError::InstrumentSealed(error) => Self::internal(error),
            CompleteError::InstrumentMissing => body(
                "required",
                "this booking is paid with a stored payment instrument",
            ),
            CompleteError::InstrumentNotWanted => {
                body("not_allowed", "this booking is paid in a browser: send {}")
            }
            CompleteError::Key(error) => Self::key(error),
        }
    }

    /// A cancellation that was not begun. `rooms`: those that the request named.
    pub(crate) fn cancel(error: CancelError, rooms: &[RoomId]) -> Self {
        match error {
            CancelError::Flow(error) => Self::flow(error),
            CancelError::NotFound => Code::BookingNotFound.into(),
            CancelError::State(status) => Self::state(status),
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
            CancelError::Unsupported => Code::SupplierOperationUnsupported.into(),
            CancelError::Key(error) => Self::key(error),
        }
    }

    /// A cancellation that could not be quoted.
    pub(crate) fn quote(error: QuoteError) -> Self {
        match error {
            QuoteError::Flow(error) => Self::flow(error),
            QuoteError::NotFound => Code::BookingNotFound.into(),
            QuoteError::State(status) => Self::state(status),
            QuoteError::Changed => Code::BookingChanged.into(),
            QuoteError::Restricted => Code::CancellationRestricted.into(),
            QuoteError::Supplier(supplier, error) => {
                Self::read(&supplier, &error, Code::SupplierError)
            }
        }
    }

    /// A payment instrument that was not added.
    pub(crate) fn add_instrument(error: AddError) -> Self {
        match error {
            AddError::Commit(error) => Self::commit(error),
            AddError::Seal(error) => Self::internal(error),
            AddError::Key(error) => Self::key(error),
            AddError::NoProcessor => Self::from(Code::SupplierOperationUnsupported)
                .detail("no payment processor is configured for this mode"),
            AddError::Processor(_, error @ (ReadError::NotFound(_) | ReadError::Rejected(_))) => {
                Self::from(Code::PaymentInstrumentInvalid).because(error)
            }
            AddError::Processor(processor, error) => {
                Self::read(&processor, &error, Code::PaymentInstrumentInvalid)
            }
            AddError::Deleted => Code::PaymentInstrumentNotFound.into(),
        }
    }

    pub(in crate::api) fn state(status: &'static str) -> Self {
        Self::from(Code::BookingStateConflict)
            .booking_status(status)
            .detail(match status {
                // Which allows everything else that anybody can ask for.
                "CONFIRMED" => {
                    "bags are being bought on the booking, and whether they were is not known yet"
                        .to_owned()
                }
                _ => format!("the booking is {status}"),
            })
    }

    /// A walk that stopped: what was sent is settled in the background, so what
    /// came of it is not known here.
    pub(super) fn flow(error: FlowError) -> Self {
        match error {
            FlowError::Database(error) => Self::storage(error),
            FlowError::Conflict(_) => Self::from(Code::BookingChanged).because(error),
            FlowError::Interrupted(_)
            | FlowError::LeaseLost(_)
            | FlowError::Contended(_)
            | FlowError::Stopped => Self::from(Code::ResultUnknown).because(error),
            FlowError::Gone(_) => Self::internal(error),
        }
    }
}
