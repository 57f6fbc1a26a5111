//! JSON resources of the weather forecast for a stay.

use crate::value::IsoDate;
use host_domain::hotel::booking::HotelBooking;
use host_domain::hotel::content;
use serde::Serialize;
use utoipa::ToSchema;

/// The units of the weather values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Units)]
pub enum WeatherUnitsResource {
    /// Degrees Celsius, metres per second and millimetres.
    Metric,
}

/// A weather condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WeatherConditionResource {
    /// Display text.
    description: String,
    /// The supplier's name of an icon.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
}

/// The weather of one day. A field is absent if its value is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WeatherDayResource {
    /// Local date.
    date: IsoDate,
    /// Minimum temperature in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_min: Option<f64>,
    /// Maximum temperature in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_max: Option<f64>,
    /// Display text that summarizes the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    conditions: Vec<WeatherConditionResource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    humidity_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    afternoon_humidity_percent: Option<f64>,
    /// Wind speed in metres per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    wind_speed_mps: Option<f64>,
    /// Maximum wind speed in metres per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum_wind_speed_mps: Option<f64>,
    /// Probability of precipitation, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    precipitation_probability: Option<f64>,
    /// Total precipitation in millimetres.
    #[serde(skip_serializing_if = "Option::is_none")]
    precipitation_total_mm: Option<f64>,
}

/// The weather forecast for the stay of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StayWeatherResource {
    #[schema(pattern = "^bkg_[a-zA-Z0-9-]+$")]
    booking_id: String,
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: String,
    /// Date of check-in.
    start_date: IsoDate,
    /// Date of check-out.
    end_date: IsoDate,
    units: WeatherUnitsResource,
    /// Days in ascending order. Days without a forecast are left out.
    days: Vec<WeatherDayResource>,
}

pub fn stay_weather(booking: &HotelBooking, days: Vec<content::WeatherDay>) -> StayWeatherResource {
    StayWeatherResource {
        booking_id: booking.id.to_string(),
        hotel_id: booking.details.hotel_id.to_string(),
        start_date: booking.details.stay.check_in.into(),
        end_date: booking.details.stay.check_out.into(),
        units: WeatherUnitsResource::Metric,
        days: days.into_iter().map(day).collect(),
    }
}

fn day(day: content::WeatherDay) -> WeatherDayResource {
    let conditions = day.conditions.into_iter();
    let conditions = conditions.map(|sky| WeatherConditionResource {
        description: sky.description,
        icon: sky.icon,
    });
    WeatherDayResource {
        date: day.date.into(),
        temperature_min: day.temperature_min,
        temperature_max: day.temperature_max,
        summary: day.summary,
        conditions: conditions.collect(),
        humidity_percent: day.humidity_percent,
        afternoon_humidity_percent: day.afternoon_humidity_percent,
        wind_speed_mps: day.wind_speed_mps,
        maximum_wind_speed_mps: day.maximum_wind_speed_mps,
        precipitation_probability: day.precipitation_probability,
        precipitation_total_mm: day.precipitation_total_mm,
    }
}
