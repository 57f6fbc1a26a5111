//! Conversion of both forms of a day's weather.

use std::collections::BTreeMap;

use stopover_sdk::hotel_weather::{WeatherCondition, WeatherDay};
use stopover_sdk::html;
use stopover_sdk::time;

use crate::wire::weather::{Daily, DetailedDay, Range, Weather};
use stopover_sdk::lenient::LenientNumber;

/// Returns the days from `start` to `end` (both included), in order. If a day comes in both forms,
/// the detailed one is used.
pub(crate) fn days(weather: Vec<Weather>, start: &str, end: &str) -> Vec<WeatherDay> {
    let mut days: BTreeMap<String, WeatherDay> = BTreeMap::new();
    for data in weather
        .into_iter()
        .flat_map(|weather| weather.weather_data.0)
    {
        let daily = data.daily_weather.map(daily_forecast);
        let detailed = data
            .detailed_weather_data
            .map(|data| data.daily.0)
            .unwrap_or_default();
        if let Some(day) = daily {
            days.entry(day.date.clone()).or_insert(day);
        }
        for day in detailed.into_iter().map(detailed_day) {
            days.insert(day.date.clone(), day);
        }
    }
    days.into_values()
        .filter(|day| time::parse_date(&day.date).is_some())
        .filter(|day| (start..=end).contains(&day.date.as_str()))
        .collect()
}

fn detailed_day(day: DetailedDay) -> WeatherDay {
    let (temperature_min, temperature_max) = range(day.temp.as_ref());
    let conditions = day.weather.0.into_iter().map(|condition| WeatherCondition {
        description: html::plain(&condition.description),
        icon: condition.icon.filter(|icon| !icon.is_empty()),
    });
    WeatherDay {
        date: day.date,
        temperature_min,
        temperature_max,
        summary: day.summary.as_deref().and_then(summary),
        conditions: conditions.collect(),
        humidity_percent: day.humidity.0,
        afternoon_humidity_percent: None,
        wind_speed_mps: day.wind_speed.0,
        maximum_wind_speed_mps: None,
        precipitation_probability: day.pop.0.filter(|share| (0.0..=1.0).contains(share)),
        precipitation_total_mm: None,
    }
}

fn daily_forecast(day: Daily) -> WeatherDay {
    let (temperature_min, temperature_max) = range(day.temperature.as_ref());
    WeatherDay {
        date: day.date,
        temperature_min,
        temperature_max,
        summary: None,
        conditions: Vec::new(),
        humidity_percent: None,
        afternoon_humidity_percent: day.humidity.and_then(|humidity| humidity.afternoon.0),
        wind_speed_mps: None,
        maximum_wind_speed_mps: day
            .wind
            .and_then(|wind| wind.max)
            .and_then(|wind| wind.speed.0),
        precipitation_probability: None,
        precipitation_total_mm: day.precipitation.and_then(|rain| rain.total.0),
    }
}

fn range(range: Option<&Range>) -> (Option<f64>, Option<f64>) {
    let bound = |bound: fn(&Range) -> LenientNumber| range.and_then(|range| bound(range).0);
    (bound(|range| range.min), bound(|range| range.max))
}

/// Removes the prefix `Date: 2026-07-10, Summary: `.
fn summary(text: &str) -> Option<String> {
    let text = match text
        .strip_prefix("Date:")
        .and_then(|rest| rest.split_once("Summary:"))
    {
        Some((_, summary)) => summary,
        None => text,
    };
    html::optional(Some(text))
}
