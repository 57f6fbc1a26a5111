//! Places by name, and points on the map.

use crate::api::value::{CountryCode, parse_country};
use host_domain::hotel;
use host_domain::id::PlaceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A point on the map, degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub(crate) struct Location {
    #[schema(minimum = -90, maximum = 90, example = 48.8566)]
    latitude: f64,
    #[schema(minimum = -180, maximum = 180, example = 2.3522)]
    longitude: f64,
}

/// A place with a similar name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct PlaceAlternative {
    /// Display text.
    name: String,
    /// One line.
    address: String,
}

/// A place, saved.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Place {
    #[schema(
        pattern = "^plc_[a-zA-Z0-9-]+$",
        example = "plc_01976f3e4a5b7c8d9e0f112233445566"
    )]
    id: String,
    /// Display text.
    name: String,
    /// One line.
    address: String,
    /// Its middle.
    location: Location,
    /// Metres around the middle that hold most of it; null when the supplier does not say.
    #[schema(required, minimum = 0)]
    suggested_radius: Option<f64>,
    #[schema(required)]
    country_code: Option<CountryCode>,
    /// City that it is in, or is.
    #[schema(required)]
    city: Option<String>,
    /// The supplier's categories.
    types: Vec<String>,
    /// Similar places.
    alternatives: Vec<PlaceAlternative>,
}

/// A place as it is saved: everything of it but its id. Older documents stay
/// readable, so fields are only added, with defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedPlace {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) location: hotel::Location,
    pub(crate) suggested_radius: Option<f64>,
    pub(crate) country: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) types: Vec<String>,
    pub(crate) alternatives: Vec<(String, String)>,
}

/// A place under its id.
pub(crate) fn place(id: &PlaceId, place: SavedPlace) -> Place {
    let alternatives = place.alternatives.into_iter();
    Place {
        id: id.to_string(),
        name: place.name,
        address: place.address,
        location: place.location.into(),
        suggested_radius: place.suggested_radius,
        country_code: place.country.as_deref().and_then(country),
        city: place.city,
        types: place.types,
        alternatives: alternatives
            .map(|(name, address)| PlaceAlternative { name, address })
            .collect(),
    }
}

/// A country that a supplier told, where it is one.
pub(crate) fn country(code: &str) -> Option<CountryCode> {
    parse_country(code).map(CountryCode)
}

impl From<hotel::Location> for Location {
    fn from(location: hotel::Location) -> Self {
        Self {
            latitude: location.latitude,
            longitude: location.longitude,
        }
    }
}
