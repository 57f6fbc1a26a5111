//! Price calendars: what a hotel's nights cost on average.

use crate::api::value::{IsoDate, Money};
use host_domain::hotel::content::HotelPriceCalendar;
use host_domain::id::HotelId;
use serde::Serialize;
use utoipa::ToSchema;

/// The price of a date.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct CalendarPrice {
    date: IsoDate,
    /// Average across the stays that include the date, in US dollars. Indicative, not bookable.
    average_nightly_price: Money,
}

/// The prices of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct PriceCalendar {
    #[schema(
        pattern = "^htl_[a-zA-Z0-9-]+$",
        example = "htl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    hotel_id: String,
    /// In ascending order; dates without a price are left out.
    prices: Vec<CalendarPrice>,
}

/// A hotel's row.
pub(crate) fn price_calendar(id: &HotelId, prices: &HotelPriceCalendar) -> PriceCalendar {
    let prices = prices.prices.iter().map(|(date, price)| CalendarPrice {
        date: (*date).into(),
        average_nightly_price: (*price).into(),
    });
    PriceCalendar {
        hotel_id: id.to_string(),
        prices: prices.collect(),
    }
}
