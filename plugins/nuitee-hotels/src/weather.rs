//! Weather forecasts.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_weather::WeatherDay;
use stopover_sdk::http::Request;
use stopover_sdk::types::Location;
use stopover_sdk::{HotelWeather, ReadError};

use crate::settings::Settings;
use crate::upstream::{READ_TIMEOUT_MS, open_read_list};
use crate::{NuiteeHotels, map};

impl HotelWeather for NuiteeHotels {
    fn forecast(
        location: Location,
        start: String,
        end: String,
    ) -> Result<Vec<WeatherDay>, ReadError> {
        let settings = Settings::read()?;
        let response = Request::get(settings.data_url("/data/weather"))
            .query("latitude", location.latitude)
            .query("longitude", location.longitude)
            .query("startDate", &start)
            .query("endDate", &end)
            .query("units", "metric")
            .timeout_ms(READ_TIMEOUT_MS)
            .send()?;
        let weather = open_read_list(&response)?;
        let mut dropped = DroppedItems::default();
        let days = (start.as_str(), end.as_str());
        Ok(map::weather::days(weather, days, &mut dropped)?)
    }
}
