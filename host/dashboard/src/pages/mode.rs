//! `/mode`: switches between test and live data.

use crate::error::PageError;
use crate::form::FormFields;
use crate::guard::session::SessionToken;
use crate::local_path::LocalPath;
use crate::render::redirect;
use crate::state::DashboardState;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use host_application::account::session::SessionService;
use host_domain::owner::Mode;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new().route("/mode", post(switch))
}

/// `POST /mode`: returns to the page that had the button. An unknown mode changes nothing.
async fn switch(
    State(sessions): State<Arc<SessionService>>,
    SessionToken(token): SessionToken,
    fields: FormFields,
) -> Result<Response, PageError> {
    if let Some(mode) = Mode::parse(fields.text("mode")) {
        sessions.set_mode(&token, mode).await?;
    }
    let next = LocalPath::parse(fields.text("next"));
    Ok(redirect(next.as_str()))
}
