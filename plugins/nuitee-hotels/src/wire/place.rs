//! `GET /data/places` and `GET /data/places/{placeId}`.

use serde::Deserialize;

use crate::wire::Coordinates;
use stopover_sdk::lenient::OneOrMany;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestion {
    pub(crate) place_id: String,
    #[serde(default)]
    pub(crate) display_name: String,
    #[serde(default)]
    pub(crate) formatted_address: String,
    #[serde(default)]
    pub(crate) types: OneOrMany<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    #[serde(default)]
    pub(crate) address_components: OneOrMany<AddressComponent>,
    pub(crate) location: Coordinates,
    pub(crate) viewport: Option<Viewport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct AddressComponent {
    pub(crate) long_text: String,
    pub(crate) short_text: String,
    pub(crate) types: OneOrMany<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Viewport {
    pub(crate) high: Coordinates,
    pub(crate) low: Coordinates,
}
