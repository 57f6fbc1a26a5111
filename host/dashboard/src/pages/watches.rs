//! `/watches`: price watches.

mod view;

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::watches::view::{WatchPage, WatchesPage, list_request};
use crate::path_text::IdInPath;
use crate::query::QueryFields;
use crate::render::{redirect, render};
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::console::watches::{CancelOutcome, ConsoleWatches};
use host_domain::id::WatchId;
use host_domain::time::Clock;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/watches", get(list))
        .route("/watches/{id}", get(show))
        .route("/watches/{id}/cancel", post(cancel))
}

/// `GET /watches`
async fn list(
    State(watches): State<Arc<ConsoleWatches>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = watches.list(&viewer, &list_request(&query)?).await?;
    Ok(render(&WatchesPage::new(
        page,
        &viewer,
        &query,
        found,
        clock.now(),
    )))
}

/// `GET /watches/{id}`; with `?confirm=cancel` the page asks whether to cancel the watch.
async fn show(
    State(watches): State<Arc<ConsoleWatches>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<WatchId>,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = watches.find(&viewer, &id).await?;
    let is_confirming = query.confirms("cancel");
    Ok(render(&WatchPage::new(
        page,
        found,
        is_confirming,
        clock.now(),
    )))
}

/// `POST /watches/{id}/cancel`
async fn cancel(
    State(watches): State<Arc<ConsoleWatches>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<WatchId>,
) -> Result<Response, PageError> {
    let done = match watches.cancel(&viewer, &id).await? {
        CancelOutcome::Canceled => "watch-canceled",
        CancelOutcome::NotCancelable => "watch-not-cancelable",
    };
    Ok(redirect(&format!("/watches/{id}?done={done}")))
}
