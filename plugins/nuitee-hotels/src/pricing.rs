//! Pricing: all rates of the named hotels, in one request.

use serde_json::json;
use stopover_sdk::hotel_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::{HotelPricing, ReadError};

use crate::search::{pricing_context, send_rates};
use crate::settings::Settings;
use crate::{NuiteeHotels, map};

impl HotelPricing for NuiteeHotels {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let settings = Settings::read()?;
        let selection = json!({
            "hotelIds": request.supplier_hotel_ids,
            "maxRatesPerHotel": request.max_offers_per_hotel,
        });
        let (rates, hotels) = send_rates(&settings, &request.stay, selection)?;
        let context = pricing_context(&settings, &request.stay);
        let mut left_out = 0;
        let mut why = "";
        let (ids, at_most) = (&request.supplier_hotel_ids, request.max_offers_per_hotel);
        let response =
            map::offer::price_response(&context, ids, at_most.into(), rates, &hotels, |reason| {
                left_out += 1;
                why = reason;
            })?;
        if left_out > 0 {
            stopover_sdk::warn!("{left_out} offers left out; last reason: {why}");
        }
        Ok(response)
    }
}
