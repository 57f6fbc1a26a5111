//! `GET /data/weather`. Days up to a week ahead have another form than later days. A second array,
//! `weather`, beside `data` contains other days.

use serde::Deserialize;

use crate::wire::{Many, Number};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Weather {
    #[serde(default)]
    pub(crate) weather_data: Many<WeatherData>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WeatherData {
    pub(crate) detailed_weather_data: Option<Detailed>,
    pub(crate) daily_weather: Option<Daily>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Detailed {
    #[serde(default)]
    pub(crate) daily: Many<DetailedDay>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DetailedDay {
    pub(crate) date: String,
    pub(crate) summary: Option<String>,
    pub(crate) temp: Option<Range>,
    #[serde(default)]
    pub(crate) humidity: Number,
    #[serde(default)]
    pub(crate) wind_speed: Number,
    #[serde(default)]
    pub(crate) weather: Many<Condition>,
    #[serde(default)]
    pub(crate) pop: Number,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Range {
    #[serde(default)]
    pub(crate) min: Number,
    #[serde(default)]
    pub(crate) max: Number,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Condition {
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) icon: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Daily {
    pub(crate) date: String,
    pub(crate) temperature: Option<Range>,
    pub(crate) humidity: Option<Afternoon>,
    pub(crate) wind: Option<Wind>,
    pub(crate) precipitation: Option<Precipitation>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Afternoon {
    #[serde(default)]
    pub(crate) afternoon: Number,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Wind {
    pub(crate) max: Option<MaximumWind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MaximumWind {
    #[serde(default)]
    pub(crate) speed: Number,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Precipitation {
    #[serde(default)]
    pub(crate) total: Number,
}
