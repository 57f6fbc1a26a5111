//! Conversion of Nuitee's flat list of flights to journeys with segments.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use stopover_sdk::flight::elapsed_minutes;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Part, Single};
use stopover_sdk::time;
use stopover_sdk::types::flight::{
    Cabin, Direction, Journey, Segment as JourneySegment, SegmentPassenger,
};

use crate::map::baggage::Pieces;
use crate::map::logo;
use crate::wire::{Fare, Segment, SegmentFare};

/// The flights of a trip, and the number of flights of each journey.
#[derive(Clone, Copy)]
pub(crate) struct Trip<'a> {
    /// Nuitee's id of the trip. Journeys have no id of their own.
    pub(crate) key: &'a str,
    pub(crate) segments: &'a [Segment<'a>],
    pub(crate) segment_counts: &'a [usize],
    /// Base URL of logos that have a path only.
    pub(crate) logo_url: &'a str,
}

/// The cabin of a segment. Bookings do not contain it, so it is stored with the prebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentCabin {
    /// Nuitee's name of the cabin.
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) brand: Option<String>,
}

/// Parses a cabin's name, such as `Economy` or `PREMIUM_ECONOMY`.
pub(crate) fn cabin(name: &str) -> Option<Cabin> {
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    Some(match letters.as_str() {
        "economy" => Cabin::Economy,
        "premiumeconomy" => Cabin::PremiumEconomy,
        "business" => Cabin::Business,
        "first" => Cabin::First,
        _ => return None,
    })
}

/// Returns the code of a cabin in requests.
pub(crate) const fn cabin_code(cabin: Cabin) -> &'static str {
    match cabin {
        Cabin::Economy => "ECONOMY",
        Cabin::PremiumEconomy => "PREMIUM_ECONOMY",
        Cabin::Business => "BUSINESS",
        Cabin::First => "FIRST",
    }
}

/// Returns the cabins, one letter each, to compare them with those of a later response.
pub(crate) fn cabin_letters(cabins: &[SegmentCabin]) -> String {
    let letter = |known: &SegmentCabin| match cabin(&known.name) {
        Some(Cabin::Economy) => 'E',
        Some(Cabin::PremiumEconomy) => 'P',
        Some(Cabin::Business) => 'B',
        Some(Cabin::First) => 'F',
        None => '?',
    };
    cabins.iter().map(letter).collect()
}

/// Returns the cabin of each segment, from the segment's fare or, if that states none, from the name of
/// the whole fare, which is often a cabin's name.
///
/// # Errors
/// The one that counts does not name a cabin.
pub(crate) fn cabins(
    segments: &[Segment<'_>],
    fares: &[SegmentFare<'_>],
    fare: &Fare<'_>,
) -> Result<Vec<SegmentCabin>, DecodeError> {
    let of_segment = |segment: &Segment<'_>| {
        let own = fare_of(segment, fares);
        let name = own.map_or(CabinName::Missing, CabinName::of);
        let name = match name {
            CabinName::Missing => fare.family.as_deref()?,
            CabinName::Stated(name) => name,
            CabinName::Unreadable => return None,
        };
        cabin(name)?;
        let brand = own.and_then(|own| own.fare_family.to_owned());
        Some(SegmentCabin {
            name: name.to_owned(),
            brand: brand.or_else(|| fare.family.as_deref().map(str::to_owned)),
        })
    };
    let cabins: Option<Vec<SegmentCabin>> = segments.iter().map(of_segment).collect();
    cabins.ok_or_else(unknown_cabin)
}

/// What the fare of a segment says of its cabin.
enum CabinName<'f> {
    Missing,
    Stated(&'f str),
    Unreadable,
}

impl<'f> CabinName<'f> {
    fn of(fare: &'f SegmentFare<'_>) -> Self {
        match fare.cabin.as_ref() {
            Single::Missing | Single::Value(Part::Missing) => Self::Missing,
            Single::Value(Part::Decoded(name)) => match name.as_str().trim() {
                "" => Self::Missing,
                name => Self::Stated(name),
            },
            Single::Value(Part::Unreadable(_)) | Single::Repeated => Self::Unreadable,
        }
    }
}

fn unknown_cabin() -> DecodeError {
    DecodeError::missing("the cabin of a flight is not known")
}

/// Returns the error of flights that are not those of the requested journeys.
pub(crate) fn unmatched_journeys() -> DecodeError {
    DecodeError::new("its flights do not match the requested journeys")
}

/// Returns the fare of a segment.
pub(crate) fn fare_of<'f, 'a>(
    segment: &Segment<'a>,
    fares: &'f [SegmentFare<'a>],
) -> Option<&'f SegmentFare<'a>> {
    let key = segment.key.as_deref()?;
    let mut fares = fares.iter();
    fares.find(|fare| fare.segment_key.as_deref() == Some(key))
}

