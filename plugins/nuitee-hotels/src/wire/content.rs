//! `GET /data/hotel`, `GET /data/hotels` and `GET /data/reviews`.

use serde::Deserialize;

use crate::wire::Coordinates;
use stopover_sdk::lenient::{LenientFlag, LenientNumber, OneOrMany};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Hotel {
    pub(crate) id: String,
    pub(crate) name: String,
    /// HTML text.
    pub(crate) hotel_description: Option<String>,
    pub(crate) hotel_important_information: Option<String>,
    pub(crate) checkin_checkout_times: Option<CheckTimes>,
    pub(crate) hotel_images: OneOrMany<Image>,
    pub(crate) country: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) zip: Option<String>,
    pub(crate) star_rating: LenientNumber,
    pub(crate) location: Option<Coordinates>,
    pub(crate) address: Option<String>,
    pub(crate) hotel_facilities: OneOrMany<String>,
    pub(crate) rooms: OneOrMany<Room>,
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    /// Guest rating from 0 to 10.
    pub(crate) rating: LenientNumber,
    pub(crate) review_count: LenientNumber,
    pub(crate) policies: OneOrMany<Policy>,
}

/// Check-in and check-out times, in forms such as `04:00 PM`.
#[derive(Debug, Deserialize)]
pub(crate) struct CheckTimes {
    pub(crate) checkin_start: Option<String>,
    pub(crate) checkin: Option<String>,
    pub(crate) checkout: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Image {
    pub(crate) url: Option<String>,
    pub(crate) url_hd: Option<String>,
    pub(crate) caption: Option<String>,
    pub(crate) order: LenientNumber,
    pub(crate) default_image: LenientFlag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Room {
    pub(crate) room_name: String,
    pub(crate) description: Option<String>,
    pub(crate) max_occupancy: LenientNumber,
    pub(crate) photos: OneOrMany<Photo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Photo {
    pub(crate) url: Option<String>,
    #[serde(rename = "hd_url")]
    pub(crate) url_hd: Option<String>,
    pub(crate) image_description: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Policy {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

/// A hotel in a list. It is read for its location.
#[derive(Debug, Deserialize)]
pub(crate) struct ListedHotel {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) latitude: LenientNumber,
    #[serde(default)]
    pub(crate) longitude: LenientNumber,
}

/// A review. The reviewer's `name` is not read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Review {
    pub(crate) average_score: LenientNumber,
    #[serde(rename = "type")]
    pub(crate) traveller_type: Option<String>,
    /// Date on which the review was written.
    pub(crate) date: String,
    pub(crate) headline: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) pros: Option<String>,
    pub(crate) cons: Option<String>,
}
