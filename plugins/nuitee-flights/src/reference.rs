//! Airports and airlines, from Nuitee's own data.

use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::http::{self, Request};
use stopover_sdk::{FlightReference, ReadError};

use crate::settings::Settings;
use crate::upstream::{REFERENCE_TIMEOUT_MS, open_read, send};
use crate::wire::reference::{Airports, ReadAirline};
use crate::{NuiteeFlights, map};

impl FlightReference for NuiteeFlights {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let settings = Settings::read()?;
        let search = Request::get(settings.url("/data/flights/airports"))
            .query("q", text)
            .timeout_ms(REFERENCE_TIMEOUT_MS);
        let response = send(search)?;
        let found: Airports<'_> = open_read(&response)?.unwrap_or_default();
        Ok(map::reference::airports(&found, limit.into()))
    }

    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let settings = Settings::read()?;
        let path = format!(
            "/data/flights/airlines/iatas/{}",
            http::percent_encode(&iata_code)
        );
        let read = Request::get(settings.url(&path)).timeout_ms(REFERENCE_TIMEOUT_MS);
        let response = send(read)?;
        let read: Option<ReadAirline<'_>> = open_read(&response)?;
        if response.status == 204 {
            return Err(ReadError::NotFound("Nuitee has no such airline".to_owned()));
        }
        let lacks_airline =
            || ReadError::InvalidResponse("the response lacks the airline".to_owned());
        let airline = read.and_then(|read| read.airline);
        let airline = airline.ok_or_else(lacks_airline)?;
        map::reference::airline(&airline, &iata_code, &settings.logo_url).ok_or_else(lacks_airline)
    }
}
