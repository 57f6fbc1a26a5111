//! Airport search by text and airline lookup by code.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopover_sdk::dropped::{DropReason, DroppedItems};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::{FlightReference, ReadError, Refusal, RefusalReason, cache, json};

use crate::settings::Settings;
use crate::upstream::{ReadFailure, get, open_list, read_page, unreadable_cursor};
use crate::wire::Cursor;
use crate::wire::reference::{Airline as WireAirline, Suggestion};
use crate::{DuffelFlights, map};

/// Duffel's maximum page size.
const PAGE_AIRLINES: u32 = 200;
/// Maximum number of pages of airlines. Duffel has about 750 airlines, so a longer list is treated
/// as endless.
const PAGES_MAX: usize = 20;
/// Time for which airlines are cached: the gateway's maximum. Airlines change less often.
const CACHE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Time for which airlines are cached if some of them cannot be read.
const INCOMPLETE_TTL: Duration = Duration::from_secs(10 * 60);

impl FlightReference for DuffelFlights {
    fn find_airports(text: String, limit: u16) -> Result<AirportResponse, ReadError> {
        let settings = Settings::read()?;
        let http_request = get(&settings, "/places/suggestions").query("query", text);
        let response = http_request.send()?;
        let suggestions: LenientList<Suggestion> = open_list(&response)?.data;
        let mut dropped = DroppedItems::default();
        let mut airports = map::reference::airports(suggestions, &mut dropped);
        dropped.check_remaining(!airports.is_empty())?;
        let truncated = airports.len() > usize::from(limit);
        airports.truncate(limit.into());
        Ok(AirportResponse {
            airports,
            truncated,
        })
    }

    /// Reads an airline. Duffel finds airlines by its own ids only. Therefore all airlines are read
    /// and cached, grouped by the first letter of their codes.
    fn read_airline(iata_code: String) -> Result<Airline, ReadError> {
        let settings = Settings::read()?;
        let is_initial = |one: &char| one.is_ascii_uppercase() || one.is_ascii_digit();
        let Some(initial) = iata_code.chars().next().filter(is_initial) else {
            return Err(Refusal::new(RefusalReason::Invalid, "not a code of an airline").into());
        };
        let cached =
            cache::get(&key(initial)).and_then(|bytes| json::decode::<AirlineGroup>(&bytes).ok());
        let group = match cached {
            Some(group) => group,
            None => read_all(&settings)?.remove(&initial).unwrap_or_default(),
        };
        let mut airlines = group.airlines.into_iter();
        match airlines.find(|one| one.iata_code == iata_code) {
            Some(airline) => Ok(airline.into_airline()),
            None if group.is_complete => Err(unknown()),
            None => Err(DecodeError::new("some airlines of the list cannot be read").into()),
        }
    }
}

/// The airlines whose codes have the same first letter.
#[derive(Debug, Default, Serialize, Deserialize)]
struct AirlineGroup {
    airlines: Vec<CachedAirline>,
    /// Whether every airline of Duffel's list could be read.
    is_complete: bool,
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
/// not cause another full read. If a page does not tell whether there is another one, the airlines after it
/// are missing.
fn read_all(settings: &Settings) -> Result<BTreeMap<char, AirlineGroup>, ReadFailure> {
    let mut groups: BTreeMap<char, AirlineGroup> = ('0'..='9')
        .chain('A'..='Z')
        .map(|initial| (initial, AirlineGroup::default()))
        .collect();
    let mut dropped = DroppedItems::default();
    let mut after: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let list = get(settings, "/air/airlines").query("limit", PAGE_AIRLINES);
        let page = read_page(list, after.as_deref())?;
        for (at, airline) in dropped.readable(format_args!("/data"), page.data) {
            let airline = cached_airline(airline);
            let airline = dropped.keep(format_args!("/data/{at}"), airline);
            let Some(airline) = airline.flatten() else {
                continue;
            };
            let initial = airline.iata_code.chars().next();
            if let Some(group) = initial.and_then(|initial| groups.get_mut(&initial)) {
                group.airlines.push(airline);
            }
        }
        after = match page.after {
            Cursor::Next(cursor) => Some(cursor),
            end @ (Cursor::Unreadable | Cursor::End) => {
                if end == Cursor::Unreadable {
                    let pointer = format_args!("/meta/after");
                    dropped.add(pointer, DropReason::Unreadable, unreadable_cursor());
                }
                store(&mut groups, dropped.is_empty());
                return Ok(groups);
            }
        };
    }
    Err(DecodeError::new("the list of airlines has more pages than are possible").into())
}

/// Converts an airline. Returns `None` if it has no IATA code.
///
/// # Errors
/// It has no id or no name, so it is no airline.
fn cached_airline(airline: WireAirline) -> Result<Option<CachedAirline>, DecodeError> {
    let is_airline = !airline.id.trim().is_empty() && !airline.name.is_empty();
    ensure(is_airline, "an airline has no id or no name")?;
    if airline.iata_code.is_empty() {
        return Ok(None);
    }
    Ok(Some(CachedAirline {
        id: airline.id,
        iata_code: airline.iata_code,
        name: airline.name,
        logo_url: airline.logo_symbol_url.into_option(),
    }))
}

/// Caches the groups: for a shorter time if airlines are missing from them.
fn store(groups: &mut BTreeMap<char, AirlineGroup>, is_complete: bool) {
    let ttl = if is_complete {
        CACHE_TTL
    } else {
        INCOMPLETE_TTL
    };
    for (initial, group) in groups {
        group.is_complete = is_complete;
        if let Ok(written) = json::encode(group) {
            cache::set(&key(*initial), &written, ttl);
        }
    }
}

fn key(initial: char) -> String {
    format!("airlines/{initial}")
}

fn unknown() -> ReadError {
    ReadError::NotFound("Duffel knows no airline with this code".to_owned())
}
