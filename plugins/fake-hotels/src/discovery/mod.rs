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
use crate::upstream::{get, post, read};

impl HotelPlaces for FakeHotels {
    fn find_places(query: PlaceQuery) -> Result<Vec<Place>, ReadError> {
        let mut request = get("/places")?.query("q", &query.text);
        if let Some(country) = &query.country {
            request = request.query("country", country);
        }
        let found = read(&request.query("limit", query.limit))?;
        Ok(map::places(found, query.limit)?)
    }
}

impl HotelSearch for FakeHotels {
    fn search(request: SearchRequest) -> Result<SearchResponse, ReadError> {
        let (filters, applied) = map::filters(&request)?;
        let Some(filters) = filters else {
            return Ok(map::nothing_found(request, applied));
        };
        let body = map::search_request(&request, filters);
        let found = read(&post("/search")?.json(&body)?)?;
        Ok(map::search_response(found, &request, applied)?)
    }
}

impl HotelContent for FakeHotels {
    fn read_details(supplier_hotel_id: String) -> Result<HotelDetails, ReadError> {
        let path = format!("/hotels/{}", percent_encode(&supplier_hotel_id));
        Ok(map::details(read(&get(&path)?)?))
    }

    fn read_reviews(supplier_hotel_id: String, limit: u16) -> Result<Reviews, ReadError> {
        let path = format!("/hotels/{}/reviews", percent_encode(&supplier_hotel_id));
        let reviews = read(&get(&path)?.query("limit", limit))?;
        Ok(map::reviews(reviews, limit))
    }
}

impl HotelWeather for FakeHotels {
    fn forecast(location: Location, start: Date, end: Date) -> Result<Vec<WeatherDay>, ReadError> {
        let request = get("/weather")?
            .query("lat", location.latitude)
            .query("lng", location.longitude)
            .query("from", start)
            .query("to", end);
        Ok(map::forecast(read(&request)?)?)
    }
}

impl HotelPriceCalendar for FakeHotels {
    fn read_prices(
        supplier_hotel_ids: Vec<String>,
        start: Date,
        end: Date,
    ) -> Result<Vec<HotelPrices>, ReadError> {
        // Lodge separates ids by commas, so an id with a comma cannot be a hotel's.
        let mut hotel_ids = supplier_hotel_ids;
        hotel_ids.retain(|id| !id.is_empty() && !id.contains(','));
        if hotel_ids.is_empty() {
            return Ok(Vec::new());
        }
        let request = get("/calendar")?
            .query("hotels", hotel_ids.join(","))
            .query("from", start)
            .query("to", end);
        Ok(map::calendar(read(&request)?, &hotel_ids)?)
    }
}