/// Formats a flight as one line, which is compared with an earlier response.
///
/// # Errors
/// The flight lacks a value that identifies it.
pub(crate) fn flight(segment: &Segment<'_>) -> Result<String, DecodeError> {
    let identify = || {
        segment.marketing_number()?;
        segment.marketing_code()?;
        let departure = time::parse_local_time(segment.departure_time.as_str())?;
        let (origin, destination) = (segment.origin.as_deref()?, segment.destination.as_deref()?);
        let flight = marketing_flight(segment);
        Some(format!("{flight} {origin} {destination} {departure}"))
    };
    identify().ok_or_else(|| DecodeError::missing("a flight has no number, airport or time"))
}

/// Returns the flights of each journey, one line per flight.
///
/// # Errors
/// The flights do not match the journeys, or one lacks a value that identifies it.
pub(crate) fn flights(trip: Trip<'_>) -> Result<Vec<Vec<String>>, DecodeError> {
    let journeys = trip.segments_by_journey()?.into_iter();
    let lines = |segments: &[Segment<'_>]| segments.iter().map(flight).collect();
    journeys.map(lines).collect()
}

/// Checks that no two segments have the same id, as a prebook and a booking require.
pub(crate) fn check_segment_ids(journeys: &[Journey]) -> Result<(), DecodeError> {
    let segments = journeys.iter().flat_map(|journey| &journey.segments);
    let ids = segments.map(|segment| segment.supplier_segment_id.as_str());
    let mut known = HashSet::new();
    let are_unique = ids.filter(|id| !id.is_empty()).all(|id| known.insert(id));
    ensure(are_unique, "two flights have the same id")
}

/// Converts the journeys. If Nuitee marks a return flight, the second of two journeys is the way back, and
/// the other journeys are outbound. Otherwise several journeys form a multi-city trip.
///
/// # Errors
/// The text names the data of a flight that is missing or unreadable.
pub(crate) fn journeys(
    trip: Trip<'_>,
    cabins: &[SegmentCabin],
    pieces: &[Pieces],
) -> Result<Vec<Journey>, DecodeError> {
    let journey_segments = trip.segments_by_journey()?;
    if cabins.len() != trip.segments.len() {
        return Err(unknown_cabin());
    }
    let is_inbound = |segment: &Segment<'_>| segment.direction.as_str() == "INBOUND";
    let has_way_back = trip.segments.iter().any(is_inbound);
    let mut cabins = cabins.iter();
    let mut journeys = Vec::with_capacity(journey_segments.len());
    for (number, flights) in (1..).zip(&journey_segments) {
        let journey_cabins: Vec<&SegmentCabin> = cabins.by_ref().take(flights.len()).collect();
        let mut segments = Vec::with_capacity(flights.len());
        for (segment, cabin) in flights.iter().zip(&journey_cabins) {
            segments.push(to_segment(segment, cabin, pieces, trip.logo_url)?);
        }
        let ends = segments.first().zip(segments.last());
        let (first, last) = ends.ok_or_else(unmatched_journeys)?;
        journeys.push(Journey {
            supplier_journey_id: if trip.key.is_empty() {
                String::new()
            } else {
                format!("{}-{number}", trip.key)
            },
            origin: first.origin.clone(),
            destination: last.destination.clone(),
            direction: match (journey_segments.len(), flights.first()) {
                // Some of its flights may have no mark.
                (2, _) if has_way_back && number == 2 => Direction::Inbound,
                (2, _) if has_way_back => Direction::Outbound,
                (_, Some(first)) if is_inbound(first) => Direction::Inbound,
                (count, _) if has_way_back || count == 1 => Direction::Outbound,
                _ => Direction::MultiCity,
            },
            fare_brand: journey_cabins.first().and_then(|cabin| cabin.brand.clone()),
            departure_time: first.departure_time.clone(),
            arrival_time: last.arrival_time.clone(),
            duration_minutes: journey_minutes(&segments),
            stops: u8::try_from(segments.len().saturating_sub(1)).unwrap_or(u8::MAX),
            segments,
        });
    }
    Ok(journeys)
}

impl<'a> Trip<'a> {
    /// Returns the segments of each journey.
    ///
    /// # Errors
    /// The counts do not add up.
    pub(crate) fn segments_by_journey(&self) -> Result<Vec<&'a [Segment<'a>]>, DecodeError> {
        let mut rest = self.segments;
        let mut journeys = Vec::with_capacity(self.segment_counts.len());
        for count in self.segment_counts {
            let split = rest.split_at_checked(*count);
            let (journey, after) = split.ok_or_else(unmatched_journeys)?;
            journeys.push(journey);
            rest = after;
        }
        let is_whole = rest.is_empty() && !journeys.is_empty();
        is_whole.then_some(journeys).ok_or_else(unmatched_journeys)
    }
}

