//! Conversion of airports and airlines.

use crate::bindings::exports::stopover::supplier::flight_reference as wire;
use crate::bindings::stopover::supplier::types::Location;
use crate::convert::dropped::DroppedItems;
use crate::convert::{ConvertResult, invalid, location, text, valid_items};
use host_domain::flight::supplier_api::{Airline, Airport, AirportResponse};

const AIRPORT_ICAO_CHARS: usize = 4;
const AIRLINE_ICAO_CHARS: usize = 3;

/// Converts a list of at most `limit` airports.
pub(crate) fn airports(
    response: wire::AirportResponse,
    limit: u16,
    dropped: &mut DroppedItems,
) -> ConvertResult<AirportResponse> {
    let items_max = usize::from(limit);
    Ok(AirportResponse {
        airports: valid_items("airports", response.airports, items_max, dropped, airport)?,
        truncated: response.truncated,
    })
}

fn airport(airport: wire::Airport) -> ConvertResult<Airport> {
    let place = airport.latitude.zip(airport.longitude);
    let place = place.and_then(|(latitude, longitude)| {
        let place = Location {
            latitude,
            longitude,
        };
        location("airports.latitude", place).ok()
    });
    Ok(Airport {
        supplier_airport_id: text::reference(
            "airports.supplier-airport-id",
            airport.supplier_airport_id,
        )?,
        iata_code: text::airport_code("airports.iata-code", airport.iata_code)?,
        icao_code: text::icao_code(airport.icao_code, AIRPORT_ICAO_CHARS),
        name: text::display_line(airport.name),
        city: text::optional_display(airport.city, text::LINE_CHARS),
        state: text::optional_display(airport.state, text::LINE_CHARS),
        country: text::country(airport.country),
        latitude: place.map(|place| place.latitude),
        longitude: place.map(|place| place.longitude),
        time_zone: text::time_zone(airport.time_zone),
    })
}

/// Converts an airline, which must have the requested code.
pub(crate) fn airline(airline: wire::Airline, expected: &str) -> ConvertResult<Airline> {
    if airline.iata_code != expected {
        return invalid("iata-code", "another airline than asked for");
    }
    Ok(Airline {
        supplier_airline_id: text::reference("supplier-airline-id", airline.supplier_airline_id)?,
        iata_code: text::airline_code("iata-code", airline.iata_code)?,
        icao_code: text::icao_code(airline.icao_code, AIRLINE_ICAO_CHARS),
        name: text::display_line(airline.name),
        country: text::country(airline.country),
        alliance: text::optional_display(airline.alliance, text::LINE_CHARS),
        logo_url: text::url(airline.logo_url),
        is_active: airline.is_active,
    })
}
