//! The HTTP API. `route_table` contains all routes, grouped by required scope. Each resource has
//! its own file with its requests and responses.

use crate::error_code::ErrorCode;
use crate::openapi::describe::{OperationInputs, OperationOutputs};
use crate::openapi::operation::{OpenApiDocument, OperationSpec};
use crate::problem::ChangeOperation;
use crate::state::ApiState;
use crate::{
    book, cli, docs_pages, flight, health, hotel, mandate, middleware, payment_instrument,
    supplier, supplier_event, watcher, webhook,
};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::MethodRouter;
use host_application::context::ApiKeyScope;
use host_domain::event::Product;
use host_domain::time::Date;
use serde_json::Value;

macro_rules! route {
    ($($module:ident)::+) => {
        $crate::routes::Route::new(utoipa_axum::routes!($($module)::+), || $crate::openapi::describe_handler(&$($module)::+))
    };
}

/// Operations by the scope that their API key needs.
pub(crate) type RouteTable = Vec<(Option<ApiKeyScope>, Vec<Route>)>;

/// Returns the operations that need no key.
fn open_routes() -> Vec<Route> {
    vec![
        route!(health::get_health), //
        route!(health::get_readiness),
        route!(mandate::list_mandate_keys),
        route!(supplier_event::receive_supplier_events).changing(ChangeOperation::ReceiveEvents),
        route!(supplier_event::receive_supplier_events_with_token)
            .changing(ChangeOperation::ReceiveEvents),
    ]
}

pub(crate) fn route_table() -> RouteTable {
    let read = vec![
        route!(supplier::list_suppliers),
        route!(hotel::place::search_places),
        route!(hotel::place::get_place),
        route!(hotel::search::search_hotels),
        route!(hotel::content::get_hotel),
        route!(hotel::offer::price_hotels),
        route!(hotel::price_calendar::get_price_calendar),
        route!(hotel::booking::list_hotel_bookings),
        route!(hotel::booking::get_hotel_booking),
        route!(hotel::cancellation::quote_hotel_cancellation),
        route!(hotel::weather::get_stay_weather),
        route!(flight::offer::price_flights),
        route!(flight::reference::search_airports),
        route!(flight::reference::get_airline),
        route!(flight::booking::list_flight_bookings),
        route!(flight::booking::get_flight_booking),
        route!(flight::cancellation::quote_flight_cancellation),
        route!(flight::service::list_flight_services),
        route!(payment_instrument::list_payment_instruments),
        route!(payment_instrument::get_payment_instrument),
        route!(mandate::get_mandate),
        route!(watcher::watch::list_watches),
        route!(watcher::watch::get_watch),
        route!(watcher::event::list_watch_events),
        route!(watcher::webhook::get_watcher_webhook),
    ];
    let book = vec![
        route!(hotel::prebook::prebook_hotel).changing(ChangeOperation::Prebook),
        route!(book::book_hotel).changing(ChangeOperation::BookOrCancel),
        route!(hotel::cancellation::cancel_hotel_booking).changing(ChangeOperation::BookOrCancel),
        route!(flight::prebook::prebook_flight).changing(ChangeOperation::Prebook),
        route!(book::book_flight).changing(ChangeOperation::BookOrCancel),
        route!(flight::cancellation::cancel_flight_booking).changing(ChangeOperation::BookOrCancel),
        route!(flight::service::purchase_flight_services)
            .changing(ChangeOperation::PurchaseServices),
        route!(payment_instrument::create_payment_instrument)
            .changing(ChangeOperation::CreateInstrument),
        route!(payment_instrument::delete_payment_instrument)
            .changing(ChangeOperation::DeleteInstrument),
        route!(mandate::issue_mandate).changing(ChangeOperation::IssueMandate),
        route!(mandate::revoke_mandate).changing(ChangeOperation::RevokeMandate),
        route!(watcher::watch::create_hotel_watch).changing(ChangeOperation::CreateWatch),
        route!(watcher::watch::create_trip_watch).changing(ChangeOperation::CreateWatch),
        route!(watcher::watch::delete_watch).changing(ChangeOperation::DeleteWatch),
        route!(watcher::watch::confirm_watch_purchase)
            .changing(ChangeOperation::ConfirmWatchPurchase),
    ];
    let mut table = vec![
        (Some(ApiKeyScope::Read), read),
        (Some(ApiKeyScope::Book), book),
        (None, open_routes()),
    ];
    let webhooks = vec![
        route!(watcher::webhook::register_watcher_webhook)
            .changing(ChangeOperation::RegisterWatcherWebhook),
        route!(watcher::webhook::delete_watcher_webhook)
            .changing(ChangeOperation::DeleteWatcherWebhook),
    ];
    table.push((Some(ApiKeyScope::Webhooks), webhooks));
    table.extend(webhook_routes(Product::Hotel));
    table.extend(webhook_routes(Product::Flight));
    table
}

