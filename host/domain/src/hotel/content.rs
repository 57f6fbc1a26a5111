//! Hotel content, reviews, weather, and average nightly prices.

use crate::hotel::types::Location;
use crate::money::Money;
use crate::time::Date;
use serde::{Deserialize, Serialize};

/// Maximum number of images, and of reviews, that are kept per hotel.
pub const CONTENT_ITEMS_MAX: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub url: String,
    pub caption: Option<String>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

/// A house rule of a hotel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HouseRule {
    pub name: String,
    /// Plain text of the rule.
    pub text: String,
}

/// A room type of a hotel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomContent {
    pub name: String,
    /// Description as plain text.
    pub description: Option<String>,
    /// Maximum number of people.
    pub max_occupancy: Option<u8>,
    pub images: Vec<Image>,
}

/// Details of a hotel. A field is `None` if the supplier gave no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotelDetails {
    pub name: String,
    /// Description as plain text.
    pub description: Option<String>,
    /// Star rating, 0 to 5.
    pub star_rating: Option<f64>,
    /// Guest rating, 0 to 10.
    pub guest_rating: Option<f64>,
    pub review_count: Option<u32>,
    /// Street and number.
    pub address_line: Option<String>,
    pub city: Option<String>,
    /// State, county or canton.
    pub region: Option<String>,
    pub postal_code: Option<String>,
    /// Country, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    pub location: Option<Location>,
    /// IANA time-zone name.
    pub time_zone: Option<String>,
    /// Start of check-in, local `HH:MM`.
    pub check_in_from: Option<String>,
    /// End of check-out, local `HH:MM`.
    pub check_out_until: Option<String>,
    /// Phone number as the supplier writes it.
    pub phone: Option<String>,
    pub email: Option<String>,
    pub amenities: Vec<String>,
    /// Images, at most [`CONTENT_ITEMS_MAX`].
    pub images: Vec<Image>,
    pub policies: Vec<HouseRule>,
    pub rooms: Vec<RoomContent>,
}

/// A review by one guest, without the guest's identity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Rating, 0 to 10.
    pub rating: Option<f64>,
    pub title: Option<String>,
    pub pros: Option<String>,
    pub cons: Option<String>,
    pub text: Option<String>,
    /// Language, BCP 47.
    pub language: Option<String>,
    /// Type of traveller: couple, family, solo …
    pub traveller_type: Option<String>,
    pub stayed_on: Option<Date>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviews {
    /// Average rating, 0 to 10.
    pub average: Option<f64>,
    /// Number of reviews at the supplier.
    pub count: u32,
    /// Reviews, at most [`CONTENT_ITEMS_MAX`].
    pub items: Vec<Review>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeatherCondition {
    pub description: String,
    /// The supplier's name of an icon.
    pub icon: Option<String>,
}

/// The weather of a day, in metric units. A field is `None` if its value is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct WeatherDay {
    /// Local date.
    pub date: Date,
    /// Minimum temperature in degrees Celsius.
    pub temperature_min: Option<f64>,
    /// Maximum temperature in degrees Celsius.
    pub temperature_max: Option<f64>,
    pub summary: Option<String>,
    pub conditions: Vec<WeatherCondition>,
    pub humidity_percent: Option<f64>,
    pub afternoon_humidity_percent: Option<f64>,
    /// Wind speed in metres per second.
    pub wind_speed_mps: Option<f64>,
    /// Maximum wind speed in metres per second.
    pub maximum_wind_speed_mps: Option<f64>,
    /// Probability of precipitation, 0 to 1.
    pub precipitation_probability: Option<f64>,
    /// Total precipitation in millimetres.
    pub precipitation_total_mm: Option<f64>,
}

/// The average nightly prices of a hotel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotelPriceCalendar {
    pub supplier_hotel_id: String,
    /// Dates with a price, in US dollars.
    pub prices: Vec<(Date, Money)>,
}
