//! Operator view of unresolved calls and parked jobs, on the admin listener, with the operations
//! that settle the calls and retry the jobs.

use crate::admin::actor::AdminActor;
use crate::admin::open_outcome::outcome_json;
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::booking::open_outcome::OpenOutcomeReader;
use host_application::booking::resolution::{CallSelector, Resolution, ResolveError};
use host_application::booking::settlement::{
    NOTE_CHARS_MAX, NewSettlement, SettlementService, WithdrawError,
};
use host_application::error_chain::describe_error_chain;
use host_application::jobs::operator::OperatorService;
use host_domain::id::BookingId;
use host_resources::value::{Amount, CurrencyCode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the unresolved calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnresolvedQuery {
    /// Minimum age since the call was sent, in seconds.
    #[serde(default)]
    older_than_s: u32,
}

/// Outcome that an operator determined at the supplier or processor. `note` is the reason, for the
/// audit log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "outcome", rename_all = "snake_case")]
pub(super) enum SettleRequest {
    /// The call was executed.
    Done {
        /// Client reference of the call as listed. Required if several calls of the booking are
        /// unresolved.
        client_reference: Option<String>,
        /// Id of the booking or payment at the supplier or processor, if the gateway does not have
        /// it.
        supplier_reference: Option<String>,
        #[serde(default)]
        note: String,
    },
    /// The call was not executed and will not be.
    NotDone {
        /// Client reference of the call as listed.
        client_reference: Option<String>,
        #[serde(default)]
        note: String,
    },
    /// Refund amount of a completed cancellation.
    Refund {
        /// Client reference of the refund as listed. Required if several refunds of the booking are
        /// undecided.
        client_reference: Option<String>,
        /// Amount in major units, at most what was paid.
        amount: Amount,
        currency: CurrencyCode,
        #[serde(default)]
        note: String,
    },
}

impl SettleRequest {
    /// Returns the client reference of the call, if it is named, and the decision.
    ///
    /// # Errors
    /// The note is too long, or the amount is not one of its currency.
    fn into_settlement(self) -> Result<(Option<String>, NewSettlement), ApiError> {
        let (call, resolution, note) = match self {
            Self::Done {
                client_reference,
                supplier_reference,
                note,
            } => {
                let reference = supplier_reference;
                (client_reference, Resolution::Done { reference }, note)
            }
            Self::NotDone {
                client_reference,
                note,
            } => (client_reference, Resolution::NotDone, note),
            Self::Refund {
                client_reference,
                amount,
                currency,
                note,
            } => {
                let refund = amount.to_money(currency);
                let refund =
                    refund.map_err(|_| from_resolve_error(ResolveError::InvalidRefundAmount))?;
                (client_reference, Resolution::Refund(refund), note)
            }
        };
        if note.chars().count() > NOTE_CHARS_MAX {
            let detail = format!("the note has more than {NOTE_CHARS_MAX} characters");
            return Err(ApiError::from(ErrorCode::ValidationFailed).with_detail(detail));
        }
        let settlement = NewSettlement {
            resolution,
            note,
            seen_state: None,
        };
        Ok((call, settlement))
    }
}

/// Selects the decision to withdraw.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WithdrawRequest {
    /// Client reference of the call as listed. Required if decisions about several calls of the
    /// booking wait.
    client_reference: Option<String>,
}

/// Filter of the parked jobs; all if no field is set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetryJobsRequest {
    /// Kind of job as listed.
    kind: Option<String>,
    /// Subject of the job as listed.
    subject: Option<String>,
}

/// `GET /unresolved`: lists unresolved calls and parked jobs.
pub(super) async fn list_unresolved(
    State(operator): State<Arc<OperatorService>>,
    Query(query): Query<UnresolvedQuery>,
) -> Result<Json<Value>, ApiError> {
    let unresolved = operator.list_unresolved(query.older_than_s).await;
    let unresolved = unresolved.map_err(ApiError::from_storage)?;
    Ok(Json(json!({ "data": unresolved })))
}

