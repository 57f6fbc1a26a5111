//! Place search: suggestions for a text, then the details of the first ones.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::http::{self, Request};
use stopover_sdk::{HotelPlaces, ReadError};

use crate::settings::Settings;
use crate::upstream::{READ_TIMEOUT_MS, open_read};
use crate::wire::place::Suggestion;
use crate::{NuiteeHotels, map, wire};
use stopover_sdk::lenient::LenientList;

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
        let suggestions: LenientList<Suggestion> = open_read(&response)?.unwrap_or_default();
        let mut dropped = DroppedItems::default();
        let suggestions = dropped.readable(format_args!("/data"), suggestions);
        let suggestions: Vec<Suggestion> = suggestions.map(|(_, one)| one).collect();
        dropped.check_remaining(!suggestions.is_empty())?;

        let wanted = usize::from(query.limit).min(DETAILS_AT_MOST);
        let details: Vec<Request> = suggestions
            .iter()
            .take(wanted)
            .map(|suggestion| {
                let path = format!(
                    "/data/places/{}",
                    http::percent_encode(&suggestion.place_id)
                );
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
                    places.extend(map::place::place(suggestion, &details, &suggestions));
                }
                Ok(None) | Err(ReadError::NotFound(_)) => {}
                Err(error) => failure = Some(error),
            }
        }
        if let (true, Some(error)) = (places.is_empty(), failure) {
            return Err(error);
        }
        let elsewhere = |place: &Place| {
            let wanted = query.country.as_ref();
            wanted.is_some() && place.country.is_some() && place.country.as_ref() != wanted
        };
        places.retain(|place| !elsewhere(place));
        Ok(places)
    }
}
