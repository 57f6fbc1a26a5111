//! The simulated hotel booking.

use super::actors::Wish;
use super::invariants::Checks;
use super::remote_call::Request;
use super::scenario::{Setting, euros};
use super::simulated_booking::{Answer, Around, Subject};
use super::supplier::{Order, World};
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::interpret::{Interpretation, hotel as judge};
use host_application::id_generator::IdGenerator;
use host_domain::booking::PaymentCollector;
use host_domain::event::EventType;
use host_domain::hotel::booking::{Booking, CancellationStatus, Event, Room, State, Status};
use host_domain::hotel::step::Step;
use host_domain::hotel::supplier_api::{
    BookingLookup, CancellationAmounts, PrebookResponse, SupplierBooking, SupplierRoom,
};
use host_domain::hotel::types::{
    Board, CancellationPolicy, Contact, HotelSummary, Occupancy, Penalty, RoomRate, Stay,
};
use host_domain::id::{BookingId, CancellationId, HotelId, RefundId, RoomId};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::{Payment, PaymentStep};
use host_domain::supplier::{SupplierBookingStatus, SupplierId};
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

fn state_of(order: Order) -> SupplierBooking {
    let rooms = order.released.iter().enumerate();
    let rooms = rooms.map(|(at, released)| SupplierRoom {
        position: u8::try_from(at).unwrap(),
        supplier_room_reference: Some(format!("room-{at}")),
        hotel_confirmation_code: None,
        canceled: *released,
    });
    SupplierBooking {
        status: order.status,
        supplier_reference: "order".to_owned(),
        client_reference: None,
        total: order.kept,
        hotel_confirmation_code: None,
        remarks: None,
        rooms: rooms.collect(),
        policy: None,
        cancellation: order.amounts.map(|(fee, refund)| CancellationAmounts {
            fee,
            refund: Some(refund),
            supplier_reference: None,
        }),
    }
}

impl Subject for Booking {
    fn born(id: BookingId, setting: &Setting, now: Timestamp) -> Self {
        let rooms = setting.rooms.iter().zip(1..);
        Self {
            id,
            owner: Owner {
                tenant: Tenant {
                    organization: "demo".to_owned(),
                    mode: Mode::Test,
                },
                user: "org".to_owned(),
            },
            version: 1,
            supplier: SupplierId::parse("HOTELS").unwrap(),
            hotel_id: HotelId::from_bits(1),
            hotel: summary(),
            reference_id: None,
            supplier_offer: "offer".to_owned(),
            supplier_prebook: None,
            supplier_reference: None,
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
            use_payment_sdk: setting.by_browser,
            payment_collector: setting.settlement,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            offer_expires_at: now.plus_s(1800),
            state: State::Created,
            payments: Vec::new(),
            cancellations: Vec::new(),
            failure: None,
            created_at: now,
            updated_at: now,
            confirmed_at: None,
            canceled_at: None,
        }
    }

    fn bound(&self, setting: &Setting, expires_at: Timestamp, payment: Option<Payment>) -> Event {
        let rate = |(price, fee): &(i64, i64)| RoomRate {
            name: "Double".to_owned(),
            board: Board::RoomOnly,
            board_name: "Room only".to_owned(),
            total: euros(*price),
            due_at_property: None,
            policy: policy(*fee),
        };
        let fees = setting.rooms.iter().map(|(_, fee)| fee).sum();
        let bound = PrebookResponse {
            supplier_prebook: "prebook".to_owned(),
            total: setting.offered(),
            hotel: summary(),
            rooms: setting.rooms.iter().map(rate).collect(),
            policy: policy(fees),
            promotions: Vec::new(),
            loyalty: None,
            expires_at: None,
            checkout: None,
        };
        Event::PrebookConfirmed {
            prebook: Box::new(bound),
            expires_at,
            payment,
        }
    }

    fn payment_step(step: &Step) -> Option<&PaymentStep> {
        match step {
            Step::Payment(step) => Some(step),
            _ => None,
        }
    }

    fn request(&self, step: &Step, reference: Option<&str>) -> Request {
        let reference = reference.unwrap_or_default().to_owned();
        match step {
            Step::Book => Request::Book { reference },
            Step::Cancel => {
                let request =
                    host_application::booking::steps::hotel::cancel_request(self).unwrap();
                let rooms = request.rooms.iter().map(|room| usize::from(room.position));
                Request::Cancel {
                    reference,
                    rooms: rooms.collect(),
                }
            }
            _ => Request::FindBooking,
        }
    }