/// Returns the webhook operations of a product. All products have the same ones, each under its own
/// path.
pub(crate) fn webhook_routes(product: Product) -> [(Option<ApiKeyScope>, Vec<Route>); 2] {
    let read = vec![
        route!(webhook::subscription::list_subscriptions).for_product(product),
        route!(webhook::subscription::get_subscription).for_product(product),
        route!(webhook::delivery::list_deliveries).for_product(product),
        route!(webhook::delivery::get_delivery).for_product(product),
    ];
    let webhooks = vec![
        route!(webhook::subscription::create_subscription)
            .changing(ChangeOperation::CreateSubscription),
        route!(webhook::subscription::update_subscription)
            .changing(ChangeOperation::ChangeSubscription),
        route!(webhook::subscription::delete_subscription)
            .changing(ChangeOperation::DeleteSubscription),
        route!(webhook::subscription::pause_subscription)
            .changing(ChangeOperation::ChangeSubscription),
        route!(webhook::subscription::resume_subscription)
            .changing(ChangeOperation::ChangeSubscription),
        route!(webhook::subscription::rotate_subscription_secret)
            .changing(ChangeOperation::RotateSecret),
        route!(webhook::subscription::test_subscription).changing(ChangeOperation::SendTestEvent),
        route!(webhook::delivery::replay_delivery).changing(ChangeOperation::ReplayDelivery),
        route!(webhook::delivery::recover_deliveries).changing(ChangeOperation::RecoverDeliveries),
    ];
    let webhooks = webhooks.into_iter();
    [
        (Some(ApiKeyScope::Read), read),
        (
            Some(ApiKeyScope::Webhooks),
            webhooks.map(|route| route.for_product(product)).collect(),
        ),
    ]
}

pub fn router(state: &ApiState) -> Router {
    build_router(state, route_table)
}

pub(crate) fn build_router(state: &ApiState, table: fn() -> RouteTable) -> Router {
    let mut router = Router::new();
    for (scope, routes) in table() {
        for Route {
            mut handler,
            path,
            change,
            ..
        } in routes
        {
            if let Some(operation) = change {
                handler =
                    handler.route_layer(from_fn_with_state(operation, middleware::begin_change));
            }
            if let Some(scope) = scope {
                handler = handler.route_layer(from_fn_with_state(scope, middleware::require_scope));
            }
            router = router.route(&path, handler);
        }
    }
    router
        .merge(cli::routes())
        .merge(docs_pages::routes(move |server, today| {
            openapi_document(table(), server, today)
        }))
        .layer(from_fn(docs_pages::security_headers))
        .layer(from_fn_with_state(
            state.clone(),
            middleware::request_middleware,
        ))
        .with_state(state.clone())
}

/// Returns the OpenAPI document of a route table. `server` is the address of the API. Examples use
/// stays after `today`.
pub(crate) fn openapi_document(table: RouteTable, server: &str, today: Date) -> Value {
    let mut document = OpenApiDocument::new();
    for (scope, routes) in table {
        for route in routes {
            document.add(route.into_operation(scope));
        }
    }
    document.finish(server, today)
}

/// An operation: its handler and its description. The description is large, so it is only built for
/// the document.
pub(crate) struct Route {
    path: String,
    handler: MethodRouter<ApiState>,
    attributes: utoipa::openapi::Paths,
    describe: fn() -> (OperationInputs, OperationOutputs),
    product: Option<Product>,
    /// `None` if the operation changes nothing.
    change: Option<ChangeOperation>,
}

type UtoipaRoute = (
    Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>,
    utoipa::openapi::Paths,
    MethodRouter<ApiState>,
);

impl Route {
    pub(crate) fn new(
        (_, attributes, handler): UtoipaRoute,
        describe: fn() -> (OperationInputs, OperationOutputs),
    ) -> Self {
        Self {
            path: attributes.paths.keys().next().cloned().unwrap_or_default(),
            handler,
            attributes,
            describe,
            product: None,
            change: None,
        }
    }

    /// Returns an operation that changes something. Clients who do not know its outcome get a next
    /// step.
    pub(crate) fn changing(mut self, operation: ChangeOperation) -> Self {
        self.change = Some(operation);
        self
    }

    /// Returns whether the operation changes something.
    #[cfg(test)]
    pub(crate) const fn is_changing(&self) -> bool {
        self.change.is_some()
    }

    /// Returns the operation of one product. The product replaces `{product}` in the path, follows
    /// the verb in the operation's name, and selects the body.
    pub(crate) fn for_product(mut self, product: Product) -> Self {
        self.path = self.path.replace("{product}", product.as_str());
        self.product = Some(product);
        self
    }

    pub(crate) fn into_operation(self, scope: Option<ApiKeyScope>) -> OperationSpec {
        let attributes = serde_json::to_value(self.attributes).unwrap_or_default();
        let (_, item) = single_entry(attributes);
        let (method, mut attribute) = single_entry(item);
        let (mut inputs, outputs) = (self.describe)();
        if let Some(product) = self.product {
            inputs.select_product(product);
            if let Some(Value::String(name)) = attribute.get_mut("operationId") {
                *name = name.replacen('_', &format!("_{}_", product.as_str()), 1);
            }
        }
        if self.change.is_some() {
            inputs.add_code(ErrorCode::ResultUnknown);
        }
        OperationSpec {
            path: self.path,
            method,
            annotation: attribute,
            inputs,
            outputs,
            scope: scope.map(ApiKeyScope::as_str),
        }
    }
}

fn single_entry(object: Value) -> (String, Value) {
    match object {
        Value::Object(members) => members.into_iter().next().unwrap_or_default(),
        _ => Default::default(),
    }
}
