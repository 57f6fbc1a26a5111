//! Conversion of journeys, segments, fare conditions and airline changes.

use crate::bindings::stopover::supplier::flight_types as wire;
use crate::convert::dropped::DroppedItems;
use crate::convert::{
    ConvertResult, ensure_unique, instant, invalid, list, local_time, money_with_currency,
    optional, optional_instant, same_variant, text, valid_if,
};
use host_domain::flight::{
    AirlineChange, Cabin, ChangeType, Direction, FareCondition, FareConditions, Journey, Segment,
    SegmentDetails, SegmentPassenger, SegmentPassengerDetails,
};
use std::collections::HashSet;

/// Maximum number of journeys of one ticket, more than any airline sells on one.
pub(super) const JOURNEYS_MAX: usize = 16;
/// Maximum number of segments of one journey, more than any journey needs.
pub(super) const SEGMENTS_MAX: usize = 16;
/// Maximum number of passengers of one ticket if the real number is not known. Airlines sell at
/// most nine seats at once; groups are handled separately.
pub(super) const PASSENGERS_MAX: usize = 64;
/// Maximum number of changes of one ticket: one every other day for a year.
pub(super) const CHANGES_MAX: usize = 200;
/// Maximum accepted duration of a journey, connections included: 30 days.
const DURATION_MINUTES_MAX: u32 = 30 * 24 * 60;

