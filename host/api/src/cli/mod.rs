//! Operations for the commands of the gateway's own program. They are not part of the API: no
//! document describes them, and they may change with the program.

mod delivery;
mod listen;
pub(crate) mod log;

use crate::middleware::require_scope;
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
    let read = from_fn_with_state(ApiKeyScope::Read, require_scope);
    Router::new()
        .route("/v1/cli/requests", get(log::tail).route_layer(read))
        .route(
            "/v1/cli/deliveries/{delivery_id}/replay",
            webhooks(post(delivery::replay)),
        )
        .route("/v1/cli/listen", webhooks(post(listen::begin)))
        .route("/v1/cli/listen/{id}", webhooks(delete(listen::end)))
        .route("/v1/cli/listen/{id}/events", webhooks(get(listen::fetch)))
}
