//! Place search: suggestions for a text, then the details of the first ones.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::http::{self, Request};
use stopover_sdk::{HotelPlaces, ReadError};

use crate::settings::Settings;
use crate::upstream::{READ_TIMEOUT_MS, open_read, open_read_list};
use crate::{NuiteeHotels, map, wire};

/// Maximum number of places with details. Each needs a request that Nuitee charges for.
const DETAILS_AT_MOST: usize = 5;

impl HotelPlaces for NuiteeHotels {
    fn find_places(query: PlaceQuery) -> Result<Vec<Place>, ReadError> {
        let settings = Settings::read()?;
        let with_language = |request: Request| match &query.language {
            Some(language) => request.query("language", language),
            None => request,
        };
        let request = Request::get(settings.data_url("/data/places"))
            .query("textQuery", &query.text)
            .timeout_ms(READ_TIMEOUT_MS);
        let response = with_language(request).send()?;
        let mut dropped = DroppedItems::default();
        let suggestions = map::place::suggestions(open_read_list(&response)?, &mut dropped)?;

        let wanted = usize::from(query.limit).min(DETAILS_AT_MOST);
        let details: Vec<Request> = suggestions
            .iter()
            .take(wanted)
            .map(|suggestion| {
                let path = format!("/data/places/{}", http::percent_encode(&suggestion.id));
                let request = Request::get(settings.data_url(&path)).timeout_ms(READ_TIMEOUT_MS);
                with_language(request)
            })
            .collect();
        if details.is_empty() {
            return Ok(Vec::new());
        }
        let mut places = Vec::new();
        let mut failure = None;
        for (suggestion, response) in suggestions.iter().zip(http::send_many(&details)) {
            let read = response
                .map_err(ReadError::from)
                .and_then(|response| open_read::<wire::place::Place>(&response));
            match read {
                Ok(Some(details)) => {
                    let place = map::place::place(suggestion, details, &suggestions, &mut dropped);
                    places.extend(dropped.keep(format_args!("/data"), place));
                }
                Ok(None) | Err(ReadError::NotFound(_)) => {}
                Err(error) => failure = Some(error),
            }
        }
        if let (true, Some(error)) = (places.is_empty(), failure) {
            return Err(error);
        }
        dropped.check_remaining(!places.is_empty())?;
        let elsewhere = |place: &Place| {
            let wanted = query.country.as_ref();
            wanted.is_some() && place.country.is_some() && place.country.as_ref() != wanted
        };
        places.retain(|place| !elsewhere(place));
        Ok(places)
    }
}
