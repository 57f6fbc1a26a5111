//! Pricing: all rates of the named hotels, in one request.

use serde_json::json;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::{HotelPricing, ReadError};

use crate::search::{AvailableRates, pricing_context, send_rates};
use crate::settings::Settings;
use crate::{NuiteeHotels, map};

impl HotelPricing for NuiteeHotels {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let settings = Settings::read()?;
        let selection = json!({
            "hotelIds": request.supplier_hotel_ids,
            "maxRatesPerHotel": request.max_offers_per_hotel,
        });
        let mut dropped = DroppedItems::default();
        let AvailableRates { rates, hotels } =
            send_rates(&settings, &request.stay, selection, &mut dropped)?;
        let context = pricing_context(&settings, &request.stay);
        let response = map::offer::price_response(
            &context,
            &request.supplier_hotel_ids,
            request.max_offers_per_hotel.into(),
            rates,
            &hotels,
            &mut dropped,
        );
        dropped.check_remaining(!response.hotels.is_empty())?;
        Ok(response)
    }
}
