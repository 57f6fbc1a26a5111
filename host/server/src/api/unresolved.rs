//! The operator's list: calls whose outcome nobody knows, and work that never
//! came to an end. On the admin listener, beside what settles them.

use crate::api::admin::error_chain;
use crate::api::code::Code;
use crate::api::problem::ApiError;
use crate::api::value::{Amount, CurrencyCode};
use crate::app::Application;
use crate::flow::settle::{ResolveError, Resolution};
use crate::id;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_domain::id::BookingId;
use host_storage::{Attempt, Job, ParkedJobFilter};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The most rows of either list.
const ROWS_MAX: u32 = 500;

/// Which calls are listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnresolvedQuery {
    /// Sent longer ago than this, seconds.
    #[serde(default)]
    older_than_s: u32,
}

/// What the operator found out at the supplier, or the processor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "outcome", rename_all = "snake_case")]
pub(super) enum ResolveRequest {
    /// It was done.
    Done {
        /// Which call, as the list names it; needed where several of the booking are unknown.
        client_reference: Option<String>,
        /// The other side's id of the booking, or of the payment, where the gateway does not
        /// know it.
        supplier_reference: Option<String>,
    },
    /// It was not done, and will not be.
    NotDone {
        /// Which call.
        client_reference: Option<String>,
    },
    /// A cancellation that is done gives this much back.
    Refund {
        /// Major units, at most what was paid.
        amount: Amount,
        /// Of the booking.
        currency: CurrencyCode,
    },
}

/// Which parked work; all of it, where nothing is named.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetryJobsRequest {
    /// As the list names it.
    kind: Option<String>,
    /// As the list names it.
    subject: Option<String>,
}

/// `GET /unresolved`.
pub(super) async fn list_unresolved(
    State(app): State<Arc<Application>>,
    Query(age): Query<UnresolvedQuery>,
) -> Result<Json<Value>, ApiError> {
    let before = app.clock.now().plus_s(-i64::from(age.older_than_s));
    let attempts = app
        .store
        .unresolved_attempts(before, ROWS_MAX)
        .await
        .map_err(ApiError::from_database)?;
    let parked = app
        .store
        .parked_jobs(ROWS_MAX)
        .await
        .map_err(ApiError::from_database)?;
    let calls: Vec<Value> = attempts.iter().map(attempt_json).collect();
    let jobs: Vec<Value> = parked.iter().map(job_json).collect();
    Ok(Json(
        json!({ "data": { "calls": calls, "parked_jobs": jobs } }),
    ))
}

/// `POST /unresolved/{booking_id}`.
pub(super) async fn resolve_booking(
    State(app): State<Arc<Application>>,
    Path(booking): Path<String>,
    Json(settlement): Json<ResolveRequest>,
) -> Result<Json<Value>, ApiError> {
    let id = BookingId::parse(&booking).map_err(|_| ApiError::from(Code::BookingNotFound))?;
    let (call, verdict) = match settlement {
        ResolveRequest::Done {
            client_reference,
            supplier_reference,
        } => {
            let reference = supplier_reference;
            (client_reference, Resolution::Succeeded { reference })
        }
        ResolveRequest::NotDone { client_reference } => (client_reference, Resolution::NotExecuted),
        ResolveRequest::Refund { amount, currency } => {
            let refund = amount.to_money(currency);
            let refund = refund.map_err(|_| problem(ResolveError::InvalidRefundAmount))?;
            (None, Resolution::RefundAmount(refund))
        }
    };
    let status = app
        .resolve(&id, call.as_deref(), verdict, &id::new_request_id())
        .await
        .map_err(problem)?;
    Ok(Json(
        json!({ "data": { "id": id.as_str(), "status": status } }),
    ))
}

/// `POST /parked_jobs`: what was parked, with attempts anew and due at once.
pub(super) async fn retry_parked_jobs(
    State(app): State<Arc<Application>>,
    Json(parked): Json<RetryJobsRequest>,
) -> Result<Json<Value>, ApiError> {
    let filter = ParkedJobFilter {
        kind: parked.kind.as_deref(),
        subject: parked.subject.as_deref(),
    };
    let begun = app
        .store
        .unpark_jobs(filter, app.clock.now())
        .await
        .map_err(ApiError::from_database)?;
    for job in &begun {
        tracing::info!(
            kind = job.kind,
            subject = job.subject,
            "parked work begins anew: an operator asked for it"
        );
    }
    let jobs: Vec<Value> = begun.iter().map(job_json).collect();
    Ok(Json(json!({ "data": { "jobs": jobs } })))
}

fn problem(error: ResolveError) -> ApiError {
    let detail = error_chain(&error);
    match error {
        ResolveError::Workflow(error) => ApiError::internal(error),
        ResolveError::NotFound => Code::BookingNotFound.into(),
        ResolveError::NothingUnresolved(status) => ApiError::from(Code::BookingStateConflict)
            .with_booking_status(status)
            .with_detail(detail),
        ResolveError::InProgress => ApiError::from(Code::BookingChanged).with_detail(detail),
        ResolveError::ReferenceRequired | ResolveError::InvalidRefundAmount | ResolveError::AmbiguousCall => {
            ApiError::from(Code::ValidationFailed).with_detail(detail)
        }
    }
}

fn attempt_json(attempt: &Attempt) -> Value {
    json!({
        "organization": attempt.tenant.organization,
        "mode": attempt.tenant.mode.as_str(),
        "booking_id": attempt.call.booking_id.as_str(),
        "step": attempt.call.step,
        "target": attempt.call.target.as_str(),
        "client_reference": attempt.call.client_reference,
        "sent_at": attempt.last_sent_at.to_string(),
        "evidence": attempt.evidence,
    })
}

fn job_json(job: &Job) -> Value {
    json!({
        "kind": job.kind,
        "subject": job.subject,
        "attempts": job.attempts,
        "parked_at": job.parked_at.map(|at| at.to_string()),
        "last_error": job.last_error,
    })
}
