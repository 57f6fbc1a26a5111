//! JSON resources of named places and geographic locations.

use crate::value::{CountryCode, parse_country};
use host_domain::hotel;
use host_domain::id::PlaceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A geographic location in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct LocationResource {
    #[schema(minimum = -90, maximum = 90, example = 48.8566)]
    latitude: f64,
    #[schema(minimum = -180, maximum = 180, example = 2.3522)]
    longitude: f64,
}

/// A place with a similar name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlaceAlternativeResource {
    /// Display name.
    name: String,
    /// Address on one line.
    address: String,
}

/// A named place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PlaceResource {
    #[schema(pattern = "^plc_[a-zA-Z0-9-]+$")]
    id: String,
    /// Display name.
    name: String,
    /// Address on one line.
    address: String,
    /// Centre of the place.
    location: LocationResource,
    /// Radius in metres around the centre that covers most of the place. Null if the supplier gives
    /// none.
    #[schema(required, minimum = 0)]
    suggested_radius: Option<f64>,
    #[schema(required)]
    country_code: Option<CountryCode>,
    /// City that the place is in, or the place itself if it is a city.
    #[schema(required)]
    city: Option<String>,
    /// Categories as the supplier names them.
    types: Vec<String>,
    /// Places with similar names.
    alternatives: Vec<PlaceAlternativeResource>,
}

/// The stored form of a place, without its id. Stored documents of older versions must stay
/// readable, so fields may only be added, each with a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPlace {
    pub name: String,
    pub address: String,
    pub location: hotel::Location,
    pub suggested_radius: Option<f64>,
    pub country: Option<String>,
    pub city: Option<String>,
    pub types: Vec<String>,
    pub alternatives: Vec<(String, String)>,
}

/// Builds the resource of a place from its id and stored form.
pub fn place(id: &PlaceId, place: SavedPlace) -> PlaceResource {
    let alternatives = place.alternatives.into_iter();
    let alternatives =
        alternatives.map(|(name, address)| PlaceAlternativeResource { name, address });
    PlaceResource {
        id: id.to_string(),
        name: place.name,
        address: place.address,
        location: place.location.into(),
        suggested_radius: place.suggested_radius,
        country_code: place.country.as_deref().and_then(country),
        city: place.city,
        types: place.types,
        alternatives: alternatives.collect(),
    }
}

/// Returns the country of a supplier's country code, or `None` if the code is not a valid country.
pub fn country(code: &str) -> Option<CountryCode> {
    parse_country(code).map(CountryCode)
}

impl From<hotel::Location> for LocationResource {
    fn from(location: hotel::Location) -> Self {
        Self {
            latitude: location.latitude,
            longitude: location.longitude,
        }
    }
}
