//! Merges data of a supplier's booking into the stored booking: journeys keep their ids, and airline
//! changes are recorded once.

use crate::booking::Notifications;
use crate::event::EventType;
use crate::flight::booking::{BookedChange, BookedJourney, FlightBooking};
use crate::flight::details::is_default;
use crate::flight::itinerary::{Journey, Segment};
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
    /// segment of the same flight keeps its id, and details that are not stated again.
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
                journey.fare_brand = journey.fare_brand.or_else(|| known.fare_brand.clone());
                journey.fare_conditions = journey.fare_conditions.or(known.fare_conditions);
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

/// Keeps what is known of a segment and of its passengers and is not stated again.
fn keep_known_data(segment: &mut Segment, known: &Segment) {
    if is_default(&segment.details) {
        segment.details.clone_from(&known.details);
    }
    if segment.passengers.is_empty() {
        segment.passengers.clone_from(&known.passengers);
    }
    for passenger in &mut segment.passengers {
        let mut same = known.passengers.iter();
        let same = same.find(|known| known.passenger == passenger.passenger);
        if let Some(same) = same
            && is_default(&passenger.details)
        {
            passenger.details.clone_from(&same.details);
        }
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
