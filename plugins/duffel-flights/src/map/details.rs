//! Details for the traveller: terminals, aircraft, seats, documents, and terms of payment. None of
//! them is needed to sell or to read a booking, so a value that cannot be read is left out.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, non_empty};
use stopover_sdk::lenient::{LenientList, LenientNumber};
use stopover_sdk::time;
use stopover_sdk::types::flight_details::{
    Bag, JourneyDetails, LocatorSystem, PaymentStatus, PaymentTerms, RecordLocator, Seat,
    SegmentDetails, SegmentPassengerDetails, ServiceDetails, Stop, TicketDocument,
    TicketDocumentType,
};

use crate::map::itinerary::{fare_conditions, positions};
use crate::map::passenger::PassengerIds;
use crate::map::service::{baggage_type, whole_number};
use crate::wire::itinerary::{self as wire, Carrier, Conditions, Segment, Slice};
use crate::wire::offer::PaymentRequirements;
use crate::wire::order::{self, Document};
use crate::wire::service::{Service, ServiceMetadata};
use crate::wire::{OptionalText, Part};

/// Returns the details of each slice and each of its segments.
pub(crate) fn journeys(slices: &[Slice], ids: &PassengerIds) -> Vec<JourneyDetails> {
    let segments = |slice: &Slice| slice.segments.iter().map(|one| segment(one, ids)).collect();
    let journey = |slice: &Slice| JourneyDetails {
        fare_conditions: slice.conditions.as_decoded().and_then(slice_conditions),
        segments: segments(slice),
    };
    slices.iter().map(journey).collect()
}

/// Returns the conditions of a slice, or `None` if the airline states none for it alone.
fn slice_conditions(
    conditions: &Conditions,
) -> Option<stopover_sdk::types::flight::FareConditions> {
    let conditions = fare_conditions(Some(conditions));
    let is_known = conditions.refund.allowed.or(conditions.change.allowed);
    is_known.map(|_| conditions)
}

fn segment(segment: &Segment, ids: &PassengerIds) -> SegmentDetails {
    let carrier = non_empty(segment.operating_carrier.iata_code.clone());
    let number = segment.operating_carrier_flight_number.as_deref();
    let operating_flight = carrier.as_deref().zip(number);
    let aircraft = segment.aircraft.as_decoded();
    let places = positions(&segment.passengers, ids).into_iter();
    let passengers = places.zip(&segment.passengers);
    SegmentDetails {
        origin_terminal: segment.origin_terminal.to_option(),
        destination_terminal: segment.destination_terminal.to_option(),
        operating_flight: operating_flight.map(|(carrier, number)| format!("{carrier}{number}")),
        operating_carrier_code: carrier,
        aircraft: aircraft.and_then(|aircraft| aircraft.name.to_option()),
        aircraft_code: aircraft.and_then(|aircraft| aircraft.iata_code.to_option()),
        technical_stops: segment.stops.iter().map(stop).collect(),
        passengers: passengers
            .filter_map(|(place, passenger)| segment_passenger(place?, passenger))
            .collect(),
    }
}

fn stop(stop: &wire::Stop) -> Stop {
    let local = |text: &OptionalText| text.as_deref().and_then(time::parse_local_time);
    Stop {
        airport: stop.airport.iata_code.clone(),
        arrival_time: local(&stop.arriving_at),
        departure_time: local(&stop.departing_at),
    }
}

/// Returns the details of a passenger on a segment, or `None` if Duffel states none.
fn segment_passenger(
    place: u8,
    passenger: &wire::SegmentPassenger,
) -> Option<SegmentPassengerDetails> {
    let details = SegmentPassengerDetails {
        fare_basis_code: passenger.fare_basis_code.to_option(),
        seat: passenger.seat.as_decoded().and_then(|seat| {
            let disclosures = seat.disclosures.as_decoded();
            self::seat(&seat.designator, &seat.name, disclosures)
        }),
        ..SegmentPassengerDetails::new(place)
    };
    let is_known = details.fare_basis_code.is_some() || details.seat.is_some();
    is_known.then_some(details)
}

fn seat(
    designator: &OptionalText,
    name: &OptionalText,
    disclosures: Option<&Vec<OptionalText>>,
) -> Option<Seat> {
    let disclosures = disclosures.into_iter().flatten();
    Some(Seat {
        name: name.to_option(),
        disclosures: disclosures.filter_map(OptionalText::to_option).collect(),
        ..Seat::new(designator.as_deref()?)
    })
}

