//! The HTTP API. All routes stand in `table`, grouped by who may call them;
//! what each one takes and answers is in the file of its noun.

pub mod answer;
pub mod caller;
pub mod code;
pub mod document;
pub mod extract;
pub mod problem;
pub mod schema;
pub mod value;

pub(crate) mod admin;
mod completion;
mod docs;
mod flight;
mod guard;
pub(crate) mod health;
mod hotel;
mod identifier;
mod mandate;
mod meta;
mod payment_instrument;
mod supplier;
mod supplier_event;
mod unresolved;
mod watcher;
mod webhook;

use crate::api::caller::Scope;
use crate::api::document::{Described, Document, Inputs, Outputs};
use crate::app::App;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::MethodRouter;
use host_domain::event::Product;
use host_domain::time::Date;
use serde_json::Value;
use std::sync::Arc;

macro_rules! route {
    ($($module:ident)::+) => {
        Route::new(utoipa_axum::routes!($($module)::+), || $crate::api::document::describe(&$($module)::+))
    };
}

/// Operations by the scope that their key needs.
type Table = Vec<(Option<Scope>, Vec<Route>)>;

/// Every operation of the API.
fn table() -> Table {
    let open = vec![
        route!(health::get_health), //
        route!(health::get_readiness),
        route!(mandate::list_mandate_keys),
        route!(supplier_event::receive_supplier_events),
        route!(supplier_event::receive_secret_supplier_events),
    ];
    let read = vec![
        route!(supplier::list_suppliers),
        route!(hotel::place::find_places),
        route!(hotel::place::read_place),
        route!(hotel::search::search_hotels),
        route!(hotel::content::read_hotel),
        route!(hotel::offer::price_hotels),
        route!(hotel::calendar::read_price_calendar),
        route!(hotel::booking::list_hotel_bookings),
        route!(hotel::booking::read_hotel_booking),
        route!(hotel::cancellation::quote_hotel_cancellation),
        route!(hotel::weather::read_stay_weather),
        route!(flight::offer::price_flights),
        route!(flight::airport::find_airports),
        route!(flight::airline::read_airline),
        route!(flight::booking::list_flight_bookings),
        route!(flight::booking::read_flight_booking),
        route!(flight::cancellation::quote_flight_cancellation),
        route!(flight::service::list_flight_services),
        route!(payment_instrument::list_payment_instruments),
        route!(payment_instrument::read_payment_instrument),
        route!(mandate::read_mandate),
        route!(watcher::watch::list_watches),
        route!(watcher::watch::read_watch),
        route!(watcher::event::list_watch_events),
        route!(watcher::webhook::read_watcher_webhook),
    ];
    let book = vec![
        route!(hotel::prebook::prebook_hotel),
        route!(hotel::completion::book_hotel),
        route!(hotel::cancellation::cancel_hotel_booking),
        route!(flight::prebook::prebook_flight),
        route!(flight::completion::book_flight),
        route!(flight::cancellation::cancel_flight_booking),
        route!(flight::service::buy_flight_services),
        route!(payment_instrument::add_payment_instrument),
        route!(payment_instrument::delete_payment_instrument),
        route!(mandate::issue_mandate),
        route!(mandate::revoke_mandate),
        route!(watcher::watch::create_hotel_watch),
        route!(watcher::watch::create_trip_watch),
        route!(watcher::watch::delete_watch),
        route!(watcher::watch::confirm_purchase),
    ];
    let mut table = vec![
        (Some(Scope::Read), read),
        (Some(Scope::Book), book),
        (None, open),
    ];
    let webhooks = vec![
        route!(watcher::webhook::register_watcher_webhook),
        route!(watcher::webhook::delete_watcher_webhook),
    ];
    table.push((Some(Scope::Webhooks), webhooks));
    table.extend(webhooks_of(Product::Hotel));
    table.extend(webhooks_of(Product::Flight));
    table
}

