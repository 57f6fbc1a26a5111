//! Price calendar. Nuitee limits it to ten requests per minute.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_price_calendar::HotelPrices;
use stopover_sdk::http::Request;
use stopover_sdk::{HotelPriceCalendar, ReadError};

use crate::settings::Settings;
use crate::upstream::{READ_TIMEOUT_MS, open_price_index};
use crate::{NuiteeHotels, map};

impl HotelPriceCalendar for NuiteeHotels {
    fn read_prices(
        supplier_hotel_ids: Vec<String>,
        start: String,
        end: String,
    ) -> Result<Vec<HotelPrices>, ReadError> {
        let settings = Settings::read()?;
        let response = Request::get(settings.data_url("/prices/hotels"))
            .query("hotelIds", supplier_hotel_ids.join(","))
            .query("fromDate", &start)
            .query("toDate", &end)
            .timeout_ms(READ_TIMEOUT_MS)
            .send()?;
        let index = open_price_index(&response)?;
        let mut dropped = DroppedItems::default();
        let days = (start.as_str(), end.as_str());
        Ok(map::calendar::prices(
            &supplier_hotel_ids,
            days,
            index,
            &mut dropped,
        )?)
    }
}
