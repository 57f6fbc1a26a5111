//! The operator API of a running process, on its own listener: metrics, suppliers, resolution of
//! unresolved outcomes, retries of parked jobs, accounts, and what operators read and do on the pages
//! of the dashboard. It requires no key; access to the listener grants full trust. Web pages have no
//! access.

#[cfg(feature = "dashboard")]
mod accounts;
mod actor;
mod audit;
mod bookings;
mod bulk_replays;
mod deliveries;
mod go_live;
mod keys;
mod mandates;
#[cfg(feature = "dashboard")]
mod members;
mod open_outcome;
mod origin;
mod overview;
mod parameter;
mod requests;
mod search;
mod suppliers;
pub(crate) mod unresolved;
mod watches;
mod webhooks;

use crate::problem::take_error;
use crate::state::{error_docs_url, services};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
#[cfg(feature = "dashboard")]
use host_application::account::{members::MemberService, service::AccountService};
use host_application::api_key::service::ApiKeyService;
use host_application::application::Application;
use host_application::audit::service::AuditService;
use host_application::booking::open_outcome::OpenOutcomeReader;
use host_application::booking::reader::BookingReader;
use host_application::booking::settlement::SettlementService;
#[cfg(feature = "dashboard")]
use host_application::config::DashboardConfig;
use host_application::id_generator;
use host_application::jobs::operator::OperatorService;
use host_application::mandate::service::MandateService;
use host_application::recording::reader::RequestLogReader;
use host_application::reporting::go_live::GoLiveReader;
use host_application::reporting::overview::OverviewReader;
use host_application::search::SearchService;
use host_application::supplier::directory::SupplierDirectory;
use host_application::supplier::overrides::SupplierControl;
use host_application::supplier::reader::SupplierReader;
use host_application::watch::service::WatchService;
use host_application::webhook::bulk_replay::BulkReplayService;
use host_application::webhook::delivery_service::DeliveryService;
use host_application::webhook::service::WebhookService;
use host_domain::time::Clock;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use std::sync::Arc;

/// State of the admin listener's routes.
#[derive(Clone)]
pub struct AdminState {
    pub application: Arc<Application>,
    /// Base URL of the API as clients see it, without a trailing slash.
    pub base_url: String,
    /// Names and addresses, without ports, that requests may address besides the loopback ones.
    pub allowed_hosts: Arc<[String]>,
    /// Renders the metrics of the process in Prometheus' text format.
    pub render_metrics: fn() -> String,
}

services! { AdminState:
    api_key_service: Arc<ApiKeyService>;
    suppliers: Arc<SupplierDirectory>;
    supplier_control: Arc<SupplierControl>;
    operator: Arc<OperatorService>;
    audit: Arc<AuditService>;
    reporting.request_log: Arc<RequestLogReader>;
    bookings.reader: Arc<BookingReader>;
    bookings.settlements: Arc<SettlementService>;
    clock: Arc<dyn Clock>;
    bookings.open_outcomes: Arc<OpenOutcomeReader>;
    reporting.go_live: Arc<GoLiveReader>;
    mandates: Arc<MandateService>;
    reporting.overview: Arc<OverviewReader>;
    search: Arc<SearchService>;
    supplier_reader: Arc<SupplierReader>;
    watches: Arc<WatchService>;
    webhooks.bulk_replays: Arc<BulkReplayService>;
    webhooks.deliveries: Arc<DeliveryService>;
    webhooks.webhooks: Arc<WebhookService>;
}

#[cfg(feature = "dashboard")]
services! { AdminState:
    accounts.accounts: Arc<AccountService>;
    accounts.members: Arc<MemberService>;
    config.dashboard: DashboardConfig;
}

