//! `/audit`: the audit log.

mod view;

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::audit::view::{AuditPage, VerificationText, list_request};
use crate::query::QueryFields;
use crate::render::render;
use crate::state::DashboardState;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use host_application::console::audit::ConsoleAudit;
use host_domain::time::Clock;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/audit", get(list))
        .route("/audit/export", get(export))
        .route("/audit/verify", post(verify))
}

/// `GET /audit`
async fn list(
    State(audit): State<Arc<ConsoleAudit>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = audit.list(&viewer, &list_request(&query)?).await?;
    Ok(render(&AuditPage::new(
        page,
        &viewer,
        &query,
        found,
        clock.now(),
    )))
}

/// `GET /audit/export`: the entries of both modes that the filter finds as lines of JSON.
async fn export(
    State(audit): State<Arc<ConsoleAudit>>,
    SignedIn(viewer): SignedIn,
    query: QueryFields,
) -> Result<Response, PageError> {
    let lines = audit.export(&viewer, list_request(&query)?).await?;
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"audit.ndjson\""),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// `POST /audit/verify`: verifies the whole chain and shows the result above the list with the filter of
/// the query.
async fn verify(
    State(audit): State<Arc<ConsoleAudit>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = audit.list(&viewer, &list_request(&query)?).await?;
    let verification = audit.verify(&viewer).await?;
    let mut page = AuditPage::new(page, &viewer, &query, found, clock.now());
    page.verification = Some(VerificationText::from(verification));
    Ok(render(&page))
}
