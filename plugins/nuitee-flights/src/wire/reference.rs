//! `GET /data/flights/airports` and `GET /data/flights/airlines/iatas/{code}`.

use stopover_sdk::loose::{Count, Flag, Many, Number, Text};
use stopover_sdk::record;

record! {
    #[derive(Debug)]
    pub(crate) struct Airports<'a> {
        pub(crate) airports: Many<Airport<'a>> = "airports",
        /// Number of matching airports.
        pub(crate) count: Count = "count",
    }

    #[derive(Debug)]
    pub(crate) struct Airport<'a> {
        pub(crate) iata: Text<'a> = "iata",
        pub(crate) icao: Text<'a> = "icao",
        pub(crate) name: Text<'a> = "name",
        pub(crate) city: Text<'a> = "city",
        pub(crate) state: Text<'a> = "state",
        /// English name of the country.
        pub(crate) country: Text<'a> = "country",
        pub(crate) latitude: Number = "lat",
        pub(crate) longitude: Number = "lon",
        pub(crate) time_zone: Text<'a> = "tz",
    }

    #[derive(Debug)]
    pub(crate) struct ReadAirline<'a> {
        pub(crate) airline: Option<Airline<'a>> = "airline",
    }

    #[derive(Debug)]
    pub(crate) struct Airline<'a> {
        pub(crate) iata: Text<'a> = "iata",
        pub(crate) icao: Text<'a> = "icao",
        pub(crate) name: Text<'a> = "name",
        /// English name of the country.
        pub(crate) country: Text<'a> = "country",
        pub(crate) alliance: Text<'a> = "alliance",
        pub(crate) logo: Text<'a> = "logo",
        pub(crate) active: Flag = "active",
    }
}