/// `GET /unresolved/{booking_id}`: the open outcomes of a booking, oldest first, with their evidence
/// and with what each decision does.
pub(super) async fn show_outcomes(
    State(outcomes): State<Arc<OpenOutcomeReader>>,
    Path(booking): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let not_found = || ApiError::from(ErrorCode::BookingNotFound);
    let id = BookingId::parse(&booking).map_err(|_| not_found())?;
    let found = outcomes.find_unscoped(&id).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(not_found)?.into_iter();
    let outcomes: Vec<Value> = found.map(outcome_json).collect();
    Ok(Json(json!({ "data": outcomes })))
}

/// `POST /unresolved/{booking_id}`: settles a call or an undecided refund.
pub(super) async fn settle_booking(
    State(settlements): State<Arc<SettlementService>>,
    Path(booking): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<SettleRequest>,
) -> Result<Json<Value>, ApiError> {
    let id = BookingId::parse(&booking).map_err(|_| ApiError::from(ErrorCode::BookingNotFound))?;
    let (call, settlement) = request.into_settlement()?;
    let call = call.as_deref();
    let call = call.map_or(CallSelector::Only, CallSelector::ClientReference);
    let status = settlements.apply(&actor, &id, call, &settlement).await;
    let status = status.map_err(from_resolve_error)?.as_str();
    let settled = json!({ "id": id.as_str(), "status": status });
    Ok(Json(json!({ "data": settled })))
}

/// `POST /unresolved/{booking_id}/withdraw`: withdraws a decision that waits for the end of a lookup.
pub(super) async fn withdraw_decision(
    State(settlements): State<Arc<SettlementService>>,
    Path(booking): Path<String>,
    AdminActor(actor): AdminActor,
    Json(request): Json<WithdrawRequest>,
) -> Result<Json<Value>, ApiError> {
    let id = BookingId::parse(&booking).map_err(|_| ApiError::from(ErrorCode::BookingNotFound))?;
    let client_reference = request.client_reference.as_deref();
    let withdrawn = settlements.withdraw_by_reference(&actor, &id, client_reference);
    withdrawn.await.map_err(|error| match error {
        WithdrawError::NothingWaits => {
            ApiError::from(ErrorCode::BookingStateConflict).with_detail(error.to_string())
        }
        WithdrawError::AmbiguousCall => {
            ApiError::from(ErrorCode::ValidationFailed).with_detail(error.to_string())
        }
        WithdrawError::Storage(failure) => ApiError::from_storage(failure),
    })?;
    let withdrawn = json!({ "id": id.as_str(), "withdrawn": true });
    Ok(Json(json!({ "data": withdrawn })))
}

/// `POST /parked_jobs`: resets the attempts of parked jobs and makes them due now.
pub(super) async fn retry_parked_jobs(
    State(operator): State<Arc<OperatorService>>,
    AdminActor(actor): AdminActor,
    Json(request): Json<RetryJobsRequest>,
) -> Result<Json<Value>, ApiError> {
    let (kind, subject) = (request.kind.as_deref(), request.subject.as_deref());
    let jobs = operator.retry_parked_jobs(&actor, kind, subject).await;
    let jobs = jobs.map_err(ApiError::from_storage)?;
    Ok(Json(json!({ "data": { "jobs": jobs } })))
}

fn from_resolve_error(error: ResolveError) -> ApiError {
    let detail = describe_error_chain(&error);
    match error {
        ResolveError::Workflow(error) => ApiError::internal(error),
        ResolveError::NotFound => ErrorCode::BookingNotFound.into(),
        ResolveError::NothingUnresolved(status) | ResolveError::StateChanged(status) => {
            ApiError::from(ErrorCode::BookingStateConflict)
                .with_booking_status(status)
                .with_detail(detail)
        }
        ResolveError::InProgress => ApiError::from(ErrorCode::BookingChanged).with_detail(detail),
        ResolveError::ReferenceRequired
        | ResolveError::InvalidRefundAmount
        | ResolveError::AmbiguousCall => {
            ApiError::from(ErrorCode::ValidationFailed).with_detail(detail)
        }
    }
}
