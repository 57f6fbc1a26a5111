//! Pricing: all rates of the named hotels, in one request.

use serde_json::json;
use stopover_sdk::detailed_hotel_pricing::{DetailedPriceRequest, DetailedPriceResponse};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::{DetailedHotelPricing, ReadError};

use crate::map::offer::PricingContext;
use crate::search::{AvailableRates, pricing_context, send_rates};
use crate::settings::Settings;
use crate::{NuiteeHotels, map};

/// Number of rates per hotel that are requested beyond the limit, because rates that cannot be sold are
/// left out. Nuitee sends the cheapest rates, counts these too, and documents no maximum.
const SPARE_RATES: u16 = 5;

impl DetailedHotelPricing for NuiteeHotels {
    fn price(detailed: DetailedPriceRequest) -> Result<DetailedPriceResponse, ReadError> {
        let request = detailed.request;
        let settings = Settings::read()?;
        let selection = json!({
            "hotelIds": request.supplier_hotel_ids,
            "maxRatesPerHotel": request.max_offers_per_hotel.saturating_add(SPARE_RATES),
        });
        let mut dropped = DroppedItems::default();
        let response = send_rates(&settings, &request.stay, selection)?;
        let AvailableRates { rates, hotels } = AvailableRates::read(&response, &mut dropped)?;
        let context = PricingContext {
            includes_package_rates: detailed.include_package_rates,
            ..pricing_context(&settings, &request.stay)
        };
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