/// Returns when an offer must be paid. Returns `None` if Duffel does not say whether at once. Only an offer
/// that need not be paid at once has a deadline for its payment.
pub(crate) fn payment_terms(requirements: &Part<PaymentRequirements>) -> Option<PaymentTerms> {
    let requirements = requirements.as_decoded()?;
    let payment_required_by = timestamp(&requirements.payment_required_by);
    let is_held = payment_required_by.map(|_| false);
    Some(PaymentTerms {
        instant_payment_required: requirements.requires_instant_payment.0.or(is_held)?,
        payment_required_by,
        price_guaranteed_until: timestamp(&requirements.price_guarantee_expires_at),
    })
}

/// Returns whether an order is paid, and the terms while it is held without payment.
pub(crate) fn payment_status(status: &order::PaymentStatus) -> PaymentStatus {
    PaymentStatus {
        awaiting_payment: status.awaiting_payment.value() == Some(&true),
        payment_required_by: timestamp(&status.payment_required_by),
        price_guaranteed_until: timestamp(&status.price_guarantee_expires_at),
    }
}

fn timestamp(text: &OptionalText) -> Option<stopover_sdk::types::TimestampMs> {
    text.as_deref().and_then(time::parse_timestamp)
}

/// Returns the airline's record locator, with the airline that issues the tickets.
pub(crate) fn record_locators(locator: &OptionalText, owner: Part<Carrier>) -> Vec<RecordLocator> {
    let owner = owner.decoded().unwrap_or_default();
    let locator = locator.to_option().map(|locator| RecordLocator {
        locator,
        system: LocatorSystem::Airline,
        carrier_code: non_empty(owner.iata_code),
        carrier: non_empty(owner.name),
    });
    locator.into_iter().collect()
}

/// Converts the documents that the airline issued.
pub(crate) fn documents(
    written: Part<LenientList<Document>>,
    ids: &PassengerIds,
    dropped: &mut DroppedItems,
) -> Vec<TicketDocument> {
    const POINTER: &str = "/documents";
    let written = dropped.readable_part(format_args!("{POINTER}"), written);
    let written = dropped.readable(format_args!("{POINTER}"), written.unwrap_or_default());
    let mut documents = Vec::new();
    for (at, document) in written {
        let document = ticket_document(document, ids);
        documents.extend(dropped.keep(format_args!("{POINTER}/{at}"), document));
    }
    documents
}

/// Converts a document.
///
/// # Errors
/// It has no number.
fn ticket_document(document: Document, ids: &PassengerIds) -> Result<TicketDocument, DecodeError> {
    let number = document.unique_identifier.into_option();
    let passengers = document.passenger_ids.decoded().unwrap_or_default();
    Ok(TicketDocument {
        document_type: match document.kind.as_str() {
            "electronic_ticket" => TicketDocumentType::ElectronicTicket,
            "electronic_miscellaneous_document_associated" => {
                TicketDocumentType::ElectronicMiscellaneousDocumentAssociated
            }
            "electronic_miscellaneous_document_standalone" => {
                TicketDocumentType::ElectronicMiscellaneousDocumentStandalone
            }
            _ => TicketDocumentType::Other,
        },
        number: number.ok_or_else(|| DecodeError::missing("a document has no number"))?,
        passengers: passengers
            .iter()
            .filter_map(|id| ids.position(id.as_str()))
            .collect(),
    })
}

/// Returns the details of a service of an order, or `None` if Duffel states none.
pub(crate) fn service(service: &Service) -> Option<ServiceDetails> {
    let metadata = service.metadata.as_decoded()?;
    let (bag, seat) = match service.kind.as_str() {
        "baggage" => (bag(metadata), None),
        "seat" => {
            let disclosures = metadata.disclosures.as_decoded();
            let seat = seat(&metadata.designator, &metadata.name, disclosures);
            (None, seat)
        }
        _ => (None, None),
    };
    let name = metadata.name.to_option();
    let is_known = name.is_some() || bag.is_some() || seat.is_some();
    is_known.then(|| ServiceDetails {
        supplier_service_id: service.id.clone(),
        name,
        seat,
        bag,
    })
}

/// Returns a bag with its limits. Duffel's depth is the width.
fn bag(metadata: &ServiceMetadata) -> Option<Bag> {
    let limit = |number: LenientNumber| number.0.and_then(whole_number);
    Some(Bag {
        max_weight_kg: limit(metadata.maximum_weight_kg),
        max_length_cm: limit(metadata.maximum_length_cm),
        max_width_cm: limit(metadata.maximum_depth_cm),
        max_height_cm: limit(metadata.maximum_height_cm),
        ..Bag::new(baggage_type(metadata)?)
    })
}
