//! Conversion of Jetbridge's airports and airlines, in pure functions.

use stopover_sdk::flight_reference::{Airline, Airport, AirportResponse};

use crate::jetbridge::wire;
use stopover_sdk::json::non_empty;

pub(crate) fn airports(found: wire::Airports, limit: u16) -> AirportResponse {
    let limit = usize::from(limit);
    AirportResponse {
        truncated: found.more || found.airports.len() > limit,
        airports: found
            .airports
            .into_iter()
            .take(limit)
            .map(airport)
            .collect(),
    }
}

fn airport(airport: wire::Airport) -> Airport {
    Airport {
        supplier_airport_id: airport.code.clone(),
        iata_code: airport.code,
        icao_code: non_empty(airport.icao),
        name: airport.name,
        city: non_empty(airport.city),
        state: non_empty(airport.region),
        country: non_empty(airport.country),
        latitude: Some(airport.lat),
        longitude: Some(airport.lng),
        time_zone: non_empty(airport.tz),
    }
}

pub(crate) fn airline(airline: wire::Airline) -> Airline {
    Airline {
        supplier_airline_id: airline.code.clone(),
        iata_code: airline.code,
        icao_code: non_empty(airline.icao),
        name: airline.name,
        country: non_empty(airline.country),
        alliance: airline.alliance,
        logo_url: airline.logo,
        is_active: airline.active,
    }
}
