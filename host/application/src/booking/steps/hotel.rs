//! The steps of a hotel booking.

use crate::booking::aggregate::{
    BookingAggregate, ChangeResponse, ChangeStep, FailureTexts, LookupResponse, PreparedChange,
    SupplierResponse, SupplierTarget,
};
use crate::booking::execution::request_digest;
use crate::booking::interpret::{InterpretContext, Interpretation};
use crate::id_generator::IdGenerator;
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{BookingEvent, BookingState, Notification};
use host_domain::hotel::Guest;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails, HotelEvent, HotelStep};
use host_domain::hotel::supplier_api::{
    HotelBookRequest, HotelCancelRequest, HotelFindExpectation, HotelSupplierBooking,
    RoomReference, SupplierRoom,
};
use host_domain::id::{CancellationId, EventId, RefundId};
use host_domain::money::Money;
use host_domain::supplier::{FindRequest, SupplierBookingStatus};
use host_domain::time::Timestamp;
use host_resources::event;

#[derive(Debug, Clone)]
pub enum HotelChangeRequest {
    Book(HotelBookRequest),
    Cancel(HotelCancelRequest),
}

impl BookingAggregate for HotelBookingDetails {
    const JOB_KIND: &'static str = "hotel_booking";
    const TEXTS: FailureTexts = FailureTexts {
        prebook_failed: "The supplier did not bind the offer.",
        sold_out: "The supplier has no room left.",
    };
    const CAN_CANCEL_PARTIALLY: bool = true;

    type ChangeRequest = HotelChangeRequest;

    fn prepare_change(
        booking: &HotelBooking,
        step: ChangeStep<'_, HotelStep>,
        next_at: Timestamp,
    ) -> Option<PreparedChange<Self>> {
        Some(match step {
            ChangeStep::Cancel => {
                let request = cancel_request(booking)?;
                PreparedChange {
                    intent: BookingEvent::CancelSent { next_at },
                    client_reference: request.client_reference.clone(),
                    digest: request_digest(&request),
                    request: HotelChangeRequest::Cancel(request),
                }
            }
            ChangeStep::Kind(step) => match *step {},
            ChangeStep::Book => {
                let request = book_request(booking);
                PreparedChange {
                    intent: BookingEvent::BookSent { next_at },
                    client_reference: request.client_reference.clone(),
                    digest: request_digest(&request),
                    request: HotelChangeRequest::Book(request),
                }
            }
        })
    }

    fn send_change<'a>(
        booking: &'a HotelBooking,
        request: HotelChangeRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, ChangeResponse<Self>> {
        match request {
            HotelChangeRequest::Book(request) => {
                call.supplier.book_hotel(call.context, request).boxed()
            }
            HotelChangeRequest::Cancel(request) => {
                let currency = booking.details.total.currency;
                let response = call.supplier.cancel_hotel(call.context, request, currency);
                response.boxed()
            }
        }
    }

    fn find<'a>(
        booking: &HotelBooking,
        request: FindRequest,
        call: SupplierTarget<'a>,
    ) -> BoxFuture<'a, LookupResponse<Self>> {
        let expected = find_expectation(booking);
        let supplier = call.supplier;
        let response = supplier.find_hotel_booking(call.context, request, expected);
        response.boxed()
    }

    fn reconciled_step(step: &HotelStep) -> Option<HotelStep> {
        match *step {}
    }

    fn interpret_kind_step(
        _booking: &HotelBooking,
        step: &HotelStep,
        _response: SupplierResponse<Self>,
        _context: &InterpretContext<'_>,
    ) -> Interpretation<BookingEvent<Self>> {
        match *step {}
    }

    fn is_canceled_as_requested(
        booking: &HotelBooking,
        supplier_booking: &HotelSupplierBooking,
    ) -> bool {
        match supplier_booking.status {
            SupplierBookingStatus::Canceled => true,
            SupplierBookingStatus::PartiallyCanceled => {
                are_rooms_released(booking, supplier_booking)
            }
            SupplierBookingStatus::Confirmed
            | SupplierBookingStatus::Pending
            | SupplierBookingStatus::CancelPending
            | SupplierBookingStatus::Failed(_) => false,
        }
    }

    fn cancel_succeeded_event(
        supplier_booking: Box<HotelSupplierBooking>,
        ids: &dyn IdGenerator,
    ) -> HotelEvent {
        HotelEvent::CancelSucceeded {
            supplier_booking,
            refund: RefundId::from_bits(ids.generate()),
        }
    }

    fn refreshed_event(
        supplier_booking: Box<HotelSupplierBooking>,
        change_reported_at: Timestamp,
        ids: &dyn IdGenerator,
    ) -> HotelEvent {
        HotelEvent::Refreshed {
            supplier_booking,
            change_reported_at,
            cancellation: CancellationId::from_bits(ids.generate()),
            refund: RefundId::from_bits(ids.generate()),
        }
    }

    fn resolved_kind_event(
        step: &HotelStep,
        _resolved: Option<Box<HotelSupplierBooking>>,
    ) -> HotelEvent {
        match *step {}
    }

    fn resolved_booking(
        booking: &HotelBooking,
        supplier_reference: &str,
        status: SupplierBookingStatus,
    ) -> HotelSupplierBooking {
        let (status, rooms) = match status {
            SupplierBookingStatus::Canceled => rooms_after_cancellation(booking),
            status @ (SupplierBookingStatus::Confirmed
            | SupplierBookingStatus::Pending
            | SupplierBookingStatus::PartiallyCanceled
            | SupplierBookingStatus::CancelPending
            | SupplierBookingStatus::Failed(_)) => (status, Vec::new()),
        };
        HotelSupplierBooking {
            status,
            supplier_reference: supplier_reference.to_owned(),
            client_reference: Some(booking.id.to_string()),
            total: booking.details.total,
            hotel_confirmation_code: booking.details.hotel_confirmation_code.clone(),
            remarks: booking.details.hotel_remarks.clone(),
            rooms,
            policy: booking.details.policy.clone(),
            cancellation: None,
            has_unreadable_amounts: false,
        }
    }

    fn undecided_refunds(booking: &HotelBooking) -> Vec<String> {
        let undecided = booking.details.undecided_cancellations();
        undecided
            .map(|cancellation| booking.cancellation_client_reference(&cancellation.id))
            .collect()
    }

    fn refund_decided_event(
        booking: &HotelBooking,
        client_reference: &str,
        amount: Money,
        ids: &dyn IdGenerator,
    ) -> Option<HotelEvent> {
        let mut undecided = booking.details.undecided_cancellations();
        let cancellation = undecided.find(|cancellation| {
            booking.cancellation_client_reference(&cancellation.id) == client_reference
        })?;
        Some(HotelEvent::RefundDecided {
            cancellation: cancellation.id.clone(),
            amount,
            refund: RefundId::from_bits(ids.generate()),
        })
    }

    fn event_payload(booking: &HotelBooking, id: &EventId, notification: &Notification) -> String {
        event::hotel_event_payload(id, notification, booking)
    }
}

