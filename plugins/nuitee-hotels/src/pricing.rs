//! Pricing: all rates of named hotels, in one request.

use stopover_sdk::hotel_pricing::{PriceAnswer, PriceRequest};
use stopover_sdk::{HotelPricing, ReadError};

use crate::map::offer::Asked;
use crate::search::{rates_request, send_rates};
use crate::settings::Settings;
use crate::wire::rate::RatesRequest;
use crate::{NuiteeHotels, map};

impl HotelPricing for NuiteeHotels {
    fn price(request: PriceRequest) -> Result<PriceAnswer, ReadError> {
        let settings = Settings::read()?;
        let (rates, hotels) = send_rates(
            &settings,
            &RatesRequest {
                hotel_ids: Some(&request.supplier_hotel_ids),
                max_rates_per_hotel: request.max_offers_per_hotel,
                ..rates_request(&settings, &request.stay)
            },
        )?;
        let asked = Asked {
            hotel_ids: &request.supplier_hotel_ids,
            rooms: request.stay.occupancies.len(),
            currency: &request.stay.currency,
            offers_per_hotel: request.max_offers_per_hotel.into(),
            loyalty_program: settings.loyalty_program.as_deref(),
            loyalty_membership: settings.loyalty_membership.as_deref(),
        };
        let mut left_out = 0;
        let mut why = "";
        let answer = map::offer::price_answer(&asked, rates, &hotels, |reason| {
            left_out += 1;
            why = reason;
        })?;
        if left_out > 0 {
            stopover_sdk::warn!("{left_out} offers left out; of the last one, {why}");
        }
        Ok(answer)
    }
}
