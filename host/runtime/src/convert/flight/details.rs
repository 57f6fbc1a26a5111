//! Conversion of what version 1.1 adds to offers, prebooks and bookings. Invalid details are left out
//! and recorded; they never make a response invalid.

use super::itinerary::{PASSENGERS_MAX, fare_conditions, passenger_index};
use super::texts::{booking_texts, prebook_texts};
use super::{
    BAG_KG_MAX, BookingExpectation, SERVICES_MAX, baggage_type, bound_fare, priced_offers,
    requested_booking, segment_ids, service_type,
};
use crate::bindings::v1_1::exports::stopover::supplier::{
    detailed_flight_booking as flight_booking, detailed_flight_pricing as flight_pricing,
};
use crate::bindings::v1_1::stopover::supplier::flight_details as wire;
use crate::convert::dropped::DroppedItems;
use crate::convert::{
    ConvertResult, PrebookExpectation, display_list, invalid, list, local_time,
    money_with_currency, optional, optional_instant, optional_money, same_variant, text, valid_if,
};
use host_domain::flight::supplier_api::{
    FlightPrebookResponse, FlightPriceRequest, FlightPriceResponse, FlightSupplierBooking,
};
use host_domain::flight::{
    AttachableService, BagAllowance, FlightOfferDetails, Journey, LocatorSystem, PaymentTerms,
    RecordLocator, Seat, SeatPosition, Segment, SegmentDetails, SegmentPassengerDetails,
    ServiceDetails, TechnicalStop, TicketDetails, TicketDocument, TicketDocumentType,
    TicketPaymentStatus,
};
use host_domain::money::{Currency, Money};
use host_domain::supplier::BookingLookup;
use host_domain::time::Timestamp;
use std::collections::HashSet;

/// Maximum number of technical stops of a segment, of bags of a passenger on a segment, and of
/// disclosures of a seat.
const ITEMS_MAX: usize = 10;
/// Maximum number of details of passengers in all segments together. More would make an offer or a
/// booking needlessly large.
const PASSENGER_DETAILS_MAX: usize = 1_000;
const RECORD_LOCATORS_MAX: usize = 20;
const DOCUMENTS_MAX: usize = 200;
/// Maximum accepted side of a bag, far above what an airline carries.
const BAG_CM_MAX: u32 = 1_000;

