//! Itineraries between airports: flights, times and carriers, computed from the distance on the
//! globe.

use jiff::civil::{DateTime, Time};

use crate::{
    clock::{MINUTE_MS, local_to_ms, ms_to_local},
    flight::{
        brand::Brand,
        reference_data::{Airline, Airport, airline, airport, home_airline},
        scenario::Scenario,
        trip::Leg,
    },
};

/// Time between two flights of a connection.
const LAYOVER_MINUTES: i64 = 110;
/// Time by which the airline moves a flight.
const RESCHEDULED_MINUTES: i64 = 45;
const EARTH_RADIUS_KM: f64 = 6_371.0;
const KM_A_MINUTE: f64 = 14.0;
const TAXI_MINUTES: f64 = 40.0;

/// Carriers of the route with many fares.
const LONG_HAUL: [&str; 8] = ["QF", "BA", "SQ", "EK", "QR", "CX", "MH", "EY"];

pub(super) struct Itinerary {
    pub(super) segments: Vec<Segment>,
}

#[derive(Clone)]
pub(super) struct Segment {
    /// Position within the itinerary.
    pub(super) number: usize,
    pub(super) from: &'static Airport,
    pub(super) to: &'static Airport,
    departs_ms: i64,
    arrives_ms: i64,
    pub(super) carrier: &'static Airline,
    operator: &'static Airline,
    pub(super) flight_no: u32,
    pub(super) brand: Brand,
}

impl Segment {
    pub(super) fn departs(&self) -> DateTime {
        ms_to_local(self.departs_ms, &self.from.zone)
    }

    pub(super) fn arrives(&self) -> DateTime {
        ms_to_local(self.arrives_ms, &self.to.zone)
    }

    pub(super) fn minutes(&self) -> i64 {
        (self.arrives_ms - self.departs_ms) / MINUTE_MS
    }

    /// Returns the airline that operates the flight for the carrier.
    pub(super) fn partner(&self) -> Option<&'static Airline> {
        (self.operator.iata != self.carrier.iata).then_some(self.operator)
    }

    /// Returns this flight after the airline's schedule change.
    pub(super) fn rescheduled(&self) -> Self {
        let mut rescheduled = self.clone();
        rescheduled.departs_ms += RESCHEDULED_MINUTES * MINUTE_MS;
        rescheduled.arrives_ms += RESCHEDULED_MINUTES * MINUTE_MS;
        rescheduled
    }
}

impl Itinerary {
    pub(super) fn departs(&self) -> Option<DateTime> {
        self.segments.first().map(Segment::departs)
    }

    pub(super) fn arrives(&self) -> Option<DateTime> {
        self.segments.last().map(Segment::arrives)
    }

    pub(super) fn minutes(&self) -> i64 {
        match (self.segments.first(), self.segments.last()) {
            (Some(first), Some(last)) => (last.arrives_ms - first.departs_ms) / MINUTE_MS,
            _ => 0,
        }
    }

    pub(super) fn stops(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }
}

/// Returns the itinerary of one fare. `variant` counts from the simplest.
pub(super) fn plan(leg: &Leg, brand: Brand, variant: u32) -> Option<Itinerary> {
    let scenario = Scenario::of_route(&leg.from, &leg.to);
    let many = scenario == Some(Scenario::ManyFares);
    let (from, to) = (airport(&leg.from)?, airport(&leg.to)?);
    let via: &[&str] = match scenario {
        Some(Scenario::AirlineChange) => &["IST"],
        _ if many && variant % 3 == 1 => &["SIN"],
        _ if many && variant % 3 == 2 => &["DOH", "PER"],
        _ => &[],
    };
    let carrier = match scenario {
        Some(Scenario::AirlineChange) => airline("TK")?,
        _ if many => LONG_HAUL
            .get(usize::try_from(variant).ok()? % LONG_HAUL.len())
            .and_then(|code| airline(code))?,
        _ => home_airline(from.country)?,
    };
    // On routes with many fares, a partner operates every fourth variant under the carrier's flight
    // number.
    let operator = match many && variant % 4 == 3 {
        true => airline("EK")?,
        false => carrier,
    };
    let hour = match scenario {
        Some(Scenario::AirlineChange) => 15,
        _ if many => i8::try_from(6 + variant % 16).ok()?,
        _ => 10,
    };
    let start = leg.date.to_datetime(Time::new(hour, 0, 0, 0).ok()?);
    let mut departs_ms = local_to_ms(start, &from.zone);
    let mut airports = vec![from];
    for code in via {
        airports.push(airport(code)?);
    }
    airports.push(to);
    let mut segments = Vec::new();
    for (number, (from, to)) in airports.iter().zip(airports.iter().skip(1)).enumerate() {
        let arrives_ms = departs_ms + flight_minutes(from, to) * MINUTE_MS;
        segments.push(Segment {
            number,
            from,
            to,
            departs_ms,
            arrives_ms,
            carrier,
            operator,
            flight_no: flight_no(from, to) + variant,
            brand,
        });
        departs_ms = arrives_ms + LAYOVER_MINUTES * MINUTE_MS;
    }
    Some(Itinerary { segments })
}

/// Returns a flight number from 100 to 899 that is always the same for a pair of airports.
fn flight_no(from: &Airport, to: &Airport) -> u32 {
    let sum = (from.iata.bytes().chain(to.iata.bytes()))
        .fold(7_u32, |sum, letter| (sum * 31 + u32::from(letter)) % 800);
    100 + sum
}

/// Returns the flight time, rounded to five minutes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "no two airports are further apart than half the globe"
)]
fn flight_minutes(from: &Airport, to: &Airport) -> i64 {
    let (lat1, lat2) = (from.lat.to_radians(), to.lat.to_radians());
    let haversine = |a: f64, b: f64| ((b - a) / 2.0).sin().powi(2);
    let lon = haversine(from.lon.to_radians(), to.lon.to_radians());
    let chord = haversine(lat1, lat2) + lat1.cos() * lat2.cos() * lon;
    let km = 2.0 * EARTH_RADIUS_KM * chord.sqrt().asin();
    let minutes = TAXI_MINUTES + km / KM_A_MINUTE;
    (minutes / 5.0).round() as i64 * 5
}
