//! Lodge's responses for places, searches, content, weather and published prices, with only the
//! fields that are used.

use serde::Deserialize;
use stopover_sdk::lenient::LenientList;
use stopover_sdk::money::Decimal;

use crate::wire::Hotel;

#[derive(Deserialize)]
pub(super) struct Places {
    pub(super) places: Option<LenientList<Place>>,
}

#[derive(Deserialize)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) lat: f64,
    pub(super) lng: f64,
    pub(super) radius_m: Option<f64>,
    pub(super) country: Option<String>,
    pub(super) city: Option<String>,
    pub(super) kinds: Vec<String>,
    pub(super) similar: Vec<Similar>,
}

#[derive(Deserialize)]
pub(super) struct Similar {
    pub(super) name: String,
    pub(super) label: String,
}

#[derive(Deserialize)]
pub(super) struct Found {
    pub(super) currency: String,
    pub(super) more: bool,
    pub(super) hotels: Option<LenientList<SupplierHotel>>,
}

#[derive(Deserialize)]
pub(super) struct SupplierHotel {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) address: String,
    pub(super) lat: f64,
    pub(super) lng: f64,
    pub(super) stars: Option<f64>,
    pub(super) rating: Option<f64>,
    pub(super) price_from: Option<Decimal>,
    pub(super) photo: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Details {
    pub(super) hotel: Hotel,
    /// HTML text.
    pub(super) description: Option<String>,
    pub(super) stars: Option<f64>,
    pub(super) rating: Option<f64>,
    pub(super) review_count: Option<u32>,
    pub(super) postal: Postal,
    pub(super) check_in_from: Option<String>,
    pub(super) check_out_until: Option<String>,
    pub(super) phone: Option<String>,
    pub(super) email: Option<String>,
    pub(super) amenities: Vec<String>,
    pub(super) images: Vec<Image>,
    pub(super) policies: Vec<Policy>,
    pub(super) rooms: Vec<Room>,
}

#[derive(Deserialize)]
pub(super) struct Postal {
    pub(super) line1: Option<String>,
    pub(super) city: Option<String>,
    pub(super) region: Option<String>,
    pub(super) postcode: Option<String>,
    pub(super) country: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Image {
    pub(super) url: String,
    pub(super) caption: Option<String>,
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) text: String,
}

#[derive(Deserialize)]
pub(super) struct Room {
    pub(super) name: String,
    pub(super) text: Option<String>,
    pub(super) sleeps: Option<u8>,
    pub(super) images: Vec<Image>,
}

#[derive(Deserialize)]
pub(super) struct Reviews {
    pub(super) average: Option<f64>,
    pub(super) count: u32,
    pub(super) reviews: Vec<Review>,
}

/// A review. The author's name is personal data and is not read.
#[derive(Deserialize)]
pub(super) struct Review {
    pub(super) score: Option<f64>,
    pub(super) title: Option<String>,
    pub(super) pros: Option<String>,
    pub(super) cons: Option<String>,
    pub(super) text: Option<String>,
    pub(super) language: Option<String>,
    pub(super) traveller: Option<String>,
    pub(super) stayed: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Weather {
    pub(super) units: String,
    pub(super) days: Vec<Day>,
}

#[derive(Deserialize)]
pub(super) struct Day {
    pub(super) date: String,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) summary: Option<String>,
    pub(super) sky: Vec<Sky>,
    pub(super) humidity: Option<f64>,
    pub(super) humidity_afternoon: Option<f64>,
    pub(super) wind: Option<f64>,
    pub(super) wind_max: Option<f64>,
    pub(super) rain_chance: Option<f64>,
    pub(super) rain_mm: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Sky {
    pub(super) text: String,
    pub(super) icon: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Calendar {
    pub(super) currency: String,
    pub(super) hotels: Vec<HotelDays>,
}

#[derive(Deserialize)]
pub(super) struct HotelDays {
    pub(super) id: String,
    pub(super) days: Vec<DayPrice>,
}

#[derive(Deserialize)]
pub(super) struct DayPrice {
    pub(super) date: String,
    pub(super) average: Decimal,
}