fn book_request(booking: &HotelBooking) -> HotelBookRequest {
    let details = &booking.details;
    HotelBookRequest {
        client_reference: booking.id.to_string(),
        supplier_prebook: booking.supplier_prebook.clone().unwrap_or_default(),
        supplier_hotel_id: details.hotel.supplier_hotel_id.clone(),
        stay: details.stay.clone(),
        total: details.total,
        contact: details.contact.clone(),
        rooms: guests_by_room(booking),
    }
}

/// Returns what a lookup must find. While the booking is being booked, this is what the response to
/// `book` must have.
fn find_expectation(booking: &HotelBooking) -> HotelFindExpectation {
    let is_being_booked = matches!(booking.state, BookingState::CompleteInProgress { .. });
    HotelFindExpectation {
        currency: booking.lookup_currency(),
        rooms: is_being_booked.then_some(booking.details.rooms.len()),
    }
}

pub fn guests_by_room(booking: &HotelBooking) -> Vec<Vec<Guest>> {
    let rooms = booking.details.rooms.iter();
    rooms
        .map(|room| room.guests.iter().map(|(_, guest)| guest.clone()).collect())
        .collect()
}

pub fn cancel_request(booking: &HotelBooking) -> Option<HotelCancelRequest> {
    let cancellation = booking.details.open_cancellation()?;
    let rooms = booking.details.rooms.iter().enumerate();
    let rooms = rooms
        .filter(|(_, room)| cancellation.is_partial && cancellation.room_ids.contains(&room.id));
    let rooms = rooms.filter_map(|(position, room)| {
        Some(RoomReference {
            position: u8::try_from(position).ok()?,
            supplier_room_reference: room.supplier_reference.clone(),
        })
    });
    Some(HotelCancelRequest {
        client_reference: booking.cancellation_client_reference(&cancellation.id),
        booking_client_reference: booking.id.to_string(),
        supplier_reference: booking.supplier_reference.clone()?,
        rooms: rooms.collect(),
    })
}

/// Returns status and rooms of the booking at the supplier if the current cancellation was executed
/// as requested.
fn rooms_after_cancellation(booking: &HotelBooking) -> (SupplierBookingStatus, Vec<SupplierRoom>) {
    let current = booking.details.open_cancellation();
    let rooms = (0..).zip(&booking.details.rooms);
    let rooms = rooms.map(|(position, room)| SupplierRoom {
        position,
        supplier_room_reference: room.supplier_reference.clone(),
        hotel_confirmation_code: room.hotel_confirmation_code.clone(),
        canceled: room.canceled_at.is_some()
            || current.is_some_and(|cancellation| cancellation.room_ids.contains(&room.id)),
    });
    let rooms: Vec<SupplierRoom> = rooms.collect();
    let status = match rooms.iter().all(|room| room.canceled) {
        true => SupplierBookingStatus::Canceled,
        false => SupplierBookingStatus::PartiallyCanceled,
    };
    (status, rooms)
}

/// Returns whether every room that is being cancelled is cancelled at the supplier.
fn are_rooms_released(booking: &HotelBooking, supplier_booking: &HotelSupplierBooking) -> bool {
    let Some(cancellation) = booking.details.open_cancellation() else {
        return false;
    };
    let mut rooms = booking.details.rooms.iter().enumerate();
    rooms.all(|(position, room)| {
        !cancellation.room_ids.contains(&room.id) || supplier_booking.is_room_canceled(position)
    })
}
