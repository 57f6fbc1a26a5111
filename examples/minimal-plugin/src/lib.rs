//! A minimal supplier plugin. It prices single rooms at a fictitious JSON API, `GET
//! https://api.tiny-hotels.example/rates?hotel=…&from=…&to=…&adults=…`.

use serde::Deserialize;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_pricing::{HotelOffers, Offer, PriceRequest, PriceResponse};
use stopover_sdk::http::Request;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::money::Decimal;
use stopover_sdk::types::hotel::{HotelSummary, RoomRate};
use stopover_sdk::types::{Board, ReadError};
use stopover_sdk::{Description, HotelPricing, Plugin};

pub struct TinyHotels;

stopover_sdk::export!(TinyHotels: plugin, hotel_pricing);

#[derive(Deserialize)]
struct Rates {
    hotel_name: String,
    currency: String,
    rooms: LenientList<Rate>,
}

#[derive(Deserialize)]
struct Rate {
    id: String,
    name: String,
    price: Decimal,
}

impl Plugin for TinyHotels {
    fn describe() -> Description {
        Description {
            hosts: vec!["api.tiny-hotels.example".to_owned()],
            ..Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    }
}

impl HotelPricing for TinyHotels {
    fn price(request: PriceRequest) -> Result<PriceResponse, ReadError> {
        let currency = request.stay.currency.clone();
        let mut hotels = Vec::new();
        if let [occupancy] = request.stay.occupancies.as_slice() {
            for id in &request.supplier_hotel_ids {
                let response = Request::get("https://api.tiny-hotels.example/rates")
                    .query("hotel", id)
                    .query("from", &request.stay.check_in)
                    .query("to", &request.stay.check_out)
                    .query("adults", occupancy.adults)
                    .query("currency", &currency)
                    .send()?
                    .error_for_status()?;
                let rates: Rates = response.json()?;
                ensure(rates.currency == currency, "another currency")?;
                // A room that cannot be read costs that room, and is counted.
                let mut dropped = DroppedItems::default();
                let limit = usize::from(request.max_offers_per_hotel);
                let offers = dropped.convert(format_args!("/rooms"), rates.rooms, limit, |rate| {
                    offer(rate, &currency).map(Some)
                });
                dropped.check_remaining(!offers.is_empty())?;
                let hotel = HotelSummary::new(id, rates.hotel_name);
                hotels.push(HotelOffers { hotel, offers });
            }
        }
        Ok(PriceResponse { currency, hotels })
    }
}

fn offer(rate: Rate, currency: &str) -> Result<Offer, DecodeError> {
    let total = rate.price.to_minor(currency)?;
    let room = RoomRate::new(rate.name, Board::RoomOnly, total);
    Ok(Offer::new(rate.id, vec![room]))
}
