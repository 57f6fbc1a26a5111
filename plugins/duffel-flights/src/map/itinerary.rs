//! Conversion of slices and segments to journeys, and of conditions to fare conditions.

use stopover_sdk::flight::elapsed_minutes;
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::time;
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::{
    Cabin, Direction, FareCondition, FareConditions, Journey, Segment, SegmentPassenger,
};

use crate::map::minor;
use crate::map::passenger::PassengerIds;
use crate::wire::itinerary::{self as wire, Place, Slice};

/// Converts slices to the journeys of a trip.
///
/// # Errors
/// A slice has no segments, or a segment has no times or no cabin class.
pub(crate) fn journeys(
    slices: Vec<Slice>,
    ids: &PassengerIds,
) -> Result<Vec<Journey>, DecodeError> {
    let ends: Option<Vec<(&str, &str)>> = slices
        .iter()
        .map(|slice| {
            let (first, last) = (slice.segments.first()?, slice.segments.last()?);
            Some((city(&first.origin), city(&last.destination)))
        })
        .collect();
    let ends = ends.ok_or_else(|| DecodeError::missing("a slice has no segments"))?;
    let directions = Direction::for_journeys(&ends);
    slices
        .into_iter()
        .zip(directions)
        .map(|(slice, direction)| journey(slice, direction, ids))
        .collect()
}

fn journey(slice: Slice, direction: Direction, ids: &PassengerIds) -> Result<Journey, DecodeError> {
    let connections = slice.segments.len().saturating_sub(1);
    let stops: usize = slice
        .segments
        .iter()
        .map(|segment| segment.stops.len() + segment.stops.unreadable().len())
        .sum();
    let segments = segments(slice.segments, ids, None)?;
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return Err(DecodeError::missing("a slice has no segments"));
    };
    Ok(Journey {
        supplier_journey_id: slice.id,
        origin: first.origin.clone(),
        destination: last.destination.clone(),
        direction,
        fare_brand: slice.fare_brand_name.into_option(),
        departure_time: first.departure_time.clone(),
        arrival_time: last.arrival_time.clone(),
        duration_minutes: (slice.duration.as_deref())
            .and_then(time::parse_duration_minutes)
            .or_else(|| elapsed_minutes(&segments)),
        stops: u8::try_from(connections + stops).unwrap_or(u8::MAX),
        segments,
    })
}

/// Converts segments and keeps their order. `default_cabin` takes the place of a cabin class that Duffel
/// does not state; without it, such a segment is an error, because the class is part of what is sold.
pub(crate) fn segments(
    segments: Vec<wire::Segment>,
    ids: &PassengerIds,
    default_cabin: Option<Cabin>,
) -> Result<Vec<Segment>, DecodeError> {
    segments
        .into_iter()
        .map(|written| segment(written, ids, default_cabin))
        .collect()
}

fn segment(
    written: wire::Segment,
    ids: &PassengerIds,
    default_cabin: Option<Cabin>,
) -> Result<Segment, DecodeError> {
    let no_cabin = || DecodeError::missing("a segment has no cabin class");
    let local = |text: &str| {
        time::parse_local_time(text).ok_or_else(|| DecodeError::new("a segment has no time"))
    };
    let departure_time = local(written.departing_at())?;
    let arrival_time = local(written.arriving_at())?;
    check_codes(&written)?;
    let mut cabin = None;
    let mut passengers = Vec::with_capacity(written.passengers.len());
    let places = positions(&written.passengers, ids);
    for (place, passenger) in places.into_iter().zip(written.passengers) {
        let seat = self::cabin(passenger.cabin_class())?.or(default_cabin);
        let seat = seat.ok_or_else(no_cabin)?;
        cabin.get_or_insert(seat);
        let Some(position) = place else {
            continue;
        };
        passengers.push(SegmentPassenger {
            passenger: position,
            cabin: seat,
            checked_bags: pieces(&passenger.baggages, "checked"),
            carry_on_bags: pieces(&passenger.baggages, "carry_on"),
            cabin_name: passenger.cabin_class_marketing_name.into_option(),
        });
    }
    passengers.sort_by_key(|passenger| passenger.passenger);
    let zones = (
        written.origin.time_zone.into_option(),
        written.destination.time_zone.into_option(),
    );
    let duration = written.duration.as_deref();
    let duration_minutes = duration.and_then(time::parse_duration_minutes).or_else(|| {
        let is_one_zone = zones.0.is_some() && zones.0 == zones.1;
        is_one_zone
            .then(|| time::minutes_between(&departure_time, &arrival_time))
            .flatten()
    });
    let carrier = written.marketing_carrier;
    Ok(Segment {
        supplier_segment_id: written.id,
        origin: written.origin.iata_code,
        destination: written.destination.iata_code,
        departure_time,
        arrival_time,
        origin_time_zone: zones.0,
        destination_time_zone: zones.1,
        marketing_flight: format!(
            "{}{}",
            carrier.iata_code, written.marketing_carrier_flight_number
        ),
        marketing_carrier: carrier.name,
        marketing_carrier_code: carrier.iata_code,
        marketing_carrier_logo_url: carrier.logo_symbol_url.into_option(),
        operating_carrier: non_empty(written.operating_carrier.name),
        operating_carrier_logo_url: written.operating_carrier.logo_symbol_url.into_option(),
        duration_minutes,
        cabin: cabin.or(default_cabin).ok_or_else(no_cabin)?,
        passengers,
    })
}

