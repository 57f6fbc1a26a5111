//! The display texts of prebooked fares and tickets. References, most codes and names of time zones
//! are not among them; a code of unlimited length is kept whole or left out. Patterns name every
//! field, so that the compiler reports a new one.

use crate::convert::display_texts::DisplayTexts;
use host_domain::flight::supplier_api::{FlightPrebookResponse, FlightSupplierBooking};
use host_domain::flight::{
    Journey, Seat, Segment, SegmentDetails, SegmentPassengerDetails, TicketDetails,
};

pub(super) fn prebook_texts(prebook: &mut FlightPrebookResponse) -> DisplayTexts<'_> {
    let FlightPrebookResponse {
        journeys,
        details,
        supplier_prebook: _,
        total: _,
        fare: _,
        fare_tax: _,
        fare_conditions: _,
        documents_required: _,
        expires_at: _,
        checkout: _,
    } = prebook;
    let mut texts = DisplayTexts::default();
    for journey in journeys {
        add_journey(&mut texts, journey);
    }
    add_ticket(&mut texts, details);
    texts
}

pub(super) fn booking_texts(booking: &mut FlightSupplierBooking) -> DisplayTexts<'_> {
    let FlightSupplierBooking {
        journeys,
        changes,
        details,
        status: _,
        supplier_reference: _,
        client_reference: _,
        airline_pnr: _,
        total: _,
        fare: _,
        fare_tax: _,
        services: _,
        has_unreadable_services: _,
        cancellation: _,
        has_unreadable_amounts: _,
    } = booking;
    let mut texts = DisplayTexts::default();
    for journey in journeys.iter_mut().flatten() {
        add_journey(&mut texts, journey);
    }
    for change in changes {
        for segment in &mut change.removed_segments {
            add_segment(&mut texts, segment);
        }
        for segment in &mut change.added_segments {
            add_segment(&mut texts, segment);
        }
    }
    add_ticket(&mut texts, details);
    texts
}

/// Adds the texts that a booking stores. It does not store services that are only on offer.
fn add_ticket<'a>(texts: &mut DisplayTexts<'a>, ticket: &'a mut TicketDetails) {
    let TicketDetails {
        record_locators,
        services,
        fee: _,
        payment_terms: _,
        payment_status: _,
        documents: _,
        attachable_services: _,
    } = ticket;
    for locator in record_locators {
        texts.add(&mut locator.carrier);
    }
    for service in services {
        texts.add(&mut service.name);
        add_seat(texts, service.seat.as_mut());
    }
}

fn add_journey<'a>(texts: &mut DisplayTexts<'a>, journey: &'a mut Journey) {
    texts.add(&mut journey.fare_brand);
    for segment in &mut journey.segments {
        add_segment(texts, segment);
    }
}

fn add_segment<'a>(texts: &mut DisplayTexts<'a>, segment: &'a mut Segment) {
    let Segment {
        marketing_carrier,
        marketing_carrier_logo_url,
        operating_carrier,
        operating_carrier_logo_url,
        passengers,
        details,
        supplier_segment_id: _,
        origin: _,
        destination: _,
        departure_time: _,
        arrival_time: _,
        origin_time_zone: _,
        destination_time_zone: _,
        marketing_flight: _,
        marketing_carrier_code: _,
        duration_minutes: _,
        cabin: _,
    } = segment;
    let SegmentDetails {
        origin_terminal,
        destination_terminal,
        operating_flight,
        aircraft,
        aircraft_code,
        operating_carrier_code: _,
        technical_stops: _,
    } = details;
    texts.add([marketing_carrier]);
    texts.add(operating_carrier);
    texts.add_whole(marketing_carrier_logo_url);
    texts.add_whole(operating_carrier_logo_url);
    let lines = [origin_terminal, destination_terminal, aircraft];
    texts.add(lines.into_iter().flatten());
    texts.add_whole(operating_flight);
    texts.add_whole(aircraft_code);
    for passenger in passengers {
        let SegmentPassengerDetails {
            fare_basis_code,
            seat,
            baggage: _,
        } = &mut passenger.details;
        texts.add(&mut passenger.cabin_name);
        texts.add_whole(fare_basis_code);
        add_seat(texts, seat.as_mut());
    }
}

fn add_seat<'a>(texts: &mut DisplayTexts<'a>, seat: Option<&'a mut Seat>) {
    if let Some(seat) = seat {
        texts.add(&mut seat.name);
        texts.add(&mut seat.disclosures);
    }
}
