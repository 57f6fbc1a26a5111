//! Airports and airlines: a table of real ones.

use std::sync::LazyLock;

use jiff::tz::TimeZone;

use crate::clock::zone;

pub(super) struct Airport {
    pub(super) iata: &'static str,
    pub(super) icao: &'static str,
    pub(super) name: &'static str,
    pub(super) city: &'static str,
    pub(super) state: &'static str,
    pub(super) country: &'static str,
    pub(super) lat: f64,
    pub(super) lon: f64,
    /// IANA name of the time zone.
    pub(super) zone_name: &'static str,
    pub(super) zone: TimeZone,
}

pub(super) struct Airline {
    pub(super) iata: &'static str,
    pub(super) icao: &'static str,
    pub(super) name: &'static str,
    pub(super) country: &'static str,
    pub(super) alliance: Option<&'static str>,
    pub(super) active: bool,
}

static AIRPORTS: LazyLock<Vec<Airport>> = LazyLock::new(|| {
    include_str!("airports.txt")
        .lines()
        .filter_map(read_airport)
        .collect()
});

static AIRLINES: LazyLock<Vec<Airline>> = LazyLock::new(|| {
    include_str!("airlines.txt")
        .lines()
        .filter_map(read_airline)
        .collect()
});

fn read_airport(line: &'static str) -> Option<Airport> {
    let mut fields = line.split('|');
    let mut next = || fields.next();
    let (iata, icao, name) = (next()?, next()?, next()?);
    let (city, state, country) = (next()?, next()?, next()?);
    let (lat, lon) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let zone_name = next()?;
    Some(Airport {
        iata,
        icao,
        name,
        city,
        state,
        country,
        lat,
        lon,
        zone_name,
        zone: zone(zone_name),
    })
}

fn read_airline(line: &'static str) -> Option<Airline> {
    let mut fields = line.split('|');
    let mut next = || fields.next();
    let (iata, icao, name, country) = (next()?, next()?, next()?, next()?);
    let alliance = next().filter(|alliance| !alliance.is_empty());
    Some(Airline {
        iata,
        icao,
        name,
        country,
        alliance,
        active: next() == Some("active"),
    })
}

pub(super) fn airport(iata: &str) -> Option<&'static Airport> {
    AIRPORTS.iter().find(|airport| airport.iata == iata)
}

pub(super) fn airline(iata: &str) -> Option<&'static Airline> {
    AIRLINES.iter().find(|airline| airline.iata == iata)
}

/// Returns the airline of a country, or any other airline if the country has none.
pub(super) fn home_airline(country: &str) -> Option<&'static Airline> {
    (AIRLINES.iter().find(|airline| airline.country == country)).or_else(|| AIRLINES.first())
}

/// Returns airports in this order: the one with that code, those whose city begins with the text,
/// then all others that contain it.
pub(super) fn find_airports(text: &str) -> Vec<&'static Airport> {
    let text = text.trim().to_lowercase();
    let rank = |airport: &Airport| {
        let city = airport.city.to_lowercase();
        if airport.iata.to_lowercase() == text {
            Some(0)
        } else if city.starts_with(&text) {
            Some(1)
        } else if city.contains(&text) || airport.name.to_lowercase().contains(&text) {
            Some(2)
        } else {
            None
        }
    };
    let mut found: Vec<(u8, &Airport)> = (AIRPORTS.iter())
        .filter_map(|airport| Some((rank(airport)?, airport)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, airport)| airport).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_completely_and_codes_are_unique() {
        let airports = include_str!("airports.txt").lines().count();
        let airlines = include_str!("airlines.txt").lines().count();
        assert!(airports >= 50 && AIRPORTS.len() == airports);
        assert!(airlines >= 30 && AIRLINES.len() == airlines);
        for airport in AIRPORTS.iter() {
            assert_eq!(airport.iata.len(), 3);
            assert_eq!(airport.icao.len(), 4);
            assert!(TimeZone::get(airport.zone_name).is_ok(), "{}", airport.iata);
        }
        let mut codes: Vec<_> = AIRPORTS.iter().map(|airport| airport.iata).collect();
        codes.extend(AIRLINES.iter().map(|airline| airline.iata));
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