/// Returns the position of each passenger of a segment, or `None` for one who is not of the party.
/// Some responses name all passengers by ids that appear nowhere else; they are in the party's order. If
/// no id of a party is known, nobody's position is, unless the party has a single passenger.
pub(crate) fn positions(
    passengers: &[wire::SegmentPassenger],
    ids: &PassengerIds,
) -> Vec<Option<u8>> {
    let known = passengers
        .iter()
        .map(|one| ids.position(one.passenger_id()));
    let known: Vec<Option<u8>> = known.collect();
    let is_named = known.iter().any(Option::is_some);
    let is_party_known = ids.0.len() == 1 || ids.0.iter().any(|id| !id.is_empty());
    if is_named || !is_party_known || known.len() != ids.0.len() {
        return known;
    }
    let places = 0..known.len();
    places.map(|place| u8::try_from(place).ok()).collect()
}

/// Checks the codes that every segment needs.
fn check_codes(segment: &wire::Segment) -> Result<(), DecodeError> {
    for place in [&segment.origin, &segment.destination] {
        ensure(
            is_airport_code(&place.iata_code),
            "a segment has no airport",
        )?;
    }
    let is_airline = is_airline_code(&segment.marketing_carrier.iata_code);
    ensure(is_airline, "a segment has no marketing carrier")?;
    let has_number = !segment.marketing_carrier_flight_number.is_empty();
    ensure(has_number, "a segment has no flight number")
}

/// Returns whether the text is the IATA code of an airport, which the gateway requires.
fn is_airport_code(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns whether the text is the IATA code of an airline, which the gateway requires.
fn is_airline_code(code: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    code.len() == 2 && code.bytes().all(is_valid)
}

/// Returns the number of pieces of a kind. Returns `None` if the airline does not state it, which
/// is not the same as zero.
fn pieces(baggages: &[wire::Baggage], kind: &str) -> Option<u8> {
    let of_kind = baggages.iter().filter(|baggage| baggage.kind == kind);
    let count = of_kind
        .map(|baggage| baggage.quantity.0)
        .reduce(|left, right| Some(left?.saturating_add(right?)))??;
    u8::try_from(count).ok()
}

/// Converts a cabin class. Returns `None` if it is empty.
fn cabin(class: &str) -> Result<Option<Cabin>, DecodeError> {
    Ok(Some(match class {
        "" => return Ok(None),
        "economy" => Cabin::Economy,
        "premium_economy" => Cabin::PremiumEconomy,
        "business" => Cabin::Business,
        "first" => Cabin::First,
        _ => return Err(DecodeError::new("a segment has an unknown cabin class")),
    }))
}

/// Returns Duffel's name of a cabin class for a search.
pub(crate) fn cabin_class(cabin: Cabin) -> &'static str {
    match cabin {
        Cabin::Economy => "economy",
        Cabin::PremiumEconomy => "premium_economy",
        Cabin::Business => "business",
        Cabin::First => "first",
    }
}

/// Returns the city's code if Duffel gives one, otherwise the airport's code. A return to another
/// airport of the same city counts as a return.
fn city(place: &Place) -> &str {
    if place.iata_city_code.is_empty() {
        &place.iata_code
    } else {
        &place.iata_city_code
    }
}

