//! Merges data of a supplier's booking into the stored booking: journeys keep their ids, and airline
//! changes are recorded once.

use crate::booking::Notifications;
use crate::event::EventType;
use crate::flight::booking::{BookedChange, BookedJourney, FlightBooking};
use crate::flight::details::{BagAllowance, is_default};
use crate::flight::itinerary::{FareConditions, Journey, Segment, SegmentPassenger};
use crate::flight::service::BaggageType;
use crate::flight::supplier_api::FlightSupplierBooking;
use crate::id::{AirlineChangeId, JourneyId, SegmentId};

impl FlightBooking {
    /// Allocates an id for a new part of the booking.
    fn allocate_id<T>(&mut self, id: impl FnOnce(&str, u32) -> T) -> T {
        self.details.id_sequence = self.details.id_sequence.saturating_add(1);
        id(self.id.as_str(), self.details.id_sequence)
    }

    /// Returns the ids of the segments that have the given supplier ids.
    pub fn segment_ids(&self, supplier_segment_ids: &[String]) -> Vec<SegmentId> {
        let segments = self.segments();
        segments
            .filter(|(_, segment)| supplier_segment_ids.contains(&segment.supplier_segment_id))
            .map(|(id, _)| id.clone())
            .collect()
    }

    pub fn segments(&self) -> impl Iterator<Item = (&SegmentId, &Segment)> {
        segments_of(&self.details.journeys)
    }

    /// Replaces the journeys by those currently scheduled. A journey that is `None` stays as it is. A
    /// segment of the same flight keeps its id, and each value that is not stated again.
    pub(super) fn merge_journeys(&mut self, journeys: Vec<Option<Journey>>) {
        if journeys.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.details.journeys);
        for (at, journey) in journeys.into_iter().enumerate() {
            let known = before.get(at);
            let Some(mut journey) = journey else {
                self.details.journeys.extend(known.cloned());
                continue;
            };
            let id = match known {
                Some(known) => known.id.clone(),
                None => self.allocate_id(JourneyId::of),
            };
            let mut segment_ids = Vec::with_capacity(journey.segments.len());
            for segment in &mut journey.segments {
                let mut flown = segments_of(&before);
                let same = flown.find(|(_, known)| is_same_segment(known, segment));
                segment_ids.push(match same {
                    Some((id, known)) => {
                        keep_known_data(segment, known);
                        id.clone()
                    }
                    None => self.allocate_id(SegmentId::of),
                });
            }
            if let Some(BookedJourney { journey: known, .. }) = known {
                keep_known(&mut journey.fare_brand, &known.fare_brand);
                journey.fare_conditions =
                    with_known_conditions(journey.fare_conditions, known.fare_conditions);
            }
            self.details.journeys.push(BookedJourney {
                id,
                segment_ids,
                journey,
            });
        }
    }

    /// Merges the booking as the supplier reports it. Adds a notification for each new or changed
    /// airline change.
    pub(super) fn merge_supplier_booking(
        &mut self,
        supplier_booking: &FlightSupplierBooking,
        notifications: &mut Notifications,
    ) {
        self.supplier_reference = Some(supplier_booking.supplier_reference.clone());
        if supplier_booking.airline_pnr.is_some() {
            self.details
                .airline_pnr
                .clone_from(&supplier_booking.airline_pnr);
        }
        // The parts of the price in two responses need not add up to the total.
        if supplier_booking.fare.is_some() || supplier_booking.fare_tax.is_some() {
            self.details.fare = supplier_booking.fare;
            self.details.fare_tax = supplier_booking.fare_tax;
            self.details.ticket.fee = supplier_booking.details.fee;
        }
        self.details.ticket.update(supplier_booking.details.clone());
        self.merge_journeys(supplier_booking.journeys.clone());
        for change in &supplier_booking.changes {
            let id = &change.supplier_change_id;
            let mut known = self.details.changes.iter_mut();
            match known.find(|known| known.change.supplier_change_id == *id) {
                Some(known) if known.change == *change => continue,
                Some(known) => known.change = change.clone(),
                None => {
                    let id = self.allocate_id(AirlineChangeId::of);
                    self.details.changes.push(BookedChange {
                        id,
                        change: change.clone(),
                    });
                }
            }
            notifications.push_booking_event(EventType::FlightBookingAirlineChange);
        }
    }
}

