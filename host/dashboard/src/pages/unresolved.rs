//! `/unresolved`: calls with an unknown outcome, undecided refunds, and parked jobs.

mod consequence;
mod decision;
mod sent_call;
mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::unresolved::decision::{
    SubmittedDecision, add_problem, conflict_text, new_settlement,
};
use crate::pages::unresolved::view::{
    UnresolvedPage, list_request, path_from_list, path_with_notice,
};
use crate::query::QueryFields;
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::booking::resolution::ResolveError;
use host_application::booking::settlement::{SettlementError, SettlementResult};
use host_application::console::unresolved::{ConsoleUnresolved, ConsoleUnresolvedError};
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::time::Clock;
use http::StatusCode;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/unresolved", get(list))
        .route("/unresolved/settle", post(settle))
        .route("/unresolved/withdraw", post(withdraw))
        .route("/unresolved/retry", post(retry))
}

/// `GET /unresolved`; with `?call=att_…` the form is about that call, else about the oldest one.
async fn list(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let list = unresolved.list(&viewer, &list_request(&query)?).await?;
    let call = query.text("call");
    let mut outcomes = list.outcomes.iter();
    let named = outcomes.find(|outcome| outcome.attempt.call.id.as_str() == call);
    let selected = match named.or(list.outcomes.first()) {
        Some(outcome) => Some((outcome, unresolved.sent_call(outcome).await?)),
        None => None,
    };
    let (sent, now) = (SubmittedDecision::default(), clock.now());
    let page = UnresolvedPage::new(page, &viewer, &query, &list, selected, &sent, now);
    Ok(render(&page))
}

const DECIDED_MEANWHILE: &str =
    "Nothing can be decided about this call any more. Your decision was not applied.";

/// `POST /unresolved/settle`: applies a decision, or shows why it has no effect. The query is that of
/// the list, to which the response leads back.
async fn settle(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let booking = BookingId::parse(fields.text("booking")).map_err(|_| PageError::NotFound)?;
    let attempt = AttemptId::parse(fields.text("call")).map_err(|_| PageError::NotFound)?;
    // Ownership and role are judged before the fields.
    let mut outcome = unresolved.decidable(&viewer, &booking, &attempt).await?;
    let mut problems = FormProblems::default();
    let (mut status, mut conflict) = (StatusCode::UNPROCESSABLE_ENTITY, None);
    if let Some(new) = new_settlement(&fields, &mut problems) {
        match unresolved.settle(&viewer, &booking, &attempt, &new).await {
            Ok(SettlementResult::Applied(_)) => return Ok(done(&query, "outcome-settled")),
            Ok(SettlementResult::Waiting) => return Ok(done(&query, "decision-kept")),
            Err(ConsoleUnresolvedError::Console(error)) => return Err(error.into()),
            Err(ConsoleUnresolvedError::Settlement(error)) => {
                if !add_problem(&mut problems, &error) {
                    status = StatusCode::CONFLICT;
                    conflict = Some(conflict_text(&error, clock.now()).ok_or(error)?);
                    outcome = unresolved.decidable(&viewer, &booking, &attempt).await?;
                }
            }
        }
    }
    if !problems.is_empty() && !outcome.is_decidable() {
        // The page has no form whose fields could be corrected.
        (status, conflict) = (StatusCode::CONFLICT, Some(DECIDED_MEANWHILE.to_owned()));
        problems = FormProblems::default();
    }
    let page = PageContext {
        path: path_from_list("/unresolved", &query, &[("call", attempt.as_str())]),
        ..page
    };
    let list = unresolved.list(&viewer, &list_request(&query)?).await?;
    let call = unresolved.sent_call(&outcome).await?;
    let sent = SubmittedDecision::new(&fields, problems, conflict);
    let (selected, now) = (Some((&outcome, call)), clock.now());
    let page = UnresolvedPage::new(page, &viewer, &query, &list, selected, &sent, now);
    Ok(render_with(status, &page))
}

/// `POST /unresolved/withdraw`: withdraws a decision that waits. One that does not wait any more has
/// been applied or has ended, as the list of the latest decisions shows.
async fn withdraw(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    SignedIn(viewer): SignedIn,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let booking = BookingId::parse(fields.text("booking")).map_err(|_| PageError::NotFound)?;
    let attempt = AttemptId::parse(fields.text("call")).map_err(|_| PageError::NotFound)?;
    let decision = SettlementId::parse(fields.text("decision")).map_err(|_| PageError::NotFound)?;
    let withdrawn = unresolved.withdraw(&viewer, &booking, &attempt, &decision);
    let notice = match withdrawn.await? {
        true => "decision-withdrawn",
        false => "decision-ended",
    };
    Ok(done(&query, notice))
}

/// `POST /unresolved/retry`: makes a parked job due now. A job that is not parked runs already.
async fn retry(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    SignedIn(viewer): SignedIn,
    query: QueryFields,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (kind, subject) = (fields.text("kind"), fields.text("subject"));
    unresolved.retry_job(&viewer, kind, subject).await?;
    Ok(done(&query, "job-retried"))
}

/// Leads back to the list after a change.
fn done(query: &QueryFields, notice: &str) -> Response {
    redirect(&path_with_notice(query, notice))
}

impl From<SettlementError> for PageError {
    fn from(error: SettlementError) -> Self {
        match error {
            SettlementError::Storage(failure) => failure.into(),
            SettlementError::Resolve(ResolveError::NotFound) => Self::NotFound,
            error @ (SettlementError::Resolve(_)
            | SettlementError::InvalidNote
            | SettlementError::AlreadyDecided(_)
            | SettlementError::OutcomeKnown { .. }) => Self::internal(error),
        }
    }
}
