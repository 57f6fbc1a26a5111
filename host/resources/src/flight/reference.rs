//! JSON resources of airports and airlines.

use crate::place::country;
use crate::value::CountryCode;
use host_domain::flight::supplier_api;
use host_domain::id::{AirlineId, AirportId};
use serde::Serialize;
use utoipa::ToSchema;

/// An airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AirportResource {
    /// Permanent id, independent of the supplier that describes the airport.
    #[schema(pattern = "^apt_[a-zA-Z0-9-]+$")]
    id: String,
    #[schema(example = "LHR")]
    iata_code: String,
    #[schema(required, example = "EGLL")]
    icao_code: Option<String>,
    /// Display name.
    #[schema(example = "Heathrow Airport")]
    name: String,
    /// City that the airport serves.
    #[schema(required, example = "London")]
    city: Option<String>,
    /// State or region.
    #[schema(required, example = "England")]
    state: Option<String>,
    #[schema(required)]
    country: Option<CountryCode>,
    /// Latitude in degrees.
    #[schema(required, minimum = -90, maximum = 90, example = 51.47)]
    latitude: Option<f64>,
    /// Longitude in degrees.
    #[schema(required, minimum = -180, maximum = 180, example = -0.4543)]
    longitude: Option<f64>,
    /// IANA name of the time zone.
    #[schema(required, example = "Europe/London")]
    time_zone: Option<String>,
}

/// An airline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AirlineResource {
    /// Permanent id, independent of the supplier that describes the airline.
    #[schema(pattern = "^arl_[a-zA-Z0-9-]+$")]
    id: String,
    #[schema(example = "BA")]
    iata_code: String,
    #[schema(required, example = "BAW")]
    icao_code: Option<String>,
    /// Display name.
    #[schema(example = "British Airways")]
    name: String,
    #[schema(required)]
    country: Option<CountryCode>,
    /// Airline alliance.
    #[schema(required, example = "oneworld")]
    alliance: Option<String>,
    /// URL of the logo.
    #[schema(required)]
    logo_url: Option<String>,
    /// Whether the airline operates flights.
    is_active: bool,
}

pub fn airport(id: &AirportId, airport: supplier_api::Airport) -> AirportResource {
    AirportResource {
        id: id.to_string(),
        iata_code: airport.iata_code,
        icao_code: airport.icao_code,
        name: airport.name,
        city: airport.city,
        state: airport.state,
        country: airport.country.as_deref().and_then(country),
        latitude: airport.latitude,
        longitude: airport.longitude,
        time_zone: airport.time_zone,
    }
}

pub fn airline(id: &AirlineId, airline: supplier_api::Airline) -> AirlineResource {
    AirlineResource {
        id: id.to_string(),
        iata_code: airline.iata_code,
        icao_code: airline.icao_code,
        name: airline.name,
        country: airline.country.as_deref().and_then(country),
        alliance: airline.alliance,
        logo_url: airline.logo_url,
        is_active: airline.is_active,
    }
}
