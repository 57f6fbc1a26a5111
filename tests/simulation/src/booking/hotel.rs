//! The simulated hotel booking.

use super::actors::Wish;
use super::invariants::Checks;
use super::remote_call::Request;
use super::scenario::{Setting, euros};
use super::simulated_booking::{Subject, check_agreement, check_events};
use super::supplier::{Order, World};
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::steps::hotel::HotelChangeRequest;
use host_application::id_generator::IdGenerator;
use host_domain::booking::{BookingEvent, BookingState, BookingStatus};
use host_domain::event::EventType;
use host_domain::hotel::booking::{
    CancellationStatus, HotelBookedState, HotelBooking, HotelBookingDetails, HotelEvent, Room,
};
use host_domain::hotel::supplier_api::{
    HotelCancellationAmounts, HotelPrebookResponse, HotelSupplierBooking, SupplierRoom,
};
use host_domain::hotel::types::{
    Board, CancellationPolicy, Contact, HotelSummary, Occupancy, Penalty, RoomRate, Stay,
};
use host_domain::id::{CancellationId, HotelId, RoomId};
use host_domain::supplier::SupplierBookingStatus;
use host_domain::time::{Date, Timestamp};

/// Builds a policy with the same fee at all times.
fn policy(fee: i64) -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: None,
        penalties: vec![Penalty {
            from: Timestamp(0),
            amount: euros(fee),
        }],
        restrictions: Vec::new(),
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

fn stay(rooms: usize) -> Stay {
    let date = |day| Date::new(2027, 1, day).unwrap();
    let occupancy = Occupancy {
        adults: 1,
        children: Vec::new(),
    };
    Stay {
        check_in: date(1),
        check_out: date(2),
        occupancies: vec![occupancy; rooms],
        guest_nationality: "DE".to_owned(),
        guest_residence: None,
        currency: euros(0).currency,
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
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: Vec::new(),
    }
}

impl Subject for HotelBookingDetails {
    const SUPPLIER: &'static str = "HOTELS";

    fn new_details(setting: &Setting) -> Self {
        let rooms = setting.rooms.iter().zip(1..);
        Self {
            hotel_id: HotelId::from_bits(1),
            hotel: summary(),
            stay: stay(setting.rooms.len()),
            contact: Contact {
                first_name: "Ada".to_owned(),
                last_name: "L".to_owned(),
                email: "a@example.org".to_owned(),
                phone: "+4912345678".to_owned(),
            },
            rooms: rooms
                .map(|((price, _), number)| room(number, *price))
                .collect(),
            total: setting.offered(),
            policy: None,
            promotions: Vec::new(),
            loyalty: None,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            cancellations: Vec::new(),
        }
    }

    fn prebook_response(setting: &Setting) -> HotelPrebookResponse {
        let rate = |(price, fee): &(i64, i64)| RoomRate {
            name: "Double".to_owned(),
            board: Board::RoomOnly,
            board_name: "Room only".to_owned(),
            total: euros(*price),
            due_at_property: None,
            policy: policy(*fee),
        };
        let fees = setting.rooms.iter().map(|(_, fee)| fee).sum();
        HotelPrebookResponse {
            supplier_prebook: "prebook".to_owned(),
            total: setting.offered(),
            hotel: summary(),
            rooms: setting.rooms.iter().map(rate).collect(),
            policy: policy(fees),
            promotions: Vec::new(),
            loyalty: None,
            expires_at: None,
            checkout: None,
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
            total: order.kept,
            hotel_confirmation_code: None,
            remarks: None,
            rooms: rooms.collect(),
            policy: None,
            cancellation: order.amounts.map(|(fee, refund)| HotelCancellationAmounts {
                fee,
                refund: Some(refund),
                supplier_reference: None,
            }),
        }
    }

    fn simulated_request(request: HotelChangeRequest) -> Request {
        match request {
            HotelChangeRequest::Book(request) => Request::Book {
                reference: request.client_reference,
            },
            HotelChangeRequest::Cancel(request) => {
                let rooms = request.rooms.iter().map(|room| usize::from(room.position));
                Request::Cancel {
                    rooms: rooms.collect(),
                    reference: request.client_reference,
                }
            }
        }
    }

    fn wished(
        booking: &HotelBooking,
        wish: Wish,
        random: &Random,
        _setting: &Setting,
        _now: Timestamp,
    ) -> Option<BookingEvent<Self>> {
        if !matches!(
            booking.state,
            BookingState::Booked(HotelBookedState::Confirmed { .. })
                | BookingState::Booked(HotelBookedState::PartiallyCanceled { .. })
        ) {
            return None;
        }
        let standing = || {
            booking
                .details
                .rooms
                .iter()
                .filter(|room| room.canceled_at.is_none())
        };
        let room_ids = match wish {
            Wish::Cancel => Vec::new(),
            // A partial cancellation must not name all active rooms.
            Wish::Release if standing().count() > 1 => {
                let ids: Vec<RoomId> = standing().map(|room| room.id.clone()).collect();
                vec![random.one_of(&ids)]
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
            (_, Some(SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending)) => {
                None
            }
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

    fn check_end(booking: &HotelBooking, world: &World<'_>, checks: &Checks) -> Result<()> {
        check_agreement(booking, world, checks)?;
        if let Some(order) = world.truth() {
            for (room, released) in booking.details.rooms.iter().zip(&order.released) {
                ensure!(
                    room.canceled_at.is_some() == *released,
                    "{} differs from the supplier",
                    room.id
                );
            }
        }
        let status = booking.status();
        check_events(booking, checks)?;
        checks.told_once(
            EventType::HotelBookingConfirmed,
            booking.confirmed_at.is_some(),
        )?;
        checks.told_once(
            EventType::HotelBookingCanceled,
            status == BookingStatus::Canceled,
        )?;
        Ok(())
    }
}
