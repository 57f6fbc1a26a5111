//! Hotel content: details and reviews.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_content::{HotelDetails, Reviews};
use stopover_sdk::http::Request;
use stopover_sdk::{HotelContent, ReadError};

use crate::fault::Fault;
use crate::settings::Settings;
use crate::upstream::{Body, READ_TIMEOUT_MS, open_list, open_read};
use crate::wire::content::{Hotel, Review};
use crate::{NuiteeHotels, map};

impl HotelContent for NuiteeHotels {
    fn read_details(supplier_hotel_id: String) -> Result<HotelDetails, ReadError> {
        let settings = Settings::read()?;
        let response = hotel_request(&settings, &supplier_hotel_id).send()?;
        let hotel: Option<Hotel> = open_read(&response)?;
        let hotel = hotel.ok_or_else(|| ReadError::NotFound("Nuitee has no such hotel".to_owned()));
        let mut dropped = DroppedItems::default();
        Ok(map::content::details(
            &supplier_hotel_id,
            hotel?,
            &mut dropped,
        )?)
    }

    fn read_reviews(supplier_hotel_id: String, limit: u16) -> Result<Reviews, ReadError> {
        let settings = Settings::read()?;
        let response = Request::get(settings.data_url("/data/reviews"))
            .query("hotelId", &supplier_hotel_id)
            .query("limit", limit)
            .timeout_ms(READ_TIMEOUT_MS)
            .send()?;
        let opened = open_list::<Review>(&response)?;
        let body = opened.map_err(Fault::into_read_error)?;
        let Body {
            data: reviews,
            total,
            hotels: _,
        } = body.unwrap_or_default();
        let mut dropped = DroppedItems::default();
        let reviews = dropped.readable(format_args!("/data"), reviews);
        let reviews = reviews.filter_map(|(position, review)| {
            let date = review.date.as_ref().optional("date").map(drop);
            let is_ordered = dropped.keep(format_args!("/data/{position}"), date);
            is_ordered.map(|()| review)
        });
        let reviews: Vec<Review> = reviews.collect();
        dropped.check_remaining(!reviews.is_empty())?;
        Ok(map::content::reviews(reviews, total, limit.into()))
    }
}

pub(crate) fn hotel_request(settings: &Settings, id: &str) -> Request {
    Request::get(settings.data_url("/data/hotel"))
        .query("hotelId", id)
        .timeout_ms(READ_TIMEOUT_MS)
}
