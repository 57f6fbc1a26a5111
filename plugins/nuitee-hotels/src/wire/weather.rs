//! `GET /data/weather`. Days up to a week ahead have another form than later days. A second array,
//! `weather`, beside `data` contains other days.

use serde::Deserialize;

use stopover_sdk::lenient::{LenientNumber, OneOrMany};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Weather {
    pub(crate) weather_data: OneOrMany<WeatherData>,
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
    pub(crate) daily: OneOrMany<DetailedDay>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DetailedDay {
    pub(crate) date: String,
    pub(crate) summary: Option<String>,
    pub(crate) temp: Option<Range>,
    #[serde(default)]
    pub(crate) humidity: LenientNumber,
    #[serde(default)]
    pub(crate) wind_speed: LenientNumber,
    #[serde(default)]
    pub(crate) weather: OneOrMany<Condition>,
    #[serde(default)]
    pub(crate) pop: LenientNumber,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Range {
    pub(crate) min: LenientNumber,
    pub(crate) max: LenientNumber,
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
    pub(crate) afternoon: LenientNumber,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Wind {
    pub(crate) max: Option<MaximumWind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MaximumWind {
    #[serde(default)]
    pub(crate) speed: LenientNumber,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Precipitation {
    #[serde(default)]
    pub(crate) total: LenientNumber,
}