fn to_segment(
    segment: &Segment<'_>,
    flown: &SegmentCabin,
    pieces: &[Pieces],
    logo_url: &str,
) -> Result<JourneySegment, DecodeError> {
    let lacks = |what: &'static str| move || DecodeError::missing(what);
    let airport = |code: Option<&str>| {
        let code = code.map(str::to_owned);
        code.ok_or_else(lacks("a flight has no airport"))
    };
    let local_time =
        |text: &str| time::parse_local_time(text).ok_or_else(lacks("a flight has no time"));
    let cabin = cabin(&flown.name).ok_or_else(unknown_cabin)?;
    let carrier = segment.carrier.as_ref().value();
    let carrier = carrier.ok_or_else(lacks("a flight has no airline"))?;
    let code = segment.marketing_code();
    let code = code.ok_or_else(lacks("a flight has no airline"))?;
    let of_passenger =
        |(passenger, (checked_bags, carry_on_bags)): (u8, &Pieces)| SegmentPassenger {
            passenger,
            cabin,
            cabin_name: Some(flown.name.clone()),
            checked_bags: *checked_bags,
            carry_on_bags: *carry_on_bags,
        };
    Ok(JourneySegment {
        supplier_segment_id: segment.key.as_str().to_owned(),
        origin: airport(segment.origin.as_deref())?,
        destination: airport(segment.destination.as_deref())?,
        departure_time: local_time(segment.departure_time.as_str())?,
        arrival_time: local_time(segment.arrival_time.as_str())?,
        origin_time_zone: None,
        destination_time_zone: None,
        marketing_flight: marketing_flight(segment),
        marketing_carrier: carrier.marketing_name.as_deref().unwrap_or(code).to_owned(),
        marketing_carrier_code: code.to_owned(),
        marketing_carrier_logo_url: logo::url(&carrier.marketing_logo, logo_url),
        operating_carrier: carrier.operating_name.to_owned(),
        operating_carrier_logo_url: logo::url(&carrier.operating_logo, logo_url),
        duration_minutes: minutes(segment),
        cabin,
        passengers: (0..).zip(pieces).map(of_passenger).collect(),
    })
}

fn marketing_flight(segment: &Segment<'_>) -> String {
    let code = segment.marketing_code().unwrap_or_default();
    flight_number(code, segment.marketing_number().unwrap_or_default())
}

/// Returns an airline's code and flight number. Nuitee's numbers come with or without the code.
pub(crate) fn flight_number(code: &str, number: &str) -> String {
    format!("{code}{}", number.strip_prefix(code).unwrap_or(number))
}

fn minutes(segment: &Segment<'_>) -> Option<u32> {
    let duration = segment.duration.as_decoded()?;
    let written = || time::parse_duration_minutes(duration.iso8601.as_str());
    let minutes = duration.minutes.0.or_else(written);
    minutes.filter(|minutes| *minutes > 0)
}

/// Returns the minutes from the first departure to the last arrival. Returns `None` if a flight has
/// no duration or departs from another airport.
fn journey_minutes(segments: &[JourneySegment]) -> Option<u32> {
    let mut connections = segments.iter().zip(segments.iter().skip(1));
    let is_connected = connections.all(|(before, after)| before.destination == after.origin);
    is_connected.then(|| elapsed_minutes(segments)).flatten()
}
