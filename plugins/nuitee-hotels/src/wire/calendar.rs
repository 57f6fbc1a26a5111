//! `GET /prices/hotels`.

use serde::Deserialize;
use stopover_sdk::money::{Decimal, lenient};

use stopover_sdk::lenient::OneOrMany;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HotelPrices {
    pub(crate) hotel_id: String,
    #[serde(default)]
    pub(crate) prices: OneOrMany<DayPrice>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DayPrice {
    pub(crate) day: String,
    /// Average price in US dollars.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) avg_price_usd: Option<Decimal>,
}