/// Converts the fare's conditions before departure. Conditions that the airline does not state, or
/// that cannot be read or are repeated, remain unknown, and so do penalties without an amount.
pub(crate) fn fare_conditions(conditions: Option<&wire::Conditions>) -> FareConditions {
    let refund = conditions.and_then(|conditions| conditions.refund.as_decoded());
    let change = conditions.and_then(|conditions| conditions.change.as_decoded());
    FareConditions {
        refund: fare_condition(refund),
        change: fare_condition(change),
    }
}

fn fare_condition(condition: Option<&wire::Condition>) -> FareCondition {
    let penalty = condition.and_then(|condition| {
        let currency = condition.penalty_currency.as_ref().value()?;
        let amount = minor(condition.penalty_amount.value()?, currency).ok()?;
        Some(Money::new(amount, currency))
    });
    FareCondition {
        allowed: condition.and_then(|condition| condition.allowed.value()),
        penalty,
    }
}

#[cfg(test)]
mod tests {
    use stopover_sdk::lenient::{LenientCount, Single};

    use super::*;

    fn slice(segments: &[(&str, &str, Option<&str>, &str, &str)]) -> Slice {
        let place = |zone: &str| Place {
            iata_code: "XXX".to_owned(),
            iata_city_code: String::new(),
            time_zone: zone.into(),
        };
        Slice {
            segments: segments
                .iter()
                .map(|(from, to, duration, origin, destination)| wire::Segment {
                    departing_at: (*from).to_owned(),
                    arriving_at: (*to).to_owned(),
                    duration: duration.unwrap_or_default().into(),
                    origin: place(origin),
                    destination: place(destination),
                    marketing_carrier: wire::Carrier {
                        iata_code: "OW".to_owned(),
                        ..wire::Carrier::default()
                    },
                    marketing_carrier_flight_number: "11".to_owned(),
                    passengers: vec![wire::SegmentPassenger {
                        cabin_class: Single::Value("economy".to_owned()),
                        ..wire::SegmentPassenger::default()
                    }],
                    ..wire::Segment::default()
                })
                .collect(),
            ..Slice::default()
        }
    }

    #[test]
    fn missing_duration_is_derived_only_within_one_time_zone() {
        let (at9, at11, at12, at15) = (
            "2027-06-01T09:00:00",
            "2027-06-01T11:00:00",
            "2027-06-01T12:00:00",
            "2027-06-01T15:30:00",
        );
        type Case<'a> = (
            &'a [(&'a str, &'a str, Option<&'a str>, &'a str, &'a str)],
            Option<u32>,
        );
        let cases: [Case<'_>; 5] = [
            (
                &[(at9, at11, None, "Europe/London", "Europe/London")],
                Some(120),
            ),
            (&[(at9, at11, None, "Europe/London", "Europe/Paris")], None),
            (&[(at9, at11, None, "", "")], None),
            (
                &[
                    (at9, at11, Some("PT3H"), "A", "B"),
                    (at12, at15, Some("PT2H30M"), "B", "C"),
                ],
                Some(390),
            ),
            (
                &[
                    (at9, at11, Some("PT3H"), "A", "B"),
                    (at12, at15, None, "B", "C"),
                ],
                None,
            ),
        ];
        for (segments, expected) in cases {
            let journeys = journeys(vec![slice(segments)], &PassengerIds::default()).unwrap();
            assert_eq!(journeys[0].duration_minutes, expected, "{segments:?}");
        }
    }

    #[test]
    fn missing_bag_count_is_unknown_rather_than_zero() {
        let bag = |kind: &str, quantity| wire::Baggage {
            kind: kind.to_owned(),
            quantity: LenientCount(quantity),
        };
        let cases = [
            (vec![], None),
            (vec![bag("carry_on", Some(1))], None),
            (vec![bag("checked", None)], None),
            (vec![bag("checked", Some(0))], Some(0)),
            (
                vec![bag("checked", Some(1)), bag("checked", Some(1))],
                Some(2),
            ),
            (vec![bag("checked", Some(300))], None),
        ];
        for (baggages, expected) in cases {
            assert_eq!(pieces(&baggages, "checked"), expected);
        }
    }
}