/// Converts the journeys of a fare. A segment id must be unique if it is present.
pub(super) fn journeys(
    journeys: Vec<wire::Journey>,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<Journey>> {
    let journeys = list("journeys", journeys, JOURNEYS_MAX, |journey| {
        self::journey(journey, passengers, dropped)
    })?;
    let ids = journeys
        .iter()
        .flat_map(|journey| &journey.segments)
        .map(|segment| segment.supplier_segment_id.as_str())
        .filter(|id| !id.is_empty());
    ensure_unique("segments.supplier-segment-id", ids)?;
    Ok(journeys)
}

/// Converts the journeys of a booking, at most [`JOURNEYS_MAX`] of them. An invalid one, or one that
/// repeats the id of a segment, is `None` and is recorded.
pub(super) fn booked_journeys(
    journeys: Vec<wire::Journey>,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> Vec<Option<Journey>> {
    let mut ids = HashSet::new();
    let mut dropped_parts = DroppedItems::default();
    let journeys = dropped.keep_each("journeys", journeys, JOURNEYS_MAX, |journey| {
        let journey = self::journey(journey, passengers, &mut dropped_parts)?;
        let segments = journey.segments.iter();
        let given = segments.map(|segment| segment.supplier_segment_id.as_str());
        let given: Vec<&str> = given.filter(|id| !id.is_empty()).collect();
        ensure_unique("segments.supplier-segment-id", given.iter())?;
        let is_repeated = given.iter().any(|id| ids.contains(*id));
        ids.extend(given.into_iter().map(str::to_owned));
        valid_if(
            !is_repeated,
            journey,
            "segments.supplier-segment-id",
            "twice",
        )
    });
    dropped.append(dropped_parts);
    journeys
}

/// Converts a journey of `passengers` passengers. It must have at least one segment.
pub(super) fn journey(
    journey: wire::Journey,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<Journey> {
    if journey.segments.is_empty() {
        return invalid("journeys.segments", "none");
    }
    Ok(Journey {
        supplier_journey_id: optional_supplier_id(
            "journeys.supplier-journey-id",
            journey.supplier_journey_id,
            dropped,
        ),
        origin: text::airport_code("journeys.origin", journey.origin)?,
        destination: text::airport_code("journeys.destination", journey.destination)?,
        direction: same_variant!(journey.direction, wire::Direction => Direction, [
            Outbound, Inbound, MultiCity,
        ]),
        fare_brand: text::optional_display(journey.fare_brand, text::LINE_CHARS),
        departure_time: local_time("journeys.departure-time", journey.departure_time)?,
        arrival_time: local_time("journeys.arrival-time", journey.arrival_time)?,
        duration_minutes: duration(journey.duration_minutes),
        stops: journey.stops,
        segments: segments("journeys.segments", journey.segments, passengers, dropped)?,
        fare_conditions: None,
    })
}

fn segments(
    field: &'static str,
    segments: Vec<wire::Segment>,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<Segment>> {
    list(field, segments, SEGMENTS_MAX, |segment| {
        self::segment(segment, passengers, dropped)
    })
}

fn segment(
    segment: wire::Segment,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<Segment> {
    Ok(Segment {
        supplier_segment_id: optional_supplier_id(
            "segments.supplier-segment-id",
            segment.supplier_segment_id,
            dropped,
        ),
        origin: text::airport_code("segments.origin", segment.origin)?,
        destination: text::airport_code("segments.destination", segment.destination)?,
        departure_time: local_time("segments.departure-time", segment.departure_time)?,
        arrival_time: local_time("segments.arrival-time", segment.arrival_time)?,
        origin_time_zone: text::time_zone(segment.origin_time_zone),
        destination_time_zone: text::time_zone(segment.destination_time_zone),
        marketing_flight: text::reference("segments.marketing-flight", segment.marketing_flight)?,
        marketing_carrier: text::display_line(segment.marketing_carrier),
        marketing_carrier_code: text::airline_code(
            "segments.marketing-carrier-code",
            segment.marketing_carrier_code,
        )?,
        marketing_carrier_logo_url: text::url(segment.marketing_carrier_logo_url),
        operating_carrier: text::optional_display(segment.operating_carrier, text::LINE_CHARS),
        operating_carrier_logo_url: text::url(segment.operating_carrier_logo_url),
        duration_minutes: duration(segment.duration_minutes),
        cabin: cabin(segment.cabin),
        passengers: list(
            "segments.passengers",
            segment.passengers,
            passengers,
            |passenger| segment_passenger(passenger, passengers),
        )?,
        details: SegmentDetails::default(),
    })
}

fn segment_passenger(
    passenger: wire::SegmentPassenger,
    passengers: usize,
) -> ConvertResult<SegmentPassenger> {
    Ok(SegmentPassenger {
        passenger: passenger_index(
            "segments.passengers.passenger",
            passenger.passenger,
            passengers,
        )?,
        cabin: cabin(passenger.cabin),
        cabin_name: text::optional_display(passenger.cabin_name, text::LINE_CHARS),
        checked_bags: passenger.checked_bags,
        carry_on_bags: passenger.carry_on_bags,
        details: SegmentPassengerDetails::default(),
    })
}

/// Validates an index into a list of `passengers` passengers.
pub(super) fn passenger_index(
    field: &'static str,
    passenger: u8,
    passengers: usize,
) -> ConvertResult<u8> {
    let is_known = usize::from(passenger) < passengers;
    valid_if(is_known, passenger, field, "not a passenger")
}

/// Returns the supplier's id of a part. It may be empty, and an invalid one becomes empty: without it, the
/// part is recognized by its flights.
fn optional_supplier_id(field: &'static str, id: String, dropped: &mut DroppedItems) -> String {
    let id = text::optional_reference(field, Some(id));
    dropped.keep(id).flatten().unwrap_or_default()
}

fn duration(minutes: Option<u32>) -> Option<u32> {
    minutes.filter(|minutes| *minutes <= DURATION_MINUTES_MAX)
}

const fn cabin(cabin: wire::Cabin) -> Cabin {
    same_variant!(cabin, wire::Cabin => Cabin, [Economy, PremiumEconomy, Business, First])
}

/// Converts the conditions of a fare. An invalid penalty becomes unknown.
pub(super) fn fare_conditions(
    conditions: &wire::FareConditions,
    dropped: &mut DroppedItems,
) -> FareConditions {
    let (refund, change) = (&conditions.refund, &conditions.change);
    FareConditions {
        refund: fare_condition("fare-conditions.refund.penalty", refund, dropped),
        change: fare_condition("fare-conditions.change.penalty", change, dropped),
    }
}

fn fare_condition(
    field: &'static str,
    condition: &wire::FareCondition,
    dropped: &mut DroppedItems,
) -> FareCondition {
    let penalty = condition.penalty.as_ref();
    let penalty = optional(penalty, |penalty| money_with_currency(field, penalty));
    FareCondition {
        allowed: condition.allowed,
        penalty: dropped.keep(penalty).flatten(),
    }
}

/// Converts the valid changes of one ticket and records the others. Each must have a unique id.
pub(super) fn changes(
    changes: Vec<wire::AirlineChange>,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> Vec<AirlineChange> {
    let mut ids = HashSet::new();
    let mut dropped_parts = DroppedItems::default();
    let changes = dropped.keep_valid("changes", changes, CHANGES_MAX, |change| {
        let change = self::change(change, passengers, &mut dropped_parts)?;
        let is_new = ids.insert(change.supplier_change_id.clone());
        valid_if(is_new, change, "changes.supplier-change-id", "twice")
    });
    dropped.append(dropped_parts);
    changes
}

fn change(
    change: wire::AirlineChange,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<AirlineChange> {
    Ok(AirlineChange {
        supplier_change_id: text::reference(
            "changes.supplier-change-id",
            change.supplier_change_id,
        )?,
        detected_at: instant("changes.detected-at", change.detected_at)?,
        change_type: same_variant!(change.change_type, wire::ChangeType => ChangeType, [
            ScheduleChange, Cancellation, Reroute, Equipment,
        ]),
        action_required: change.action_required,
        removed_segments: segments(
            "changes.removed-segments",
            change.removed_segments,
            passengers,
            dropped,
        )?,
        added_segments: segments(
            "changes.added-segments",
            change.added_segments,
            passengers,
            dropped,
        )?,
        expires_at: optional_instant("changes.expires-at", change.expires_at)?,
        accepted_at: optional_instant("changes.accepted-at", change.accepted_at)?,
    })
}
