//! Conversion of the price index to prices per day.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_price_calendar::{DayPrice, HotelPrices};
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::LenientList;
use stopover_sdk::time;

use crate::map::minor;
use crate::wire;

/// Currency of the index, which is in US dollars only.
const CURRENCY: &str = "USD";

/// Returns the requested hotels in their order, with the days from `start` to `end` (both included)
/// that have a price.
///
/// # Errors
/// The response has hotels or days, and none of them can be used.
pub(crate) fn prices(
    hotel_ids: &[String],
    (start, end): (&str, &str),
    index: LenientList<wire::calendar::HotelPrices>,
    dropped: &mut DroppedItems,
) -> Result<Vec<HotelPrices>, DecodeError> {
    let mut hotels: Vec<HotelPrices> = Vec::new();
    let mut has_other_hotels = false;
    for (position, hotel) in dropped.readable(format_args!("/data"), index) {
        let pointer = format!("/data/{position}");
        let id = hotel.hotel_id.required("hotelId").cloned();
        let Some(id) = dropped.keep(format_args!("{pointer}"), id) else {
            continue;
        };
        let is_requested = hotel_ids.iter().any(|wanted| wanted == id.as_str());
        has_other_hotels |= !is_requested;
        let is_known = hotels
            .iter()
            .any(|known| known.supplier_hotel_id == id.as_str());
        if is_known || !is_requested {
            continue;
        }
        let pointer = format!("{pointer}/prices");
        let days = hotel.prices.required("prices").cloned();
        let days = dropped.keep(format_args!("{pointer}"), days);
        let mut prices = Vec::new();
        for (at, day) in dropped.readable(format_args!("{pointer}"), days.unwrap_or_default()) {
            let price = day_price(day);
            prices.extend(
                dropped
                    .keep(format_args!("{pointer}/{at}"), price)
                    .flatten(),
            );
        }
        prices.retain(|price| (start..=end).contains(&price.date.as_str()));
        prices.sort_by(|left, right| left.date.cmp(&right.date));
        prices.dedup_by(|left, right| left.date == right.date);
        hotels.push(HotelPrices {
            supplier_hotel_id: id.as_str().to_owned(),
            prices,
        });
    }
    if hotels.is_empty() && has_other_hotels {
        let error = DecodeError::new("the response is about other hotels");
        dropped.leave_out(format_args!("/data"), error);
    }
    dropped.check_remaining(hotels.iter().any(|hotel| !hotel.prices.is_empty()))?;
    let rank = |hotel: &HotelPrices| {
        hotel_ids
            .iter()
            .position(|id| *id == hotel.supplier_hotel_id)
    };
    hotels.sort_by_key(rank);
    Ok(hotels)
}

/// Converts a day, or returns `None` if it has no price.
fn day_price(day: wire::calendar::DayPrice) -> Result<Option<DayPrice>, DecodeError> {
    let date = day
        .day
        .required("day")?
        .as_str()
        .get(..10)
        .unwrap_or_default();
    if time::parse_date(date).is_none() {
        return Err(DecodeError::new("a day is no date"));
    }
    let Some(average) = day.avg_price_usd.into_readable()? else {
        return Ok(None);
    };
    let average_nightly = minor(average, CURRENCY);
    let average_nightly = average_nightly.map_err(|error| DecodeError::new(error.to_string()))?;
    let price = DayPrice {
        date: date.to_owned(),
        average_nightly,
    };
    Ok(Some(price).filter(|price| price.average_nightly > 0))
}
