//! `/search`: leads to the page of an id or of a reference.

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::path_text::path_segment;
use crate::query::{QueryFields, path_with};
use crate::render::{redirect, render};
use crate::state::DashboardState;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use host_application::search::{SearchService, SearchTarget};
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new().route("/search", get(search))
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    page: PageContext,
    q: String,
}

/// `GET /search?q=`
async fn search(
    State(service): State<Arc<SearchService>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let q = query.search("q").unwrap_or_default();
    let target = if q.is_empty() {
        None
    } else {
        service.find(&viewer.whole_scope(), &q).await?
    };
    Ok(match target {
        Some(target) => redirect(&path_of(&target, &q)),
        None => render(&SearchPage {
            page: page.titled("Search"),
            q,
        }),
    })
}

/// Returns the path of a page.
fn path_of(target: &SearchTarget, q: &str) -> String {
    match target {
        SearchTarget::Booking(id) => format!("/bookings/{id}"),
        SearchTarget::Bookings => path_with("/bookings", &[("q", q)]),
        SearchTarget::Delivery(id) => format!("/deliveries/{id}"),
        SearchTarget::Event(id) => format!("/events/{id}"),
        SearchTarget::Key(id) => format!("/keys/{id}"),
        SearchTarget::Mandate(id) => format!("/mandates/{id}"),
        SearchTarget::Request(id) => format!("/requests/{}", path_segment(id)),
        SearchTarget::Subscription(id) => format!("/webhooks/{id}"),
        SearchTarget::Watch(id) => format!("/watches/{id}"),
    }
}
