//! Conversion of airports and airlines.

use stopover_sdk::flight_reference::{Airline, Airport, AirportResponse};

use crate::map::{country, logo};
use crate::wire::reference as wire;

/// Returns the airports in Nuitee's order, which is by relevance. Airports without a code or a name
/// are left out.
pub(crate) fn airports(wire: &wire::Airports<'_>, limit: usize) -> AirportResponse {
    let mut airports: Vec<Airport> = wire.airports.0.iter().filter_map(airport).collect();
    let matching = wire.count.0.and_then(|count| usize::try_from(count).ok());
    let listed = wire.airports.0.len();
    let truncated = airports.len() > limit || matching.is_some_and(|matching| matching > listed);
    airports.truncate(limit);
    AirportResponse {
        airports,
        truncated,
    }
}

fn airport(wire: &wire::Airport<'_>) -> Option<Airport> {
    let iata_code = wire.iata.to_owned()?;
    let place = wire.latitude.0.zip(wire.longitude.0);
    // The coordinates (0, 0) stand for an unknown position.
    let place = place.filter(|(latitude, longitude)| {
        (-90.0..=90.0).contains(latitude)
            && (-180.0..=180.0).contains(longitude)
            && (*latitude, *longitude) != (0.0, 0.0)
    });
    Some(Airport {
        supplier_airport_id: iata_code.clone(),
        iata_code,
        icao_code: wire.icao.to_owned(),
        name: wire.name.to_owned()?,
        city: wire.city.to_owned(),
        state: wire.state.to_owned(),
        country: country::code(wire.country.as_str()),
        latitude: place.map(|(latitude, _)| latitude),
        longitude: place.map(|(_, longitude)| longitude),
        time_zone: wire.time_zone.to_owned().filter(|zone| zone.contains('/')),
    })
}

/// Converts an airline. Returns `None` if it is not the requested airline. An airline counts as
/// active unless Nuitee marks it as inactive.
pub(crate) fn airline(
    wire: &wire::Airline<'_>,
    iata_code: &str,
    logo_url: &str,
) -> Option<Airline> {
    let code = wire.iata.as_deref()?;
    if !code.eq_ignore_ascii_case(iata_code) {
        return None;
    }
    Some(Airline {
        supplier_airline_id: code.to_owned(),
        iata_code: code.to_ascii_uppercase(),
        icao_code: wire.icao.to_owned(),
        name: wire.name.to_owned()?,
        country: country::code(wire.country.as_str()),
        alliance: wire.alliance.to_owned(),
        logo_url: logo::url(&wire.logo, logo_url),
        is_active: wire.active.0 != Some(false),
    })
}
