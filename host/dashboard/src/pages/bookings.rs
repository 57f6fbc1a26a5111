//! `/bookings`: bookings and all that happened to one.

mod details;
mod fact;
mod list;
mod money;
mod timeline;

pub(super) use list::title_and_dates;

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::bookings::details::BookingPage;
use crate::pages::bookings::list::{BookingsPage, list_request};
use crate::path_text::IdInPath;
use crate::query::QueryFields;
use crate::render::render;
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::console::bookings::ConsoleBookings;
use host_domain::id::BookingId;
use host_domain::time::Clock;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/bookings", get(list))
        .route("/bookings/{id}", get(show))
        .route("/bookings/{id}/reveal", post(reveal))
}

/// `GET /bookings`
async fn list(
    State(bookings): State<Arc<ConsoleBookings>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let found = bookings.list(&viewer, &list_request(&query)?).await?;
    Ok(render(&BookingsPage::new(
        page,
        &viewer,
        &query,
        found,
        clock.now(),
    )))
}

/// `GET /bookings/{id}`
async fn show(
    State(bookings): State<Arc<ConsoleBookings>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<BookingId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = bookings.find(&viewer, &id).await?;
    Ok(render(&BookingPage::new(page, found, clock.now())))
}

/// `POST /bookings/{id}/reveal`: the page with the personal data, which is in this response only.
async fn reveal(
    State(bookings): State<Arc<ConsoleBookings>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<BookingId>,
    page: PageContext,
) -> Result<Response, PageError> {
    let found = bookings.reveal(&viewer, &id).await?;
    Ok(render(&BookingPage::new(page, found, clock.now())))
}
