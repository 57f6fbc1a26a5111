//! `/mandates`: permissions for purchases, and what they were used for.

mod view;

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::mandates::view::{MandatePage, MandatesPage, list_request};
use crate::path_text::IdInPath;
use crate::query::QueryFields;
use crate::render::{redirect, render};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::console::mandates::{ConsoleMandates, RevokeOutcome};
use host_domain::id::MandateId;
use host_domain::time::Clock;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/mandates", get(list))
        .route("/mandates/{id}", get(show))
        .route("/mandates/{id}/revoke", post(revoke))
}

/// `GET /mandates`
async fn list(
    State(mandates): State<Arc<ConsoleMandates>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = mandates.list(&viewer, &list_request(&query)?).await?;
    Ok(render(&MandatesPage::new(
        page,
        &viewer,
        &query,
        found,
        clock.now(),
    )))
}

/// `GET /mandates/{id}`; with `?confirm=revoke` the page asks whether to revoke the mandate.
async fn show(
    State(mandates): State<Arc<ConsoleMandates>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<MandateId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = mandates.find(&viewer, &id).await?;
    let is_confirming = query.confirms("revoke");
    Ok(render(&MandatePage::new(
        page,
        found,
        is_confirming,
        clock.now(),
    )))
}

/// `POST /mandates/{id}/revoke`
async fn revoke(
    State(mandates): State<Arc<ConsoleMandates>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<MandateId>,
) -> Result<Response, PageError> {
    let done = match mandates.revoke(&viewer, &id).await? {
        RevokeOutcome::Revoked => "mandate-revoked",
        RevokeOutcome::NotRevocable(_) => "mandate-not-revocable",
    };
    Ok(redirect(&format!("/mandates/{id}?done={done}")))
}
