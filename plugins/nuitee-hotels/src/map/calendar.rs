//! Conversion of the price index to prices per day.

use stopover_sdk::hotel_price_calendar::{DayPrice, HotelPrices};
use stopover_sdk::money::MoneyError;
use stopover_sdk::time;

use crate::map::minor;
use crate::wire;

/// Currency of the index, which is in US dollars only.
const CURRENCY: &str = "USD";

/// Returns the requested hotels in their order, with the days from `start` to `end` (both included)
/// that have a price.
pub(crate) fn prices(
    hotel_ids: &[String],
    (start, end): (&str, &str),
    index: &[wire::calendar::HotelPrices],
) -> Result<Vec<HotelPrices>, MoneyError> {
    let mut hotels = Vec::new();
    for id in hotel_ids {
        let Some(hotel) = index.iter().find(|hotel| hotel.hotel_id == *id) else {
            continue;
        };
        let mut prices = Vec::new();
        for day in &hotel.prices.0 {
            let (Some(date), Some(average)) = (day.day.get(..10), day.avg_price_usd) else {
                continue;
            };
            let average_nightly = minor(average, CURRENCY)?;
            let is_asked = time::parse_date(date).is_some() && (start..=end).contains(&date);
            if is_asked && average_nightly > 0 {
                prices.push(DayPrice {
                    date: date.to_owned(),
                    average_nightly,
                });
            }
        }
        prices.sort_by(|left, right| left.date.cmp(&right.date));
        prices.dedup_by(|left, right| left.date == right.date);
        hotels.push(HotelPrices {
            supplier_hotel_id: id.clone(),
            prices,
        });
    }
    Ok(hotels)
}
