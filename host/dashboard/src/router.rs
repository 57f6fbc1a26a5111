//! All routes with their middleware.

use crate::error::PageError;
use crate::error_page::render_errors;
use crate::guard::compression::compress_page;
use crate::guard::headers::secure_response;
use crate::guard::origin::refuse_foreign_requests;
use crate::guard::session::require_session;
use crate::guard::watchdog::bound_request;
use crate::state::DashboardState;
use crate::{asset, pages};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;

/// Returns the service of the dashboard's listener.
pub fn router(state: DashboardState) -> Router {
    // The last layer is the outermost.
    Router::new()
        .merge(pages::overview::routes())
        .merge(pages::requests::routes())
        .merge(pages::bookings::routes())
        .merge(pages::webhooks::routes())
        .merge(pages::deliveries::routes())
        .merge(pages::watches::routes())
        .merge(pages::mandates::routes())
        .merge(pages::audit::routes())
        .merge(pages::keys::routes())
        .merge(pages::members::routes())
        .merge(pages::account::routes())
        .merge(pages::go_live::routes())
        .merge(pages::sample_data::routes())
        .merge(pages::search::routes())
        .merge(pages::login::routes())
        .merge(pages::mode::routes())
        .merge(pages::oidc::routes())
        .merge(pages::setup::routes())
        .merge(pages::stream::routes())
        .merge(pages::suppliers::routes())
        .merge(pages::unresolved::routes())
        .route("/assets/{*path}", get(asset::serve))
        .fallback(async || PageError::NotFound)
        .method_not_allowed_fallback(async || PageError::MethodNotAllowed)
        .layer(from_fn_with_state(state.clone(), require_session))
        .layer(from_fn_with_state(state.clone(), refuse_foreign_requests))
        .layer(from_fn(bound_request))
        .layer(from_fn(render_errors))
        .layer(from_fn(compress_page))
        .layer(from_fn_with_state(state.clone(), secure_response))
        .with_state(state)
}
