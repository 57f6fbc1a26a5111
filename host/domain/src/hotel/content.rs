//! What hotels look like, what guests say, what the weather does, and what a
//! night costs on average.

use crate::hotel::offer::Location;
use crate::money::Money;
use crate::time::Date;
use serde::{Deserialize, Serialize};

/// The most images and reviews that are kept of a hotel, each.
pub const CONTENT_ITEMS_MAX: usize = 20;

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Where it is.
    pub url: String,
    /// What it shows.
    pub caption: Option<String>,
    /// Pixels.
    pub width: Option<u32>,
    /// Pixels.
    pub height: Option<u32>,
}

/// A rule of the house.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HouseRule {
    /// What about.
    pub name: String,
    /// Plain text.
    pub text: String,
}

/// A kind of room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomContent {
    /// Display name.
    pub name: String,
    /// Plain text.
    pub description: Option<String>,
    /// People.
    pub max_occupancy: Option<u8>,
    /// Pictures.
    pub images: Vec<Image>,
}

/// What a hotel is; none: the supplier gave no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotelDetails {
    /// Display name.
    pub name: String,
    /// Plain text.
    pub description: Option<String>,
    /// 0 to 5.
    pub star_rating: Option<f64>,
    /// 0 to 10.
    pub guest_rating: Option<f64>,
    /// How many rated.
    pub review_count: Option<u32>,
    /// Street and number.
    pub address_line: Option<String>,
    /// City.
    pub city: Option<String>,
    /// State, county, canton.
    pub region: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Where it is.
    pub location: Option<Location>,
    /// IANA name.
    pub time_zone: Option<String>,
    /// `HH:MM`, local.
    pub check_in_from: Option<String>,
    /// `HH:MM`, local.
    pub check_out_until: Option<String>,
    /// As the supplier writes it.
    pub phone: Option<String>,
    /// Address.
    pub email: Option<String>,
    /// Display names.
    pub amenities: Vec<String>,
    /// At most [`CONTENT_ITEMS_MAX`].
    pub images: Vec<Image>,
    /// Rules of the house.
    pub policies: Vec<HouseRule>,
    /// Kinds of rooms.
    pub rooms: Vec<RoomContent>,
}

/// What one guest says; never who.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// 0 to 10.
    pub rating: Option<f64>,
    /// Headline.
    pub title: Option<String>,
    /// What was good.
    pub pros: Option<String>,
    /// What was not.
    pub cons: Option<String>,
    /// All else.
    pub text: Option<String>,
    /// BCP 47.
    pub language: Option<String>,
    /// Couple, family, solo …
    pub traveller_type: Option<String>,
    /// When.
    pub stayed_on: Option<Date>,
}

/// What guests say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviews {
    /// 0 to 10.
    pub average: Option<f64>,
    /// How many there are at the supplier.
    pub count: u32,
    /// At most [`CONTENT_ITEMS_MAX`].
    pub items: Vec<Review>,
}

/// Sky.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeatherCondition {
    /// Display text.
    pub description: String,
    /// The supplier's name of an icon.
    pub icon: Option<String>,
}

/// A day's weather, metric; none: unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct WeatherDay {
    /// Local date.
    pub date: Date,
    /// Degrees Celsius.
    pub temperature_min: Option<f64>,
    /// Degrees Celsius.
    pub temperature_max: Option<f64>,
    /// Display text.
    pub summary: Option<String>,
    /// Sky.
    pub conditions: Vec<WeatherCondition>,
    /// Percent.
    pub humidity_percent: Option<f64>,
    /// Percent.
    pub afternoon_humidity_percent: Option<f64>,
    /// Metres a second.
    pub wind_speed_mps: Option<f64>,
    /// Metres a second.
    pub maximum_wind_speed_mps: Option<f64>,
    /// 0 to 1.
    pub precipitation_probability: Option<f64>,
    /// Millimetres.
    pub precipitation_total_mm: Option<f64>,
}

/// What a hotel's nights cost on average.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelPriceCalendar {
    /// The supplier's id.
    pub supplier_hotel_id: String,
    /// Dates with a price, in US dollars.
    pub prices: Vec<(Date, Money)>,
}
