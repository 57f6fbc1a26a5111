//! JSON resources of price calendars, which show a hotel's average nightly prices.

use crate::value::{IsoDate, MoneyResource};
use host_domain::hotel::content::HotelPriceCalendar;
use host_domain::id::HotelId;
use serde::Serialize;
use utoipa::ToSchema;

/// The average nightly price on one date.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CalendarPriceResource {
    date: IsoDate,
    /// Average nightly price of the stays that include the date, in US dollars. Indicative only; it
    /// cannot be booked.
    average_nightly_price: MoneyResource,
}

/// The price calendar of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PriceCalendarResource {
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: String,
    /// Prices in ascending order of date. Dates without a price are left out.
    prices: Vec<CalendarPriceResource>,
}

pub fn price_calendar(id: &HotelId, prices: &HotelPriceCalendar) -> PriceCalendarResource {
    let prices = prices.prices.iter();
    let prices = prices.map(|(date, price)| CalendarPriceResource {
        date: (*date).into(),
        average_nightly_price: (*price).into(),
    });
    PriceCalendarResource {
        hotel_id: id.to_string(),
        prices: prices.collect(),
    }
}