fn segments_of(journeys: &[BookedJourney]) -> impl Iterator<Item = (&SegmentId, &Segment)> {
    let journeys = journeys.iter();
    journeys.flat_map(|booked| booked.segment_ids.iter().zip(&booked.journey.segments))
}

/// Adds the conditions that are known and not stated again.
fn with_known_conditions(
    stated: Option<FareConditions>,
    known: Option<FareConditions>,
) -> Option<FareConditions> {
    let (Some(mut stated), Some(known)) = (stated, known) else {
        return stated.or(known);
    };
    if is_default(&stated.refund) {
        stated.refund = known.refund;
    }
    if is_default(&stated.change) {
        stated.change = known.change;
    }
    Some(stated)
}

/// Keeps each value of a segment and of its passengers that is not stated again. A value that
/// belongs to an airport, an airline, an aircraft or a cabin is kept only if that one stays the same.
fn keep_known_data(segment: &mut Segment, known: &Segment) {
    if segment.origin == known.origin {
        keep_known(&mut segment.origin_time_zone, &known.origin_time_zone);
        let terminal = &mut segment.details.origin_terminal;
        keep_known(terminal, &known.details.origin_terminal);
    }
    if segment.destination == known.destination {
        let time_zone = &mut segment.destination_time_zone;
        keep_known(time_zone, &known.destination_time_zone);
        let terminal = &mut segment.details.destination_terminal;
        keep_known(terminal, &known.details.destination_terminal);
    }
    if times(segment) == times(known) {
        keep_known(&mut segment.duration_minutes, &known.duration_minutes);
    }
    if segment.marketing_carrier_code == known.marketing_carrier_code {
        let logo = &mut segment.marketing_carrier_logo_url;
        keep_known(logo, &known.marketing_carrier_logo_url);
    }
    keep_known_operator(segment, known);
    let has_same_aircraft = keep_known_aircraft(segment, known);
    if segment.details.technical_stops.is_empty() && route(segment) == route(known) {
        let stops = &mut segment.details.technical_stops;
        stops.clone_from(&known.details.technical_stops);
    }
    if segment.passengers.is_empty() {
        segment.passengers.clone_from(&known.passengers);
        if !has_same_aircraft {
            for passenger in &mut segment.passengers {
                passenger.details.seat = None;
            }
        }
    }
    for passenger in &mut segment.passengers {
        let mut same = known.passengers.iter();
        let same = same.find(|known| known.passenger == passenger.passenger);
        if let Some(same) = same {
            keep_known_passenger(passenger, same, has_same_aircraft);
        }
    }
}

fn route(segment: &Segment) -> [&str; 3] {
    [
        &segment.origin,
        &segment.destination,
        &segment.marketing_flight,
    ]
}

fn times(segment: &Segment) -> [&str; 4] {
    [
        &segment.origin,
        &segment.departure_time,
        &segment.destination,
        &segment.arrival_time,
    ]
}