/// The webhooks of a product: the same for each, under its own path.
fn webhooks_of(product: Product) -> [(Option<Scope>, Vec<Route>); 2] {
    let read = vec![
        route!(webhook::subscription::list_subscriptions).of(product),
        route!(webhook::subscription::read_subscription).of(product),
        route!(webhook::delivery::list_deliveries).of(product),
        route!(webhook::delivery::read_delivery).of(product),
    ];
    let webhooks = vec![
        route!(webhook::subscription::create_subscription).of(product),
        route!(webhook::subscription::change_subscription).of(product),
        route!(webhook::subscription::delete_subscription).of(product),
        route!(webhook::subscription::pause_subscription).of(product),
        route!(webhook::subscription::resume_subscription).of(product),
        route!(webhook::subscription::rotate_subscription_secret).of(product),
        route!(webhook::subscription::test_subscription).of(product),
        route!(webhook::delivery::replay_delivery).of(product),
        route!(webhook::delivery::recover_deliveries).of(product),
    ];
    [(Some(Scope::Read), read), (Some(Scope::Webhooks), webhooks)]
}

/// The API as a service.
pub fn router(app: &Arc<App>) -> Router {
    assemble(app, table)
}

fn assemble(app: &Arc<App>, table: fn() -> Table) -> Router {
    let mut router = Router::new();
    for (scope, routes) in table() {
        for Route {
            mut handler, path, ..
        } in routes
        {
            if let Some(scope) = scope {
                handler = handler.route_layer(from_fn_with_state(scope, guard::require));
            }
            router = router.route(&path, handler);
        }
    }
    router
        .merge(docs::routes(table))
        .layer(from_fn(docs::policy))
        .layer(from_fn_with_state(Arc::clone(app), guard::surround))
        .with_state(Arc::clone(app))
}

/// Their document. `server` is the address of the API; examples are of
/// stays after `today`.
fn openapi(table: Table, server: &str, today: Date) -> Value {
    let mut document = Document::new();
    for (scope, routes) in table {
        for route in routes {
            document.add(route.described(scope));
        }
    }
    document.finish(server, today)
}

/// One operation: its handler, and what the document says of it, which is long and is not
/// made before the document is.
struct Route {
    path: String,
    handler: MethodRouter<Arc<App>>,
    attributes: utoipa::openapi::Paths,
    describe: fn() -> (Inputs, Outputs),
    product: Option<Product>,
}

type Registered = (
    Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>,
    utoipa::openapi::Paths,
    MethodRouter<Arc<App>>,
);

impl Route {
    fn new((_, attributes, handler): Registered, describe: fn() -> (Inputs, Outputs)) -> Self {
        Self {
            path: attributes.paths.keys().next().cloned().unwrap_or_default(),
            handler,
            attributes,
            describe,
            product: None,
        }
    }

    /// The operation of one product: `{product}` in its path is that, and so is the
    /// word after the verb of its name; its body is that product's.
    fn of(mut self, product: Product) -> Self {
        self.path = self.path.replace("{product}", product.as_str());
        self.product = Some(product);
        self
    }

    fn described(self, scope: Option<Scope>) -> Described {
        let attributes = serde_json::to_value(self.attributes).unwrap_or_default();
        let (_, item) = first(attributes);
        let (method, mut attribute) = first(item);
        let (mut inputs, outputs) = (self.describe)();
        if let Some(product) = self.product {
            inputs.choose(product);
            if let Some(Value::String(name)) = attribute.get_mut("operationId") {
                *name = name.replacen('_', &format!("_{}_", product.as_str()), 1);
            }
        }
        Described {
            path: self.path,
            method,
            attribute,
            inputs,
            outputs,
            scope: scope.map(Scope::as_str),
        }
    }
}

/// The only member of an object.
fn first(object: Value) -> (String, Value) {
    match object {
        Value::Object(members) => members.into_iter().next().unwrap_or_default(),
        _ => Default::default(),
    }
}

// After the macro that it uses.
#[cfg(test)]
mod tests;
