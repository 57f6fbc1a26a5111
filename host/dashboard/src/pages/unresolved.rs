//! `/unresolved`: calls with an unknown outcome, undecided refunds, and parked jobs.

mod consequence;
mod sent_call;
mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::unresolved::view::{
    SentDecision, UnresolvedPage, add_problem, conflict_text, list_request, new_settlement,
};
use crate::query::QueryFields;
use crate::render::{redirect, render, render_with};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::viewer::Viewer;
use host_application::booking::resolution::ResolveError;
use host_application::booking::settlement::{SettlementError, SettlementResult};
use host_application::console::unresolved::{ConsoleUnresolved, ConsoleUnresolvedError};
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::time::{Clock, Timestamp};
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
    let sent = SentDecision::of_call(query.text("call"));
    let now = clock.now();
    let page = load(&unresolved, &viewer, page, &query, &sent, now).await?;
    Ok(render(&page))
}

async fn load(
    unresolved: &ConsoleUnresolved,
    viewer: &Viewer,
    page: PageContext,
    query: &QueryFields,
    sent: &SentDecision,
    now: Timestamp,
) -> Result<UnresolvedPage, PageError> {
    let list = unresolved.list(viewer, &list_request(query)?).await?;
    let call = match sent.selected(&list) {
        Some(outcome) => unresolved.sent_call(viewer, outcome).await?,
        None => None,
    };
    let mut page = UnresolvedPage::new(page, viewer, query, list, sent, now);
    page.show_sent_call(call, now);
    Ok(page)
}

/// `POST /unresolved/settle`: applies a decision, or shows why it has no effect.
async fn settle(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let booking = BookingId::parse(fields.text("booking")).map_err(|_| PageError::NotFound)?;
    let attempt = AttemptId::parse(fields.text("call")).map_err(|_| PageError::NotFound)?;
    let mut problems = FormProblems::default();
    let (mut status, mut conflict) = (StatusCode::UNPROCESSABLE_ENTITY, None);
    if let Some(new) = new_settlement(&fields, &mut problems) {
        match unresolved.settle(&viewer, &booking, &attempt, &new).await {
            Ok(SettlementResult::Applied(_)) => {
                return Ok(redirect("/unresolved?done=outcome-settled"));
            }
            Ok(SettlementResult::Waiting) => {
                return Ok(redirect("/unresolved?done=decision-kept"));
            }
            Err(ConsoleUnresolvedError::Console(error)) => return Err(error.into()),
            Err(ConsoleUnresolvedError::Settlement(error)) => {
                if !add_problem(&mut problems, &error) {
                    status = StatusCode::CONFLICT;
                    conflict = Some(conflict_text(&error, clock.now()).ok_or(error)?);
                }
            }
        }
    } else {
        // The role is checked before the fields are commented on.
        viewer.require_operator()?;
    }
    let query = QueryFields::default();
    let sent = SentDecision::new(&fields, problems, conflict);
    let now = clock.now();
    let page = load(&unresolved, &viewer, page, &query, &sent, now).await?;
    Ok(render_with(status, &page))
}

/// `POST /unresolved/withdraw`: withdraws a decision that waits. One that does not wait any more has
/// been applied or has ended, as the list of the latest decisions shows.
async fn withdraw(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    SignedIn(viewer): SignedIn,
    fields: FormFields,
) -> Result<Response, PageError> {
    let booking = BookingId::parse(fields.text("booking")).map_err(|_| PageError::NotFound)?;
    let attempt = AttemptId::parse(fields.text("call")).map_err(|_| PageError::NotFound)?;
    let decision = SettlementId::parse(fields.text("decision")).map_err(|_| PageError::NotFound)?;
    let withdrawn = unresolved.withdraw(&viewer, &booking, &attempt, &decision);
    Ok(redirect(match withdrawn.await? {
        true => "/unresolved?done=decision-withdrawn",
        false => "/unresolved?done=decision-ended",
    }))
}

/// `POST /unresolved/retry`: makes a parked job due now. A job that is not parked runs already.
async fn retry(
    State(unresolved): State<Arc<ConsoleUnresolved>>,
    SignedIn(viewer): SignedIn,
    fields: FormFields,
) -> Result<Response, PageError> {
    let (kind, subject) = (fields.text("kind"), fields.text("subject"));
    unresolved.retry_job(&viewer, kind, subject).await?;
    Ok(redirect("/unresolved?done=job-retried"))
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
