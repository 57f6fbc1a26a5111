//! `GET /places/suggestions` and `GET /air/airlines`.

use crate::wire::record;

record! {
    /// An airport, or a city with its airports.
    Suggestion {
        kind: String = "type",
        id: String,
        iata_code: String,
        icao_code: Option<String>,
        name: String,
        city_name: Option<String>,
        country_code: Option<String> = "iata_country_code",
        latitude: Option<f64>,
        longitude: Option<f64>,
        time_zone: Option<String>,
        airports: Vec<Suggestion>,
    }

    Airline {
        id: String,
        iata_code: String,
        name: String,
        logo_symbol_url: Option<String>,
    }
}
