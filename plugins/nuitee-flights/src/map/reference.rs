//! Conversion of airports and airlines.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_reference::{Airline, Airport, AirportResponse};
use stopover_sdk::json::{DecodeError, ensure};

use crate::map::{country, logo};
use crate::wire::reference as wire;

/// JSON pointer of the only item of a response.
const POINTER: &str = "/data/0";

/// Returns the airports in Nuitee's order, which is by relevance. Airports without a code or a name
/// are left out.
///
/// # Errors
/// The response has no list of airports, or no airport in it can be used.
pub(crate) fn airports(
    wire: wire::Airports<'_>,
    limit: usize,
    dropped: &mut DroppedItems,
) -> Result<AirportResponse, DecodeError> {
    let listed = wire.airports;
    let listed = listed.ok_or_else(|| DecodeError::missing("there is no list of airports"))?;
    let listed_count = listed.len() + listed.unreadable().len();
    let mut airports = Vec::new();
    for (at, listed) in dropped.readable(format_args!("{POINTER}/airports"), listed) {
        airports.extend(dropped.keep(format_args!("{POINTER}/airports/{at}"), airport(&listed)));
    }
    dropped.check_remaining(!airports.is_empty())?;
    let matching = wire.count.0;
    let matching = matching.and_then(|count| usize::try_from(count).ok());
    let is_part = matching.is_some_and(|matching| matching > listed_count);
    let truncated = airports.len() > limit || is_part;
    airports.truncate(limit);
    Ok(AirportResponse {
        airports,
        truncated,
    })
}

fn airport(wire: &wire::Airport<'_>) -> Result<Airport, DecodeError> {
    let lacks = |what: &'static str| move || DecodeError::missing(what);
    let iata_code = wire.iata.to_owned();
    let iata_code = iata_code.ok_or_else(lacks("the airport has no code"))?;
    let name = wire.name.to_owned();
    let place = wire.latitude.0.zip(wire.longitude.0);
    // The coordinates (0, 0) stand for an unknown position.
    let place = place.filter(|(latitude, longitude)| {
        (-90.0..=90.0).contains(latitude)
            && (-180.0..=180.0).contains(longitude)
            && (*latitude, *longitude) != (0.0, 0.0)
    });
    Ok(Airport {
        supplier_airport_id: iata_code.clone(),
        iata_code,
        icao_code: wire.icao.to_owned(),
        name: name.ok_or_else(lacks("the airport has no name"))?,
        city: wire.city.to_owned(),
        state: wire.state.to_owned(),
        country: country::code(wire.country.as_str()),
        latitude: place.map(|(latitude, _)| latitude),
        longitude: place.map(|(_, longitude)| longitude),
        time_zone: wire.time_zone.to_owned().filter(|zone| zone.contains('/')),
    })
}

/// Converts an airline. It counts as active unless Nuitee marks it as inactive.
///
/// # Errors
/// It has no name, or it is not the requested airline.
pub(crate) fn airline(
    wire: &wire::Airline<'_>,
    iata_code: &str,
    logo_url: &str,
) -> Result<Airline, DecodeError> {
    let code = wire.iata.as_str();
    ensure(
        code.eq_ignore_ascii_case(iata_code),
        "the response is about another airline",
    )?;
    let name = wire.name.to_owned();
    Ok(Airline {
        supplier_airline_id: code.to_owned(),
        iata_code: code.to_ascii_uppercase(),
        icao_code: wire.icao.to_owned(),
        name: name.ok_or_else(|| DecodeError::missing("the airline has no name"))?,
        country: country::code(wire.country.as_str()),
        alliance: wire.alliance.to_owned(),
        logo_url: logo::url(&wire.logo, logo_url),
        is_active: wire.active.0 != Some(false),
    })
}
