//! Finding hotels and reading about them: the capabilities that only read and that no booking
//! needs.

mod map;
mod wire;

use stopover_sdk::hotel_content::{HotelDetails, Reviews};
use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::hotel_price_calendar::HotelPrices;
use stopover_sdk::hotel_search::{SearchRequest, SearchResponse};
use stopover_sdk::hotel_weather::WeatherDay;
use stopover_sdk::http::percent_encode;
use stopover_sdk::types::{Date, Location};
use stopover_sdk::{
    HotelContent, HotelPlaces, HotelPriceCalendar, HotelSearch, HotelWeather, ReadError,
};

use crate::FakeHotels;
use crate::fault::ERRORS;
use crate::upstream::LodgeClient;

impl HotelPlaces for FakeHotels {
    fn find_places(query: PlaceQuery) -> Result<Vec<Place>, ReadError> {
        let mut http_request = LodgeClient::from_settings()?
            .get("/places")
            .query("q", &query.text);
        if let Some(country) = &query.country {
            http_request = http_request.query("country", country);
        }
        let response = http_request.query("limit", query.limit).send()?;
        let places: wire::Places = ERRORS.check_read(response)?.json()?;
        let places = places.places.into_iter().take(query.limit.into());
        Ok(places.map(map::place).collect())
    }
}

impl HotelSearch for FakeHotels {
    fn search(request: SearchRequest) -> Result<SearchResponse, ReadError> {
        let (filters, applied) = map::filters(&request)?;
        let Some(filters) = filters else {
            return Ok(map::nothing_found(request, applied));
        };
        let body = map::search_request(&request, filters);
        let response = LodgeClient::from_settings()?
            .post("/search", &body)?
            .send()?;
        let found: wire::Found = ERRORS.check_read(response)?.json()?;
        Ok(map::search_response(found, &request, applied)?)
    }
}

impl HotelContent for FakeHotels {
    fn read_details(supplier_hotel_id: String) -> Result<HotelDetails, ReadError> {
        let path = format!("/hotels/{}", percent_encode(&supplier_hotel_id));
        let response = LodgeClient::from_settings()?.get(&path).send()?;
        let details: wire::Details = ERRORS.check_read(response)?.json()?;
        Ok(map::details(details))
    }

    fn read_reviews(supplier_hotel_id: String, limit: u16) -> Result<Reviews, ReadError> {
        let path = format!("/hotels/{}/reviews", percent_encode(&supplier_hotel_id));
        let response = LodgeClient::from_settings()?
            .get(&path)
            .query("limit", limit)
            .send()?;
        let reviews: wire::Reviews = ERRORS.check_read(response)?.json()?;
        Ok(map::reviews(reviews, limit))
    }
}

impl HotelWeather for FakeHotels {
    fn forecast(location: Location, start: Date, end: Date) -> Result<Vec<WeatherDay>, ReadError> {
        let response = LodgeClient::from_settings()?
            .get("/weather")
            .query("lat", location.latitude)
            .query("lng", location.longitude)
            .query("from", start)
            .query("to", end)
            .send()?;
        let weather: wire::Weather = ERRORS.check_read(response)?.json()?;
        Ok(map::forecast(weather)?)
    }
}

impl HotelPriceCalendar for FakeHotels {
    fn read_prices(
        supplier_hotel_ids: Vec<String>,
        start: Date,
        end: Date,
    ) -> Result<Vec<HotelPrices>, ReadError> {
        // Lodge separates ids by commas, so an id with a comma cannot be a hotel's.
        let hotel_ids: Vec<String> = supplier_hotel_ids
            .into_iter()
            .filter(|id| !id.is_empty() && !id.contains(','))
            .collect();
        if hotel_ids.is_empty() {
            return Ok(Vec::new());
        }
        let response = LodgeClient::from_settings()?
            .get("/calendar")
            .query("hotels", hotel_ids.join(","))
            .query("from", start)
            .query("to", end)
            .send()?;
        let calendar: wire::Calendar = ERRORS.check_read(response)?.json()?;
        Ok(map::calendar(calendar, &hotel_ids)?)
    }
}
