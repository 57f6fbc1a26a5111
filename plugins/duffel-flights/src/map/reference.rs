//! Conversion of place suggestions to airports.

use stopover_sdk::flight_reference::{Airport, AirportResponse};
use stopover_sdk::json::non_empty;

use crate::wire::reference::Suggestion;

/// Returns every airport of the suggestions once, in their order. A city yields its airports.
pub(crate) fn airports(suggestions: Vec<Suggestion>, limit: usize) -> AirportResponse {
    let mut airports: Vec<Airport> = Vec::new();
    for mut suggestion in suggestions {
        let within = std::mem::take(&mut suggestion.airports);
        let city = suggestion.name.clone();
        let found = if suggestion.kind == "city" {
            within
                .into_iter()
                .map(|one| (one, Some(city.as_str())))
                .collect()
        } else {
            vec![(suggestion, None)]
        };
        for (written, city) in found {
            let is_known = airports
                .iter()
                .any(|one| one.supplier_airport_id == written.id);
            if !is_known {
                airports.extend(airport(written, city));
            }
        }
    }
    let truncated = airports.len() > limit;
    airports.truncate(limit);
    AirportResponse {
        airports,
        truncated,
    }
}

/// Converts an airport. Returns `None` if it has no IATA code.
fn airport(written: Suggestion, city: Option<&str>) -> Option<Airport> {
    let on_map = |degrees: &f64, most: f64| (-most..=most).contains(degrees);
    let latitude = written.latitude.filter(|latitude| on_map(latitude, 90.0));
    let longitude = written
        .longitude
        .filter(|longitude| on_map(longitude, 180.0));
    let location = latitude.zip(longitude);
    Some(Airport {
        supplier_airport_id: written.id,
        iata_code: non_empty(written.iata_code)?,
        icao_code: written.icao_code.and_then(non_empty),
        name: written.name,
        city: written
            .city_name
            .and_then(non_empty)
            .or(city.map(str::to_owned)),
        state: None,
        country: written.country_code.and_then(non_empty),
        latitude: location.map(|(latitude, _)| latitude),
        longitude: location.map(|(_, longitude)| longitude),
        time_zone: written.time_zone.and_then(non_empty),
    })
}
