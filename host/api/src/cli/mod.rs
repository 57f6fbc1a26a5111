//! Operations for the commands of the gateway's own program. They are not part of the API: no
//! document describes them, and they may change with the program.

mod delivery;
mod listen;
pub(crate) mod log;

use crate::middleware::{begin_change, require_scope};
use crate::problem::ChangeOperation;
use crate::state::ApiState;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, post};
use host_application::context::ApiKeyScope;

/// Returns the routes. All need an API key.
pub(crate) fn routes() -> Router<ApiState> {
    let webhooks = |handler: MethodRouter<ApiState>| {
        handler.route_layer(from_fn_with_state(ApiKeyScope::Webhooks, require_scope))
    };
    let changing = |handler: MethodRouter<ApiState>, operation: ChangeOperation| {
        webhooks(handler.route_layer(from_fn_with_state(operation, begin_change)))
    };
    // A session of a program that listens ends by itself.
    let session = ChangeOperation::ListenSession;
    let read = from_fn_with_state(ApiKeyScope::Read, require_scope);
    Router::new()
        .route("/v1/cli/requests", get(log::tail).route_layer(read))
        .route(
            "/v1/cli/deliveries/{delivery_id}/replay",
            changing(post(delivery::replay), ChangeOperation::ReplayDelivery),
        )
        .route(
            "/v1/cli/ping",
            changing(post(listen::ping), ChangeOperation::MakePing),
        )
        .route("/v1/cli/listen", changing(post(listen::begin), session))
        .route(
            "/v1/cli/listen/{id}",
            changing(delete(listen::end), session),
        )
        .route("/v1/cli/listen/{id}/events", webhooks(get(listen::fetch)))
}
