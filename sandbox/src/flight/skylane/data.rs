//! Airports and airlines in Skylane's format.

use axum::Json;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    flight::{
        airport_search::search_airports,
        logo_url,
        problem::FlightError,
        reference_data::{self, Airport},
        skylane::refusal::SkylaneResult,
    },
    request::Call,
};

const LIMIT: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AirportQuery {
    q: String,
    limit: Option<usize>,
}

pub(super) async fn find_airports(call: Call) -> SkylaneResult<Json<Value>> {
    let query: AirportQuery = call.query()?;
    let limit = query.limit.unwrap_or(LIMIT);
    let (data, more) = search_airports(&call.app, &query.q, limit, airport).await;
    Ok(Json(json!({ "data": data, "more": more })))
}

fn airport(airport: &Airport) -> Value {
    json!({
        "id": format!("airport-{}", airport.iata.to_lowercase()),
        "iata": airport.iata,
        "icao": airport.icao,
        "name": airport.name,
        "city": airport.city,
        "state": airport.state,
        "country": airport.country,
        "lat": airport.lat,
        "lon": airport.lon,
        "zone": airport.zone_name,
    })
}

pub(super) async fn read_airline(call: Call) -> SkylaneResult<Json<Value>> {
    let airline = reference_data::airline(&call.id).ok_or(FlightError::NotFound)?;
    Ok(Json(json!({ "data": {
        "id": format!("airline-{}", airline.iata.to_lowercase()),
        "iata": airline.iata,
        "icao": airline.icao,
        "name": airline.name,
        "country": airline.country,
        "alliance": airline.alliance,
        "logo": logo_url(&call.app, airline),
        "active": airline.active,
    } })))
}
