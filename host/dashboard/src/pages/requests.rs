//! `/requests`: API calls of the last days.

mod curl;
mod details;
mod view;

pub(in crate::pages) use view::{RequestRow, list_request};

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::requests::details::RequestPage;
use crate::pages::requests::view::RequestsPage;
use crate::path_text::PathText;
use crate::query::QueryFields;
use crate::render::render;
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use host_application::console::requests::ConsoleRequests;
use host_domain::id::RequestLogId;
use host_domain::time::Clock;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/requests", get(list))
        .route("/requests/{request_id}", get(show))
}

/// `GET /requests`
async fn list(
    State(requests): State<Arc<ConsoleRequests>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = requests.list(&viewer, &list_request(&query)?).await?;
    let now = clock.now();
    Ok(render(&RequestsPage::new(
        page, &viewer, &query, found, now,
    )))
}

/// `GET /requests/{request_id}`; `?call=rql_…` names one of several calls with the same id.
async fn show(
    State(requests): State<Arc<ConsoleRequests>>,
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    PathText(request_id): PathText,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let call = query.some("call").map(RequestLogId::parse).transpose();
    let call = call.map_err(|_| PageError::NotFound)?;
    let found = requests.find(&viewer, &request_id, call.as_ref()).await?;
    let api_url = &state.application.base_url;
    Ok(render(&RequestPage::new(page, found, api_url)))
}
