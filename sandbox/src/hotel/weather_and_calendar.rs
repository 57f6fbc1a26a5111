//! The weather of the coming days and the published prices of the coming year. The values are
//! artificial, but the same for every caller.

use axum::{Json, response::IntoResponse};
use jiff::{ToSpan, civil::Date};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::date_utc,
    hotel::{
        catalog,
        price::nightly,
        quote::BoardPlan,
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
    },
    money::Currency,
    request::Call,
};

/// Number of forecast days, including today.
const FORECAST_DAYS: i32 = 10;
/// Number of days with all values.
const DETAILED_DAYS: i32 = 7;
const CALENDAR_HOTELS_MAX: usize = 50;
const CALENDAR_DAYS_MAX: i32 = 366;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeatherQuery {
    lat: f64,
    lng: f64,
    from: Date,
    to: Date,
}

#[derive(Serialize)]
struct Day {
    date: Date,
    min: f64,
    max: f64,
    summary: &'static str,
    sky: [Value; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    humidity: Option<f64>,
    humidity_afternoon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wind: Option<f64>,
    wind_max: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rain_chance: Option<f64>,
    rain_mm: f64,
}

const SKIES: [(&str, &str, &str); 4] = [
    ("A dry and sunny day", "clear sky", "01d"),
    ("Clouds with some sun", "scattered clouds", "03d"),
    ("Light rain in the afternoon", "light rain", "10d"),
    ("Grey but dry", "overcast clouds", "04d"),
];

pub(super) async fn read_weather(call: Call) -> LodgeResult {
    let query: WeatherQuery = call.query()?;
    if !(-90.0..=90.0).contains(&query.lat) || !(-180.0..=180.0).contains(&query.lng) {
        return Err(LodgeError::Invalid("lat and lng are degrees".to_owned()));
    }
    let today = date_utc(call.transact(|records| records.now()).await?);
    let days: Vec<Day> = (0..FORECAST_DAYS)
        .filter_map(|ahead| Some((ahead, today.checked_add(ahead.days()).ok()?)))
        .filter(|(_, date)| (query.from..=query.to).contains(date))
        .map(|(ahead, date)| weather(query.lat, date, ahead < DETAILED_DAYS))
        .collect();
    Ok(Json(json!({ "units": "metric", "days": days })).into_response())
}

fn weather(lat: f64, date: Date, detailed: bool) -> Day {
    let day = date.day_of_year();
    // In the north, late July is the warmest; in the south, half a year later.
    let season = (f64::from(day - 205) / 365.0 * std::f64::consts::TAU).cos();
    let mean = 26.0 - lat.abs() * 0.3 + season * lat.signum() * 8.0;
    let mood = usize::from(day.unsigned_abs()) * 7 % SKIES.len();
    let (summary, text, icon) = SKIES.get(mood).copied().unwrap_or_default();
    let rainy = icon == "10d";
    let round = |value: f64| (value * 10.0).round() / 10.0;
    Day {
        date,
        min: round(mean - 4.0),
        max: round(mean + 4.5),
        summary,
        sky: [json!({ "text": text, "icon": icon })],
        humidity: detailed.then_some(if rainy { 84.0 } else { 66.0 }),
        humidity_afternoon: if rainy { 79.0 } else { 52.0 },
        wind: detailed.then_some(3.5),
        wind_max: 7.2,
        rain_chance: detailed.then_some(if rainy { 0.8 } else { 0.1 }),
        rain_mm: if rainy { 3.4 } else { 0.0 },
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalendarQuery {
    /// Hotel ids, separated by commas.
    hotels: String,
    from: Date,
    to: Date,
}

pub(super) async fn read_calendar(call: Call) -> LodgeResult {
    let query: CalendarQuery = call.query()?;
    let asked: Vec<&str> = query
        .hotels
        .split(',')
        .filter(|id| !id.is_empty())
        .collect();
    let window = (query.to - query.from).get_days();
    if !(1..=CALENDAR_HOTELS_MAX).contains(&asked.len())
        || !(0..CALENDAR_DAYS_MAX).contains(&window)
    {
        return Err(LodgeError::Invalid(format!(
            "1 to {CALENDAR_HOTELS_MAX} hotels and {CALENDAR_DAYS_MAX} days at most"
        )));
    }
    let hotels: Vec<_> = asked.iter().filter_map(|id| catalog::find(id)).collect();
    let delay = hotels.iter().map(|hotel| hotel.scenario.delay()).max();
    call.app.sleep_or_stop(delay.unwrap_or_default()).await;
    if (hotels.iter()).any(|hotel| hotel.scenario == Scenario::CalendarLimited) {
        return Err(LodgeError::TooManyRequests);
    }
    let (today, prices) = call
        .transact(|records| {
            let price = |id| Currency::USD.minor(nightly(records, id, BoardPlan::RoomOnly));
            let prices: Vec<i64> = hotels.iter().map(|hotel| price(&hotel.id)).collect();
            (date_utc(records.now()), prices)
        })
        .await?;
    let days = |average: i64| -> Vec<Value> {
        (query.from.series(1.day()))
            .take_while(|date| *date <= query.to)
            .filter(|date| *date >= today)
            .map(|date| json!({ "date": date, "average": Currency::USD.format(average) }))
            .collect()
    };
    let hotels: Vec<Value> = (hotels.iter().zip(prices))
        .map(|(hotel, average)| json!({ "id": hotel.id, "days": days(average) }))
        .collect();
    Ok(Json(json!({ "currency": Currency::USD, "hotels": hotels })).into_response())
}
