//! `GET /places/suggestions` and `GET /air/airlines`.

use stopover_sdk::lenient_struct;

lenient_struct! {
    /// An airport, or a city with its airports.
    pub(crate) struct Suggestion {
        pub(crate) kind: String = "type",
        pub(crate) id: String,
        pub(crate) iata_code: String,
        pub(crate) icao_code: Option<String>,
        pub(crate) name: String,
        pub(crate) city_name: Option<String>,
        pub(crate) country_code: Option<String> = "iata_country_code",
        pub(crate) latitude: Option<f64>,
        pub(crate) longitude: Option<f64>,
        pub(crate) time_zone: Option<String>,
        pub(crate) airports: Vec<Suggestion>,
    }

    pub(crate) struct Airline {
        pub(crate) id: String,
        pub(crate) iata_code: String,
        pub(crate) name: String,
        pub(crate) logo_symbol_url: Option<String>,
    }
}
