//! The simulated hotel booking.

use super::actor_action::ActorAction;
use super::external_systems::ExternalSystems;
use super::invariants::Checks;
use super::order::Order;
use super::remote_call::{Call, Request};
use super::scenario::BookingScenario;
use super::simulated_booking::{SimulatedBooking, check_agreement, check_events};
use crate::sample::{contact, euros, stay};
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::steps::hotel::HotelChangeRequest;
use host_application::id_generator::IdGenerator;
use host_domain::booking::{BookingEvent, BookingState};
use host_domain::event::EventType;
use host_domain::hotel::booking::{
    CancellationStatus, HotelBookedState, HotelBooking, HotelBookingDetails, HotelEvent, Room,
};
use host_domain::hotel::supplier_api::{
    HotelCancellationAmounts, HotelOfferDetails, HotelPrebookResponse, HotelSupplierBooking,
    SupplierRoom,
};
use host_domain::hotel::types::{
    Board, CancellationPolicy, HotelSummary, Penalty, RoomDetails, RoomRate,
};
use host_domain::id::{CancellationId, HotelId, RoomId};
use host_domain::supplier::SupplierBookingStatus;
use host_domain::time::{Date, Timestamp};

/// Builds a policy with the same fee at all times.
fn policy(fee: i64) -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: None,
        penalties: vec![Penalty::new(Timestamp(0), euros(fee))],
        restrictions: Vec::new(),
        refund_type: None,
    }
}

fn summary() -> HotelSummary {
    HotelSummary {
        supplier_hotel_id: "H".to_owned(),
        name: "Hotel".to_owned(),
        address: "1 Road".to_owned(),
        location: None,
        time_zone: None,
    }
}

fn room(number: u128, price: i64) -> Room {
    Room {
        id: RoomId::from_bits(number),
        name: "Double".to_owned(),
        board: Board::RoomOnly,
        board_name: "Room only".to_owned(),
        adults: 1,
        children: Vec::new(),
        total: euros(price),
        due_at_property: None,
        policy: None,
        details: RoomDetails::default(),
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: Vec::new(),
    }
}

impl SimulatedBooking for HotelBookingDetails {
    const SUPPLIER: &'static str = "HOTELS";
    const CONFIRMED: EventType = EventType::HotelBookingConfirmed;
    const CANCELED: EventType = EventType::HotelBookingCanceled;

    fn new_details(scenario: &BookingScenario) -> Self {
        let rooms = scenario.rooms.iter().zip(1..);
        Self {
            hotel_id: HotelId::from_bits(1),
            hotel: summary(),
            stay: stay(Date::new(2027, 1, 1).unwrap(), scenario.rooms.len(), 1),
            contact: contact(),
            rooms: rooms
                .map(|((price, _), number)| room(number, *price))
                .collect(),
            total: scenario.offered(),
            policy: None,
            promotions: Vec::new(),
            loyalty: None,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            cancellations: Vec::new(),
        }
    }

    fn prebook_response(scenario: &BookingScenario) -> HotelPrebookResponse {
        let rate = |(price, fee): &(i64, i64)| RoomRate {
            name: "Double".to_owned(),
            board: Board::RoomOnly,
            board_name: "Room only".to_owned(),
            total: euros(*price),
            due_at_property: None,
            policy: policy(*fee),
            details: RoomDetails::default(),
        };
        HotelPrebookResponse {
            supplier_prebook: "prebook".to_owned(),
            total: scenario.offered(),
            hotel: summary(),
            rooms: scenario.rooms.iter().map(rate).collect(),
            policy: policy(scenario.fees()),
            promotions: Vec::new(),
            loyalty: None,
            expires_at: None,
            checkout: None,
            details: HotelOfferDetails::default(),
        }
    }

