//! The airlines behind both flight suppliers: fares, orders and tickets. Each supplier's own module
//! defines the format of its responses. The module is independent of hotels.

use axum::{
    Router,
    extract::Path,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{StatusCode, header};
use serde_json::{Value, json};

use crate::state::SandboxState;

pub(crate) mod jetbridge;
pub(crate) mod skylane;

mod airport_search;
mod bags;
mod brand;
mod cancellation;
mod checkout;
mod due_change;
mod fare;
mod itinerary;
mod order;
mod problem;
mod reference_data;
mod scenario;
pub(crate) mod tables;
mod trip;

pub(crate) use crate::flight::{checkout::complete_checkout, due_change::apply_due_change};

/// Returns the routes of logos, which need no key.
pub(crate) fn logo_routes() -> Router<SandboxState> {
    Router::new().route("/logos/{airline}", get(read_logo))
}

fn logo_url(app: &SandboxState, airline: &reference_data::Airline) -> Option<String> {
    (airline.active).then(|| format!("{}/logos/{}.svg", app.base_url(), airline.iata))
}

fn carrier(app: &SandboxState, airline: &reference_data::Airline) -> Value {
    json!({ "code": airline.iata, "name": airline.name, "logo": logo_url(app, airline) })
}

/// Returns an image with the airline's code in a circle.
async fn read_logo(Path(file): Path<String>) -> Response {
    let airline = (file.strip_suffix(".svg"))
        .and_then(reference_data::airline)
        .filter(|airline| airline.active);
    let Some(airline) = airline else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let code = airline.iata;
    let hue = code.bytes().map(u32::from).sum::<u32>() * 7 % 360;
    let svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 96 96"><circle cx="48" cy="48" r="46" fill="hsl({hue} 55% 40%)"/><text x="48" y="60" font-family="sans-serif" font-size="34" text-anchor="middle" fill="#fff">{code}</text></svg>"##
    );
    ([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response()
}
