//! Conversion of both forms of a day's weather.

use std::collections::BTreeMap;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_weather::{WeatherCondition, WeatherDay};
use stopover_sdk::html;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Essential, LenientList, LenientNumber, NonEmptyText, Part};
use stopover_sdk::time;

use crate::wire::weather::{Daily, DetailedDay, Range, Weather, WeatherData};

/// Returns the days from `start` to `end` (both included), in order. If a day comes in both forms,
/// the detailed one is used.
///
/// # Errors
/// The response has forecasts, and none of them can be used.
pub(crate) fn days(
    weather: LenientList<Weather>,
    (start, end): (&str, &str),
    dropped: &mut DroppedItems,
) -> Result<Vec<WeatherDay>, DecodeError> {
    let mut days: BTreeMap<String, WeatherDay> = BTreeMap::new();
    for (position, weather) in dropped.readable(format_args!("/data"), weather) {
        let pointer = format!("/data/{position}/weatherData");
        let data = weather.weather_data.required("weatherData").cloned();
        let data = dropped.keep(format_args!("{pointer}"), data);
        let data = dropped.readable(format_args!("{pointer}"), data.unwrap_or_default());
        for (at, data) in data {
            add_days(&mut days, data, &format!("{pointer}/{at}"), dropped);
        }
    }
    dropped.check_remaining(!days.is_empty())?;
    let is_asked = |day: &WeatherDay| (start..=end).contains(&day.date.as_str());
    Ok(days.into_values().filter(is_asked).collect())
}

fn add_days(
    days: &mut BTreeMap<String, WeatherDay>,
    data: WeatherData,
    pointer: &str,
    dropped: &mut DroppedItems,
) {
    let forms = (&data.daily_weather, &data.detailed_weather_data);
    if matches!(forms, (Part::Missing, Part::Missing)) {
        let error = DecodeError::missing("the weather has no days");
        dropped.leave_out(format_args!("{pointer}"), error);
    }
    let daily = format!("{pointer}/dailyWeather");
    if let Some(day) = dropped.readable_part(format_args!("{daily}"), data.daily_weather) {
        let day = daily_forecast(day, &daily, dropped);
        if let Some(day) = dropped.keep(format_args!("{daily}"), day) {
            days.entry(day.date.clone()).or_insert(day);
        }
    }
    let detailed = format!("{pointer}/detailedWeatherData");
    let data = dropped.readable_part(format_args!("{detailed}"), data.detailed_weather_data);
    let Some(data) = data else {
        return;
    };
    let pointer = format!("{detailed}/daily");
    let list = data.daily.required("daily").cloned();
    let list = dropped.keep(format_args!("{pointer}"), list);
    for (at, day) in dropped.readable(format_args!("{pointer}"), list.unwrap_or_default()) {
        let pointer = format!("{pointer}/{at}");
        let day = detailed_day(day, &pointer, dropped);
        if let Some(day) = dropped.keep(format_args!("{pointer}"), day) {
            days.insert(day.date.clone(), day);
        }
    }
}

fn date(date: &Essential<NonEmptyText>) -> Result<String, DecodeError> {
    let date = date.required("date")?.as_str();
    ensure(time::parse_date(date).is_some(), "the day is no date")?;
    Ok(date.to_owned())
}

fn detailed_day(
    day: DetailedDay,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Result<WeatherDay, DecodeError> {
    let date = date(&day.date)?;
    let temperature = dropped.readable_part(format_args!("{pointer}/temp"), day.temp);
    let (temperature_min, temperature_max) = range(temperature.as_ref());
    let pointer = format!("{pointer}/weather");
    let conditions = dropped.readable_part(format_args!("{pointer}"), day.weather);
    let conditions = dropped.readable(format_args!("{pointer}"), conditions.unwrap_or_default());
    let conditions = conditions.map(|(_, condition)| WeatherCondition {
        description: html::plain(condition.description.as_deref().unwrap_or_default()),
        icon: condition.icon.0,
    });
    Ok(WeatherDay {
        date,
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
    })
}

fn daily_forecast(
    day: Daily,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Result<WeatherDay, DecodeError> {
    let date = date(&day.date)?;
    let temperature = dropped.readable_part(format_args!("{pointer}/temperature"), day.temperature);
    let (temperature_min, temperature_max) = range(temperature.as_ref());
    let humidity = dropped.readable_part(format_args!("{pointer}/humidity"), day.humidity);
    let wind = dropped.readable_part(format_args!("{pointer}/wind"), day.wind);
    let wind = wind.unwrap_or_default().max;
    let wind = dropped.readable_part(format_args!("{pointer}/wind/max"), wind);
    let rain = dropped.readable_part(format_args!("{pointer}/precipitation"), day.precipitation);
    Ok(WeatherDay {
        date,
        temperature_min,
        temperature_max,
        summary: None,
        conditions: Vec::new(),
        humidity_percent: None,
        afternoon_humidity_percent: humidity.and_then(|humidity| humidity.afternoon.0),
        wind_speed_mps: None,
        maximum_wind_speed_mps: wind.and_then(|wind| wind.speed.0),
        precipitation_probability: None,
        precipitation_total_mm: rain.and_then(|rain| rain.total.0),
    })
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