pub(crate) fn detailed_price_response(
    response: flight_pricing::DetailedPriceResponse,
    request: &FlightPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightPriceResponse> {
    let split = |found: flight_pricing::DetailedOffer| (found.offer, Some(found.details));
    Ok(FlightPriceResponse {
        offers: priced_offers(response.offers, request, now, dropped, split)?,
        applied: super::applied(response.applied),
        truncated: response.truncated,
    })
}

pub(crate) fn detailed_prebook_response(
    response: flight_booking::DetailedPrebookResponse,
    expected: PrebookExpectation,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightPrebookResponse> {
    let mut prebook = bound_fare(response.prebook, expected, passengers, dropped)?;
    let details = response.details;
    add_journey_details(
        details.journeys,
        prebook.journeys.iter_mut().map(Some),
        dropped,
    );
    let price = price_breakdown(&details.price, expected.currency, dropped);
    prebook.fare = prebook.fare.or(price.fare);
    prebook.fare_tax = prebook.fare_tax.or(price.fare_tax);
    prebook.details = TicketDetails {
        fee: price.fee,
        payment_terms: payment_terms(details.payment_terms, dropped),
        attachable_services: dropped.keep_valid(
            "details.services",
            details.services,
            SERVICES_MAX,
            |service| attachable_service(service, passengers),
        ),
        ..TicketDetails::default()
    };
    prebook_texts(&mut prebook).fit(dropped);
    Ok(prebook)
}

pub(crate) fn detailed_booking(
    state: flight_booking::DetailedBooking,
    expected: &BookingExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightSupplierBooking> {
    let mut booking = requested_booking(state.booking, expected, dropped)?;
    let details = state.details;
    add_journey_details(
        details.journeys,
        booking.journeys.iter_mut().map(Option::as_mut),
        dropped,
    );
    let price = price_breakdown(&details.price, booking.total.currency, dropped);
    booking.fare = booking.fare.or(price.fare);
    booking.fare_tax = booking.fare_tax.or(price.fare_tax);
    booking.has_unreadable_services |= details.services_left_out;
    let services = booking.services.iter();
    let mut undetailed: HashSet<&str> = services
        .map(|service| service.supplier_service_id.as_str())
        .collect();
    booking.details = TicketDetails {
        fee: price.fee,
        payment_status: payment_status(details.payment_status, dropped),
        record_locators: dropped.keep_valid(
            "details.record-locators",
            details.record_locators,
            RECORD_LOCATORS_MAX,
            record_locator,
        ),
        documents: dropped.keep_valid(
            "details.documents",
            details.documents,
            DOCUMENTS_MAX,
            |document| ticket_document(document, expected.passengers),
        ),
        services: dropped.keep_valid(
            "details.services",
            details.services,
            SERVICES_MAX,
            |service| service_details(service, &mut undetailed),
        ),
        ..TicketDetails::default()
    };
    booking_texts(&mut booking).fit(dropped);
    Ok(booking)
}

pub(crate) fn detailed_booking_lookup(
    lookup: flight_booking::DetailedBookingLookup,
    expected: &BookingExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<BookingLookup<FlightSupplierBooking>> {
    Ok(match lookup {
        flight_booking::DetailedBookingLookup::Found(state) => {
            BookingLookup::Found(Box::new(detailed_booking(state, expected, dropped)?))
        }
        flight_booking::DetailedBookingLookup::NotFound => BookingLookup::NotFound,
    })
}

/// Adds details to the journeys of an offer, and returns those of the whole offer.
pub(super) fn add_offer_details(
    details: wire::OfferDetails,
    currency: Currency,
    journeys: &mut [Journey],
    dropped: &mut DroppedItems,
) -> FlightOfferDetails {
    add_journey_details(details.journeys, journeys.iter_mut().map(Some), dropped);
    FlightOfferDetails {
        payment_terms: payment_terms(details.payment_terms, dropped),
        ..price_breakdown(&details.price, currency, dropped)
    }
}

/// Converts the parts of a price, without terms of payment.
fn price_breakdown(
    price: &wire::PriceBreakdown,
    currency: Currency,
    dropped: &mut DroppedItems,
) -> FlightOfferDetails {
    let mut part = |field, minor| -> Option<Money> {
        dropped
            .keep(optional_money(field, minor, currency))
            .flatten()
    };
    FlightOfferDetails {
        fare: part("details.price.fare", price.fare),
        fare_tax: part("details.price.fare-tax", price.fare_tax),
        fee: part("details.price.fee", price.fee),
        payment_terms: None,
    }
}

fn payment_terms(
    terms: Option<wire::PaymentTerms>,
    dropped: &mut DroppedItems,
) -> Option<PaymentTerms> {
    let terms = terms?;
    Some(PaymentTerms {
        instant_payment_required: terms.instant_payment_required,
        payment_required_by: payment_deadline(terms.payment_required_by, dropped),
        price_guaranteed_until: price_deadline(terms.price_guaranteed_until, dropped),
    })
}

fn payment_status(
    status: Option<wire::PaymentStatus>,
    dropped: &mut DroppedItems,
) -> Option<TicketPaymentStatus> {
    let status = status?;
    Some(TicketPaymentStatus {
        awaiting_payment: status.awaiting_payment,
        payment_required_by: payment_deadline(status.payment_required_by, dropped),
        price_guaranteed_until: price_deadline(status.price_guaranteed_until, dropped),
    })
}

fn payment_deadline(ms: Option<i64>, dropped: &mut DroppedItems) -> Option<Timestamp> {
    let at = optional_instant("details.payment-required-by", ms);
    dropped.keep(at).flatten()
}

fn price_deadline(ms: Option<i64>, dropped: &mut DroppedItems) -> Option<Timestamp> {
    let at = optional_instant("details.price-guaranteed-until", ms);
    dropped.keep(at).flatten()
}

/// Adds details to journeys, of which `None` is one that could not be converted.
fn add_journey_details<'a>(
    details: Vec<wire::JourneyDetails>,
    journeys: impl ExactSizeIterator<Item = Option<&'a mut Journey>>,
    dropped: &mut DroppedItems,
) {
    let details = one_each("details.journeys", details, journeys.len(), dropped);
    let mut passengers_max = PASSENGER_DETAILS_MAX;
    for (journey, found) in journeys.zip(details) {
        let Some(journey) = journey else { continue };
        let conditions = found.fare_conditions.as_ref();
        journey.fare_conditions = conditions.map(|found| fare_conditions(found, dropped));
        let segments = &mut journey.segments;
        let details = one_each("details.segments", found.segments, segments.len(), dropped);
        for (segment, found) in segments.iter_mut().zip(details) {
            add_segment_details(found, segment, &mut passengers_max, dropped);
        }
    }
}

/// Returns details of which there must be one for each of `count` items, or none.
fn one_each<T>(
    field: &'static str,
    details: Vec<T>,
    count: usize,
    dropped: &mut DroppedItems,
) -> Vec<T> {
    let is_one_each = details.is_empty() || details.len() == count;
    let details = valid_if(is_one_each, details, field, "not one for each");
    dropped.keep(details).unwrap_or_default()
}

fn add_segment_details(
    found: wire::SegmentDetails,
    segment: &mut Segment,
    passengers_max: &mut usize,
    dropped: &mut DroppedItems,
) {
    segment.details = SegmentDetails {
        origin_terminal: line(found.origin_terminal),
        destination_terminal: line(found.destination_terminal),
        operating_carrier_code: text::optional_airline_code(found.operating_carrier_code),
        operating_flight: line(found.operating_flight),
        aircraft: line(found.aircraft),
        aircraft_code: line(found.aircraft_code),
        technical_stops: dropped.keep_valid(
            "details.technical-stops",
            found.technical_stops,
            ITEMS_MAX,
            technical_stop,
        ),
    };
    let field = "details.segments.passengers";
    let items_max = PASSENGERS_MAX.min(*passengers_max);
    let found = dropped.keep_valid(field, found.passengers, items_max, Ok);
    *passengers_max = passengers_max.saturating_sub(found.len());
    for details in found {
        let mut passengers = segment.passengers.iter_mut();
        match passengers.find(|known| known.passenger == details.passenger) {
            Some(passenger) => passenger.details = passenger_details(details, dropped),
            None => {
                let field = "details.segments.passengers.passenger";
                let _: Option<()> = dropped.keep(invalid(field, "not a passenger of the segment"));
            }
        }
    }
}

fn passenger_details(
    found: wire::SegmentPassengerDetails,
    dropped: &mut DroppedItems,
) -> SegmentPassengerDetails {
    let bags = "details.segments.passengers.baggage";
    SegmentPassengerDetails {
        fare_basis_code: line(found.fare_basis_code),
        seat: dropped.keep(optional(found.seat, seat)).flatten(),
        baggage: dropped.keep_valid(bags, found.baggage, ITEMS_MAX, |found| Ok(bag(found))),
    }
}

fn technical_stop(stop: wire::Stop) -> ConvertResult<TechnicalStop> {
    let time = |time| {
        optional(time, |time| {
            local_time("details.technical-stops.time", time)
        })
    };
    Ok(TechnicalStop {
        airport: text::airport_code("details.technical-stops.airport", stop.airport)?,
        arrival_time: time(stop.arrival_time)?,
        departure_time: time(stop.departure_time)?,
    })
}

fn seat(seat: wire::Seat) -> ConvertResult<Seat> {
    Ok(Seat {
        designator: text::reference("details.seat.designator", seat.designator)?,
        name: line(seat.name),
        position: seat.position.map(|position| {
            same_variant!(position, wire::SeatPosition => SeatPosition, [Window, Middle, Aisle])
        }),
        disclosures: display_list(seat.disclosures, ITEMS_MAX, text::display_line),
    })
}

fn bag(bag: wire::Bag) -> BagAllowance {
    let side = |cm: Option<u32>| cm.filter(|cm| *cm <= BAG_CM_MAX);
    BagAllowance {
        baggage_type: baggage_type(bag.baggage_type),
        pieces: bag.pieces,
        max_weight_kg: bag.max_weight_kg.filter(|kg| *kg <= BAG_KG_MAX),
        max_length_cm: side(bag.max_length_cm),
        max_width_cm: side(bag.max_width_cm),
        max_height_cm: side(bag.max_height_cm),
    }
}

fn attachable_service(
    service: wire::AttachableService,
    passengers: usize,
) -> ConvertResult<AttachableService> {
    let field = "details.services.passengers";
    let id = "details.services.supplier-service-id";
    Ok(AttachableService {
        supplier_service_id: text::reference(id, service.supplier_service_id)?,
        service_type: service_type(service.service_type),
        name: line(service.name),
        passengers: list(field, service.passengers, passengers, |at| {
            passenger_index(field, at, passengers)
        })?,
        supplier_segment_ids: segment_ids(service.supplier_segment_ids)?,
        bag: service.bag.map(bag),
        seat: optional(service.seat, seat)?,
        unit_amount: money_with_currency("details.services.unit-amount", &service.unit_amount)?,
        max_quantity: service.max_quantity.filter(|quantity| *quantity > 0),
    })
}

/// Converts the details of a service, and removes it from those without details.
fn service_details(
    service: wire::ServiceDetails,
    undetailed: &mut HashSet<&str>,
) -> ConvertResult<ServiceDetails> {
    let is_first = undetailed.remove(service.supplier_service_id.as_str());
    let id = "details.services.supplier-service-id";
    Ok(ServiceDetails {
        supplier_service_id: valid_if(
            is_first,
            service.supplier_service_id,
            id,
            "not a service of the booking, or repeated",
        )?,
        name: line(service.name),
        seat: optional(service.seat, seat)?,
        bag: service.bag.map(bag),
    })
}

fn record_locator(locator: wire::RecordLocator) -> ConvertResult<RecordLocator> {
    Ok(RecordLocator {
        locator: text::reference("details.record-locators.locator", locator.locator)?,
        system: same_variant!(locator.system, wire::LocatorSystem => LocatorSystem, [
            Airline, DistributionSystem,
        ]),
        carrier_code: text::optional_airline_code(locator.carrier_code),
        carrier: line(locator.carrier),
    })
}

fn ticket_document(
    document: wire::TicketDocument,
    passengers: usize,
) -> ConvertResult<TicketDocument> {
    let field = "details.documents.passengers";
    Ok(TicketDocument {
        document_type: same_variant!(
            document.document_type,
            wire::TicketDocumentType => TicketDocumentType,
            [
                ElectronicTicket, ElectronicMiscellaneousDocumentAssociated,
                ElectronicMiscellaneousDocumentStandalone, Other,
            ]
        ),
        number: text::reference("details.documents.number", document.number)?,
        passengers: list(field, document.passengers, passengers, |at| {
            passenger_index(field, at, passengers)
        })?,
    })
}

fn line(text: Option<String>) -> Option<String> {
    text::optional_display(text, text::LINE_CHARS)
}

#[cfg(test)]
mod tests;
