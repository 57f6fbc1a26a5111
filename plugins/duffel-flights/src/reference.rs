//! Airport search by text and airline lookup by code.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::{FlightReference, ReadError, cache, json};

use crate::settings::Settings;
use crate::upstream::{Page, get, open_read, read_page};
use crate::wire::reference::{Airline as WireAirline, Suggestion};
use crate::{DuffelFlights, map};

/// Duffel's maximum page size.
const PAGE_AIRLINES: u32 = 200;
/// Maximum number of pages of airlines. Duffel has about 750 airlines, so a longer list is treated
/// as endless.
const PAGES_MAX: usize = 20;
/// Time for which airlines are cached: the gateway's maximum. Airlines change less often.
const CACHE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

impl FlightReference for DuffelFlights {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let settings = Settings::read()?;
        let http_request = get(&settings, "/places/suggestions").query("query", text);
        let suggestions: Vec<Suggestion> = open_read(&http_request.send()?)?;
        Ok(map::reference::airports(suggestions, limit.into()))
    }

    /// Reads an airline. Duffel finds airlines by its own ids only. Therefore all airlines are read
    /// and cached, grouped by the first letter of their codes.
    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let settings = Settings::read()?;
        let Some(initial) = iata_code.chars().next().filter(char::is_ascii_alphanumeric) else {
            return Err(unknown());
        };
        let cached = cache::get(&key(initial))
            .and_then(|bytes| json::decode::<Vec<CachedAirline>>(&bytes).ok());
        let airlines = match cached {
            Some(airlines) => airlines,
            None => read_all(&settings)?.remove(&initial).unwrap_or_default(),
        };
        let airline = airlines.into_iter().find(|one| one.iata_code == iata_code);
        airline.map(CachedAirline::into_airline).ok_or_else(unknown)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct CachedAirline {
    id: String,
    iata_code: String,
    name: String,
    logo_url: Option<String>,
}

impl CachedAirline {
    /// Converts a cached airline. Duffel states neither whether an airline still operates nor its
    /// country.
    fn into_airline(self) -> Airline {
        Airline {
            supplier_airline_id: self.id,
            iata_code: self.iata_code,
            icao_code: None,
            name: self.name,
            country: None,
            alliance: None,
            logo_url: self.logo_url,
            is_active: true,
        }
    }
}

/// Reads all airlines and caches them. Empty groups are cached too, so that an unknown code does
/// not cause another full read.
fn read_all(settings: &Settings) -> Result<BTreeMap<char, Vec<CachedAirline>>, ReadError> {
    let mut groups: BTreeMap<char, Vec<CachedAirline>> = ('0'..='9')
        .chain('A'..='Z')
        .map(|initial| (initial, Vec::new()))
        .collect();
    let mut after: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let list = get(settings, "/air/airlines").query("limit", PAGE_AIRLINES);
        let page: Page<Vec<WireAirline>> = read_page(list, after.as_deref())?;
        for airline in page.data {
            let first = airline.iata_code.chars().next();
            let Some(group) = first.and_then(|first| groups.get_mut(&first)) else {
                continue;
            };
            group.push(CachedAirline {
                id: airline.id,
                iata_code: airline.iata_code,
                name: airline.name,
                logo_url: airline.logo_symbol_url,
            });
        }
        after = page.after;
        if after.is_none() {
            for (initial, airlines) in &groups {
                if let Ok(written) = json::encode(airlines) {
                    cache::set(&key(*initial), &written, CACHE_TTL);
                }
            }
            return Ok(groups);
        }
    }
    Err(ReadError::InvalidResponse(
        "the list of airlines has more pages than are possible".to_owned(),
    ))
}

fn key(initial: char) -> String {
    format!("airlines/{initial}")
}

fn unknown() -> ReadError {
    ReadError::NotFound("Duffel knows no airline with this code".to_owned())
}