fn keep_known_operator(segment: &mut Segment, known: &Segment) {
    let (stated, details) = (&mut segment.details, &known.details);
    let code = is_unchanged(
        &stated.operating_carrier_code,
        &details.operating_carrier_code,
    );
    let name = is_unchanged(&segment.operating_carrier, &known.operating_carrier);
    // A code may be compared with the known flight number, which begins with one.
    let is_code_of_flight = || {
        let code = stated.operating_carrier_code.as_deref();
        let flight = details.operating_flight.as_deref();
        code.zip(flight)
            .is_some_and(|(code, flight)| flight.starts_with(code))
    };
    let is_silent = stated.operating_carrier_code.is_none() && segment.operating_carrier.is_none();
    if !code
        .or(name)
        .unwrap_or_else(|| is_silent || is_code_of_flight())
    {
        return;
    }
    keep_known(&mut segment.operating_carrier, &known.operating_carrier);
    let logo = &mut segment.operating_carrier_logo_url;
    keep_known(logo, &known.operating_carrier_logo_url);
    let code = &mut stated.operating_carrier_code;
    keep_known(code, &details.operating_carrier_code);
    keep_known(&mut stated.operating_flight, &details.operating_flight);
}

/// Returns whether the aircraft may be the same.
fn keep_known_aircraft(segment: &mut Segment, known: &Segment) -> bool {
    let (stated, known) = (&mut segment.details, &known.details);
    let code = is_unchanged(&stated.aircraft_code, &known.aircraft_code);
    let name = is_unchanged(&stated.aircraft, &known.aircraft);
    let is_silent = stated.aircraft.is_none() && stated.aircraft_code.is_none();
    let is_first = known.aircraft.is_none() && known.aircraft_code.is_none();
    let is_same = code.or(name).unwrap_or(is_silent || is_first);
    if is_same {
        keep_known(&mut stated.aircraft, &known.aircraft);
        keep_known(&mut stated.aircraft_code, &known.aircraft_code);
    }
    is_same
}

fn keep_known_passenger(
    passenger: &mut SegmentPassenger,
    known: &SegmentPassenger,
    has_same_aircraft: bool,
) {
    if passenger.cabin != known.cabin {
        return;
    }
    keep_known(&mut passenger.cabin_name, &known.cabin_name);
    let (stated, details) = (&mut passenger.details, &known.details);
    keep_known(&mut stated.fare_basis_code, &details.fare_basis_code);
    if has_same_aircraft {
        keep_known(&mut stated.seat, &details.seat);
    }
    // The bags of a type are kept if neither the list nor the number of pieces states others.
    let counts = |baggage_type| match baggage_type {
        BaggageType::Checked => (passenger.checked_bags, known.checked_bags),
        BaggageType::CarryOn => (passenger.carry_on_bags, known.carry_on_bags),
    };
    let listed: Vec<BaggageType> = stated.baggage.iter().map(|bag| bag.baggage_type).collect();
    let is_kept = |bag: &&BagAllowance| {
        let (count, known) = counts(bag.baggage_type);
        count.is_none_or(|count| Some(count) == known) && !listed.contains(&bag.baggage_type)
    };
    let kept = details.baggage.iter().filter(is_kept).copied();
    stated.baggage.extend(kept);
    if !listed.contains(&BaggageType::Checked) {
        keep_known(&mut passenger.checked_bags, &known.checked_bags);
    }
    if !listed.contains(&BaggageType::CarryOn) {
        keep_known(&mut passenger.carry_on_bags, &known.carry_on_bags);
    }
}

/// Returns whether two values are the same, or `None` if one of them is not stated.
fn is_unchanged<T: PartialEq>(stated: &Option<T>, known: &Option<T>) -> Option<bool> {
    Some(stated.as_ref()? == known.as_ref()?)
}

fn keep_known<T: Clone>(stated: &mut Option<T>, known: &Option<T>) {
    if stated.is_none() {
        stated.clone_from(known);
    }
}

fn is_same_segment(known: &Segment, segment: &Segment) -> bool {
    if !segment.supplier_segment_id.is_empty() && !known.supplier_segment_id.is_empty() {
        return known.supplier_segment_id == segment.supplier_segment_id;
    }
    let flight = |s: &Segment| {
        (
            s.origin.clone(),
            s.destination.clone(),
            s.marketing_flight.clone(),
            s.departure_time.get(..10).map(str::to_owned),
        )
    };
    flight(known) == flight(segment)
}