pub fn router(state: &AdminState) -> Router {
    let routes = Router::new();
    #[cfg(feature = "dashboard")]
    let routes = routes.merge(account_routes());
    routes
        .route(
            "/healthz",
            get(|| async { Json(json!({ "data": { "status": "ok" } })) }),
        )
        .route("/metrics", get(metrics))
        .merge(supplier_routes())
        .merge(webhook_routes())
        .route("/overview", get(overview::show))
        .route("/go-live", get(go_live::show))
        .route("/unresolved", get(unresolved::list_unresolved))
        .route(
            "/unresolved/{booking_id}",
            get(unresolved::show_outcomes).post(unresolved::settle_booking),
        )
        .route(
            "/unresolved/{booking_id}/withdraw",
            post(unresolved::withdraw_decision),
        )
        .route("/parked_jobs", post(unresolved::retry_parked_jobs))
        .route("/audit", get(audit::list))
        .route("/audit/verify", get(audit::verify))
        .route("/requests", get(requests::list))
        .route("/requests/{id}", get(requests::show))
        .route("/bookings", get(bookings::list))
        .route("/bookings/{id}", get(bookings::show))
        .route("/watches", get(watches::list))
        .route("/watches/{id}", get(watches::show))
        .route("/watches/{id}/cancel", post(watches::cancel))
        .route("/mandates", get(mandates::list))
        .route("/mandates/{id}", get(mandates::show))
        .route("/mandates/{id}/revoke", post(mandates::revoke))
        .route("/search", get(search::search))
        .route("/keys", get(keys::list).post(keys::create))
        .route("/keys/{id}", get(keys::show))
        .route("/keys/{id}/revoke", post(keys::revoke))
        .layer(from_fn_with_state(
            state.clone(),
            origin::refuse_foreign_requests,
        ))
        .layer(from_fn_with_state(state.clone(), render_problems))
        .with_state(state.clone())
}

#[cfg(feature = "dashboard")]
fn account_routes() -> Router<AdminState> {
    Router::new()
        .route("/accounts", get(accounts::list).post(accounts::create))
        .route("/accounts/{email}/disable", post(accounts::disable))
        .route("/accounts/{email}/reset", post(accounts::reset))
        .route("/accounts/{email}/set-role", post(accounts::set_role))
        .route("/accounts/{email}/remove-role", post(accounts::remove_role))
        .route("/members", get(members::list))
        .route(
            "/members/invitations",
            get(members::list_invitations).post(members::invite),
        )
        .route(
            "/members/invitations/revoke",
            post(members::revoke_invitation),
        )
        .route(
            "/members/{organization}/{account}",
            get(members::show)
                .patch(members::set_role)
                .delete(members::remove),
        )
}

fn supplier_routes() -> Router<AdminState> {
    Router::new()
        .route("/plugins", get(list_plugins))
        .route("/plugins/{id}/reload", post(suppliers::reload))
        .route("/suppliers", get(suppliers::list))
        .route("/suppliers/{id}", get(suppliers::show))
        .route("/suppliers/{id}/drain", post(suppliers::drain))
        .route("/suppliers/{id}/undrain", post(suppliers::undrain))
        .route("/suppliers/{id}/rank", post(suppliers::set_rank))
}

fn webhook_routes() -> Router<AdminState> {
    Router::new()
        .route("/webhooks", get(webhooks::list).post(webhooks::create))
        .route(
            "/webhooks/{id}",
            get(webhooks::show)
                .patch(webhooks::update)
                .delete(webhooks::delete),
        )
        .route(
            "/webhooks/{id}/rotate-secret",
            post(webhooks::rotate_secret),
        )
        .route("/webhooks/{id}/pause", post(webhooks::pause))
        .route("/webhooks/{id}/resume", post(webhooks::resume))
        .route("/webhooks/{id}/test", post(webhooks::send_test_event))
        .route("/webhooks/{id}/recover", post(webhooks::recover))
        .route("/deliveries", get(deliveries::list))
        .route("/deliveries/replays", post(bulk_replays::begin))
        .route("/deliveries/replays/{id}", get(bulk_replays::show))
        .route("/deliveries/replays/{id}/stop", post(bulk_replays::stop))
        .route("/deliveries/{id}", get(deliveries::show))
        .route("/deliveries/{id}/replay", post(deliveries::replay))
        .route("/events/{id}", get(deliveries::show_event))
}

async fn render_problems(
    State(state): State<AdminState>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    if let Some(error) = take_error(&mut response) {
        error.write_response(
            &mut response,
            &error_docs_url(&state.base_url),
            &id_generator::new_request_id(),
        );
    }
    response
}

async fn metrics(State(state): State<AdminState>) -> Response {
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        (state.render_metrics)(),
    )
        .into_response()
}

async fn list_plugins(State(suppliers): State<Arc<SupplierDirectory>>) -> Json<Value> {
    Json(json!({ "data": suppliers.loaded_plugins() }))
}