    fn reported(order: Order) -> HotelSupplierBooking {
        let rooms = order.released.iter().enumerate();
        let rooms = rooms.map(|(at, released)| SupplierRoom {
            position: u8::try_from(at).unwrap(),
            supplier_room_reference: Some(format!("room-{at}")),
            hotel_confirmation_code: None,
            canceled: *released,
        });
        HotelSupplierBooking {
            status: order.status,
            supplier_reference: "order".to_owned(),
            client_reference: None,
            total: order.retained,
            hotel_confirmation_code: None,
            remarks: None,
            rooms: rooms.collect(),
            policy: None,
            has_unreadable_amounts: false,
            cancellation: order.amounts.map(|(fee, refund)| HotelCancellationAmounts {
                fee,
                refund: Some(refund),
                supplier_reference: None,
            }),
        }
    }

    fn simulated_request(request: HotelChangeRequest) -> Request {
        let (reference, call) = match request {
            HotelChangeRequest::Book(request) => (request.client_reference, Call::Book),
            HotelChangeRequest::Cancel(request) => {
                let rooms = request.rooms.iter().map(|room| usize::from(room.position));
                (request.client_reference, Call::Cancel(rooms.collect()))
            }
        };
        Request { reference, call }
    }

    fn requested_event(
        booking: &HotelBooking,
        action: ActorAction,
        random: &Random,
        _scenario: &BookingScenario,
        _now: Timestamp,
    ) -> Option<BookingEvent<Self>> {
        if !matches!(
            booking.state,
            BookingState::Booked(HotelBookedState::Confirmed { .. })
                | BookingState::Booked(HotelBookedState::PartiallyCanceled { .. })
        ) {
            return None;
        }
        let rooms = booking.details.rooms.iter();
        let active = rooms.filter(|room| room.canceled_at.is_none());
        let active: Vec<RoomId> = active.map(|room| room.id.clone()).collect();
        let room_ids = match action {
            ActorAction::Cancel => Vec::new(),
            // The last room that is booked is named like any other.
            ActorAction::CancelRooms if booking.details.rooms.len() > 1 => {
                vec![random.one_of(&active)]
            }
            _ => return None,
        };
        Some(BookingEvent::Kind(HotelEvent::CancelStarted {
            id: CancellationId::from_bits(random.generate()),
            room_ids,
        }))
    }

    fn is_done(booking: &HotelBooking, step: &str, order: Option<&Order>) -> Option<bool> {
        let status = order.map(|order| &order.status);
        match (step, status) {
            (_, Some(SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending))
            // A lookup shows which rooms are booked.
            | ("book", Some(SupplierBookingStatus::PartiallyCanceled)) => None,
            ("book", status) => Some(status == Some(&SupplierBookingStatus::Confirmed)),
            (_, Some(SupplierBookingStatus::Canceled)) => Some(true),
            _ => {
                let running = booking.details.cancellations.iter();
                let mut running = running.filter(|c| c.status == CancellationStatus::InProgress);
                let rooms = &running.next()?.room_ids;
                let mut positions = booking.details.rooms.iter().zip(&order?.released);
                let is_released =
                    positions.all(|(room, released)| *released || !rooms.contains(&room.id));
                Some(is_released)
            }
        }
    }

    fn check_end(
        booking: &HotelBooking,
        external: &ExternalSystems<'_>,
        checks: &Checks,
    ) -> Result<()> {
        check_agreement(booking, external, checks)?;
        // The rooms of a booking that failed are not followed.
        let order = external.actual_order().filter(|_| !checks.has_orphan);
        if let Some(order) = order {
            for (room, released) in booking.details.rooms.iter().zip(&order.released) {
                ensure!(
                    room.canceled_at.is_some() == *released,
                    "{} differs from the supplier",
                    room.id
                );
            }
        }
        let undecided = booking.details.undecided_cancellations().count();
        ensure!(undecided == 0, "{undecided} refunds are undecided");
        check_events(booking, checks)?;
        // Each cancellation that succeeded was published once, the last one as that of the booking.
        let cancellations = booking.details.cancellations.iter();
        let succeeded = cancellations.filter(|c| c.status == CancellationStatus::Succeeded);
        let whole = checks.published_count(Self::CANCELED, None);
        let partial = checks.published_count(EventType::HotelBookingPartiallyCanceled, None);
        let (published, succeeded) = (whole + partial, succeeded.count());
        ensure!(
            published == succeeded,
            "{published} cancellations were published, {succeeded} succeeded"
        );
        Ok(())
    }
}
