//! `GET /places/suggestions` and `GET /air/airlines`.

use stopover_sdk::lenient::{Essential, LenientList, LenientNumber};
use stopover_sdk::lenient_struct;

use crate::wire::{OptionalText, Part};

lenient_struct! {
    /// An airport, or a city with its airports.
    pub(crate) struct Suggestion {
        kind: Essential<String> = "type",
        pub(crate) id: String,
        pub(crate) iata_code: String,
        pub(crate) icao_code: OptionalText,
        pub(crate) name: String,
        pub(crate) city_name: OptionalText,
        pub(crate) city: Part<City>,
        pub(crate) country_code: OptionalText = "iata_country_code",
        pub(crate) latitude: LenientNumber,
        pub(crate) longitude: LenientNumber,
        pub(crate) time_zone: OptionalText,
        pub(crate) airports: Part<LenientList<Airport>>,
    }

    /// An airport of a city.
    pub(crate) struct Airport {
        pub(crate) id: String,
        pub(crate) iata_code: String,
        pub(crate) icao_code: OptionalText,
        pub(crate) name: String,
        pub(crate) city_name: OptionalText,
        pub(crate) city: Part<City>,
        pub(crate) country_code: OptionalText = "iata_country_code",
        pub(crate) latitude: LenientNumber,
        pub(crate) longitude: LenientNumber,
        pub(crate) time_zone: OptionalText,
    }

    pub(crate) struct City {
        pub(crate) name: OptionalText,
    }

    pub(crate) struct Airline {
        pub(crate) id: String,
        /// The IATA code; empty if the airline has none.
        pub(crate) iata_code: String,
        pub(crate) name: String,
        pub(crate) logo_symbol_url: OptionalText,
    }
}

impl Suggestion {
    /// Returns the type, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn kind(&self) -> &str {
        self.kind.value().map_or("", String::as_str)
    }

    /// Returns the suggestion as an airport.
    pub(crate) fn into_airport(self) -> Airport {
        Airport {
            id: self.id,
            iata_code: self.iata_code,
            icao_code: self.icao_code,
            name: self.name,
            city_name: self.city_name,
            city: self.city,
            country_code: self.country_code,
            latitude: self.latitude,
            longitude: self.longitude,
            time_zone: self.time_zone,
        }
    }
}
