//! `GET /data/flights/airports` and `GET /data/flights/airlines/iatas/{code}`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::lenient::{LenientCount, LenientFlag, LenientList, LenientNumber, LenientText};
use stopover_sdk::lenient_struct;

lenient_struct! {
    pub(crate) struct Airports<'a> {
        pub(crate) airports: Option<LenientList<Airport<'a>>> = "airports",
        /// Number of matching airports.
        pub(crate) count: LenientCount = "count",
    }

    pub(crate) struct Airport<'a> {
        pub(crate) iata: LenientText<'a> = "iata",
        pub(crate) icao: LenientText<'a> = "icao",
        pub(crate) name: LenientText<'a> = "name",
        pub(crate) city: LenientText<'a> = "city",
        pub(crate) state: LenientText<'a> = "state",
        /// English name of the country.
        pub(crate) country: LenientText<'a> = "country",
        pub(crate) latitude: LenientNumber = "lat",
        pub(crate) longitude: LenientNumber = "lon",
        pub(crate) time_zone: LenientText<'a> = "tz",
    }

    pub(crate) struct ReadAirline<'a> {
        pub(crate) airline: Option<Airline<'a>> = "airline",
    }

    pub(crate) struct Airline<'a> {
        pub(crate) iata: LenientText<'a> = "iata",
        pub(crate) name: LenientText<'a> = "name",
        pub(crate) icao: LenientText<'a> = "icao",
        /// English name of the country.
        pub(crate) country: LenientText<'a> = "country",
        pub(crate) alliance: LenientText<'a> = "alliance",
        pub(crate) logo: LenientText<'a> = "logo",
        pub(crate) active: LenientFlag = "active",
    }
}

/// A page whose list of airports was sent as a list.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the form of the document counts")]
pub(crate) struct ListedAirports {
    airports: Vec<IgnoredAny>,
}
