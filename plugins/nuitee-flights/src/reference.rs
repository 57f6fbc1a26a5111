//! Airports and airlines, from Nuitee's own data.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::http::{self, Request};
use stopover_sdk::json::DecodeError;
use stopover_sdk::{FlightReference, ReadError};

use crate::fault::Fault;
use crate::settings::Settings;
use crate::upstream::{REFERENCE_TIMEOUT_MS, check_lists, only_item, open, send};
use crate::wire::reference::{Airports, ListedAirports, ReadAirline};
use crate::{NuiteeFlights, map};

impl FlightReference for NuiteeFlights {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let settings = Settings::read()?;
        let search = Request::get(settings.url("/data/flights/airports"))
            .query("q", text)
            .timeout_ms(REFERENCE_TIMEOUT_MS);
        let response = send(search)?;
        let data = open::<Airports<'_>>(&response, &response.body)?;
        let data = data.map_err(Fault::into_read_error)?;
        let mut dropped = DroppedItems::default();
        let Some(found) = only_item(data, &mut dropped)? else {
            return Ok(AirportResponse {
                airports: Vec::new(),
                truncated: false,
            });
        };
        let found = map::reference::airports(found, limit.into(), &mut dropped)?;
        if found.airports.is_empty() {
            check_lists::<ListedAirports>(&response.body)?;
        }
        Ok(found)
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let settings = Settings::read()?;
        let path = format!(
            "/data/flights/airlines/iatas/{}",
            http::percent_encode(&iata_code)
        );
        let read = Request::get(settings.url(&path)).timeout_ms(REFERENCE_TIMEOUT_MS);
        let response = send(read)?;
        let data = open::<ReadAirline<'_>>(&response, &response.body)?;
        let data = data.map_err(Fault::into_read_error)?;
        let Some(read) = only_item(data, &mut DroppedItems::default())? else {
            return Err(ReadError::NotFound("Nuitee has no such airline".to_owned()));
        };
        let airline = read.airline;
        let airline = airline.ok_or_else(|| DecodeError::missing("there is no airline"))?;
        let airline = map::reference::airline(&airline, &iata_code, &settings.logo_url);
        Ok(airline?)
    }
}
