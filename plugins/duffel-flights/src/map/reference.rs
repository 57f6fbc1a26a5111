//! Conversion of place suggestions to airports.

use std::collections::HashSet;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_reference::Airport;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::LenientList;

use crate::wire::Part;
use crate::wire::reference::{self as wire, Suggestion};

/// Returns every airport of the suggestions once, in their order. A city yields its airports, and so does
/// a suggestion of an unknown type, which may be a city. Airports that cannot be read, and suggestions
/// that yield none for another reason, are left out.
pub(crate) fn airports(
    suggestions: LenientList<Suggestion>,
    dropped: &mut DroppedItems,
) -> Vec<Airport> {
    let mut found = FoundAirports::default();
    for (at, mut suggestion) in dropped.readable(format_args!("/data"), suggestions) {
        if suggestion.kind() == "airport" {
            let airport = airport(suggestion.into_airport(), None);
            found.add(dropped.keep(format_args!("/data/{at}"), airport));
            continue;
        }
        let is_city = suggestion.kind() == "city";
        let within = std::mem::take(&mut suggestion.airports);
        if !has_airports(is_city, &within) {
            let error = DecodeError::new("a suggestion is no airport and lists none");
            dropped.leave_out(format_args!("/data/{at}"), error);
            continue;
        }
        // The name of another suggestion may be that of an airport.
        let city = is_city.then_some(suggestion.name.as_str());
        let within = dropped.readable_part(format_args!("/data/{at}/airports"), within);
        let within = within.unwrap_or_default();
        for (place, written) in dropped.readable(format_args!("/data/{at}/airports"), within) {
            let airport = airport(written, city);
            found.add(dropped.keep(format_args!("/data/{at}/airports/{place}"), airport));
        }
    }
    found.airports
}

/// Returns whether a suggestion that is no airport lists airports. The list of a city may be empty. A list
/// that cannot be read is counted when it is read.
fn has_airports(is_city: bool, within: &Part<LenientList<wire::Airport>>) -> bool {
    match within {
        Part::Missing => false,
        Part::Decoded(list) => is_city || !list.is_empty() || !list.unreadable().is_empty(),
        Part::Unreadable(_) => true,
    }
}

#[derive(Default)]
struct FoundAirports {
    airports: Vec<Airport>,
    ids: HashSet<String>,
}

impl FoundAirports {
    /// Adds an airport that has an IATA code and is not in the list yet.
    fn add(&mut self, airport: Option<Option<Airport>>) {
        let new = airport
            .flatten()
            .filter(|airport| self.ids.insert(airport.supplier_airport_id.clone()));
        self.airports.extend(new);
    }
}

/// Converts an airport. Returns `None` if it has no IATA code.
///
/// # Errors
/// It has no id or no name, so it is no airport.
fn airport(written: wire::Airport, city: Option<&str>) -> Result<Option<Airport>, DecodeError> {
    let is_airport = !written.id.trim().is_empty() && !written.name.is_empty();
    ensure(is_airport, "an airport has no id or no name")?;
    if written.iata_code.is_empty() {
        return Ok(None);
    }
    let on_map = |degrees: &f64, most: f64| (-most..=most).contains(degrees);
    let latitude = written.latitude.0.filter(|latitude| on_map(latitude, 90.0));
    let longitude = written
        .longitude
        .0
        .filter(|longitude| on_map(longitude, 180.0));
    let location = latitude.zip(longitude);
    let suggested = city.filter(|city| !city.is_empty()).map(str::to_owned);
    let city = written
        .city
        .decoded()
        .and_then(|city| city.name.into_option());
    Ok(Some(Airport {
        supplier_airport_id: written.id,
        iata_code: written.iata_code,
        icao_code: written.icao_code.into_option(),
        name: written.name,
        city: written.city_name.into_option().or(city).or(suggested),
        state: None,
        country: written.country_code.into_option(),
        latitude: location.map(|(latitude, _)| latitude),
        longitude: location.map(|(_, longitude)| longitude),
        time_zone: written.time_zone.into_option(),
    }))
}
