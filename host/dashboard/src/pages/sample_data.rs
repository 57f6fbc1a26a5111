//! `/sample-data`: fills the demo with data, so that every page has something to show.

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::render::redirect;
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new().route("/sample-data", post(begin))
}

/// `POST /sample-data`: only operators of a demo may.
async fn begin(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
) -> Result<Response, PageError> {
    let hook = state.sample_data.as_ref().ok_or(PageError::NotFound)?;
    viewer.require_operator()?;
    hook();
    Ok(redirect("/?done=sample-data"))
}