    fn judge(&self, step: &Step, answer: Answer, around: &Around<'_>) -> Interpretation<Event> {
        let (promises, times) = (around.supplier, around.times);
        let refund = RefundId::from_bits(around.random.generate());
        match (step, answer) {
            (Step::Book, Answer::Changed(answer)) => {
                judge::book_response(self, answer.map(state_of), times)
            }
            (Step::Cancel, Answer::Changed(answer)) => {
                judge::cancel_response(self, answer.map(state_of), refund, times)
            }
            (step, Answer::Found(found)) => {
                let found = found.map(|order| match order {
                    Some(order) => BookingLookup::Found(Box::new(state_of(order))),
                    None => BookingLookup::NotFound,
                });
                match step {
                    Step::ReconcileCancellation => {
                        judge::cancel_lookup(self, found, refund, promises, times)
                    }
                    Step::Refresh => {
                        let cancellation = CancellationId::from_bits(around.random.generate());
                        judge::refresh_response(self, found, cancellation, refund, times)
                    }
                    _ => judge::book_lookup(self, found, promises, times),
                }
            }
            (step, Answer::Changed(answer)) => panic!("{answer:?} is no response to {step:?}"),
        }
    }

    fn wished(
        &self,
        wish: Wish,
        random: &Random,
        _setting: &Setting,
        _now: Timestamp,
    ) -> Option<Event> {
        if !matches!(
            self.state,
            State::Confirmed { .. } | State::PartiallyCanceled { .. }
        ) {
            return None;
        }
        let standing = || self.rooms.iter().filter(|room| room.canceled_at.is_none());
        let room_ids = match wish {
            Wish::Cancel => Vec::new(),
            // A partial cancellation must not name all active rooms.
            Wish::Release if standing().count() > 1 => {
                let ids: Vec<RoomId> = standing().map(|room| room.id.clone()).collect();
                vec![random.one_of(&ids)]
            }
            _ => return None,
        };
        Some(Event::CancelStarted {
            id: CancellationId::from_bits(random.generate()),
            room_ids,
        })
    }

    fn is_done(&self, step: &str, order: Option<&Order>) -> Option<bool> {
        let status = order.map(|order| &order.status);
        match (step, status) {
            (_, Some(SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending)) => {
                None
            }
            ("book", status) => Some(status == Some(&SupplierBookingStatus::Confirmed)),
            (_, Some(SupplierBookingStatus::Canceled)) => Some(true),
            _ => {
                let running = self.cancellations.iter();
                let mut running = running.filter(|c| c.status == CancellationStatus::InProgress);
                let rooms = &running.next()?.room_ids;
                let mut positions = self.rooms.iter().zip(&order?.released);
                let is_released =
                    positions.all(|(room, released)| *released || !rooms.contains(&room.id));
                Some(is_released)
            }
        }
    }

    fn own_payments(&self) -> Vec<&Payment> {
        self.payments.iter().collect()
    }

    fn check_end(&self, _setting: &Setting, world: &World<'_>, checks: &Checks) -> Result<()> {
        let sold = world.truth().map(|order| &order.status);
        let agrees = match self.status() {
            Status::Confirmed => sold == Some(&SupplierBookingStatus::Confirmed),
            Status::PartiallyCanceled => sold == Some(&SupplierBookingStatus::PartiallyCanceled),
            Status::Canceled => sold == Some(&SupplierBookingStatus::Canceled),
            Status::Failed => matches!(sold, None | Some(SupplierBookingStatus::Failed(_))),
            Status::Expired => sold.is_none(),
            _ => false,
        };
        ensure!(agrees, "{:?} here, {sold:?} there", self.status());
        if let Some(order) = world.truth() {
            for (room, released) in self.rooms.iter().zip(&order.released) {
                ensure!(
                    room.canceled_at.is_some() == *released,
                    "{} differs from the supplier",
                    room.id
                );
            }
        }
        if self.payment_collector == PaymentCollector::Gateway {
            let kept = world.truth().map_or(euros(0), |order| order.kept);
            checks.money(self, world, kept)?;
        }
        let status = self.status();
        checks.told_once(
            EventType::HotelBookingCreated,
            self.supplier_prebook.is_some(),
        )?;
        checks.told_once(
            EventType::HotelBookingConfirmed,
            self.confirmed_at.is_some(),
        )?;
        checks.told_once(EventType::HotelBookingCanceled, status == Status::Canceled)?;
        checks.told_once(EventType::HotelBookingExpired, status == Status::Expired)?;
        let failed = status == Status::Failed && self.supplier_prebook.is_some();
        checks.told_once(EventType::HotelBookingFailed, failed)
    }
}
