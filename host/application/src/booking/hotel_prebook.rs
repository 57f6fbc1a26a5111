//! Turns a hotel offer into a booking: checks the price again and binds it.

use crate::base::Base;
use crate::booking::prebook_call::{BoundOffer, PrebookCall, PrebookContext};
use crate::booking::steps::hotel::guests_by_room;
use crate::offers::terms::HotelOfferTerms;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::hotel::booking::{Booking, Event, Room, State};
use host_domain::hotel::supplier_api::{PrebookRequest, PrebookResponse};
use host_domain::hotel::types::{Contact, Guest};
use host_domain::id::{BookingId, GuestId, RoomId};
use host_domain::owner::Owner;
use host_runtime::Supplier;
use host_storage::IdempotencyKey;
use tokio::time::Instant;

/// The operation that prebook keys belong to.
const OPERATION: &str = "hotel_prebook";

/// A caller's request to bind an offer.
#[derive(Debug, Clone)]
pub struct PrebookHotelCommand {
    pub owner: Owner,
    pub key: String,
    /// Fingerprint of the parsed request.
    pub fingerprint: String,
    pub offer: HotelOfferTerms,
    pub reference_id: Option<String>,
    pub contact: Contact,
    pub rooms: Vec<Vec<Guest>>,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

impl PrebookHotelCommand {
    /// Returns the context of the prebook.
    pub fn to_context(&self) -> PrebookContext {
        PrebookContext {
            key: idempotency_key(&self.owner, &self.key),
            fingerprint: self.fingerprint.clone(),
            expires_at: self.offer.expires_at,
            use_payment_sdk: self.use_payment_sdk,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        }
    }
}

/// Builds the idempotency key of a hotel prebook.
pub fn idempotency_key(owner: &Owner, key: &str) -> IdempotencyKey {
    IdempotencyKey {
        owner: owner.clone(),
        operation: OPERATION.to_owned(),
        key: key.to_owned(),
    }
}

/// Returns the call that binds a hotel offer.
pub fn prebook_call() -> PrebookCall<Booking> {
    Box::new(|supplier: Supplier, context, booking: Booking| {
        async move {
            let request = prebook_request(&booking);
            let response = supplier.prebook_hotel(&context, request).await?;
            Ok(to_bound_offer(&booking, response))
        }
        .boxed()
    })
}

/// Creates the booking of a command.
pub fn new_booking(
    base: &Base,
    id: BookingId,
    command: &PrebookHotelCommand,
    payment_collector: PaymentCollector,
) -> Booking {
    let now = base.now();
    let offer = &command.offer;
    let rooms = offer
        .rooms
        .iter()
        .zip(&command.rooms)
        .zip(&offer.stay.occupancies)
        .map(|((room, guests), occupancy)| Room {
            id: RoomId::from_bits(base.ids.generate()),
            name: room.name.clone(),
            board: room.board,
            board_name: room.board_name.clone(),
            adults: occupancy.adults,
            children: occupancy.children.clone(),
            total: room.total,
            due_at_property: None,
            policy: None,
            supplier_reference: None,
            hotel_confirmation_code: None,
            canceled_at: None,
            guests: guests
                .iter()
                .map(|guest| (GuestId::from_bits(base.ids.generate()), guest.clone()))
                .collect(),
        });
    Booking {
        id,
        owner: command.owner.clone(),
        version: 1,
        supplier: offer.supplier.clone(),
        hotel_id: offer.hotel_id.clone(),
        hotel: offer.hotel.clone(),
        reference_id: command.reference_id.clone(),
        supplier_offer: offer.supplier_offer.clone(),
        supplier_prebook: None,
        supplier_reference: None,
        stay: offer.stay.clone(),
        contact: command.contact.clone(),
        rooms: rooms.collect(),
        total: offer.total,
        policy: None,
        promotions: Vec::new(),
        loyalty: None,
        use_payment_sdk: command.use_payment_sdk,
        payment_collector,
        hotel_confirmation_code: None,
        hotel_remarks: None,
        offer_expires_at: offer.expires_at,
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

fn to_bound_offer(booking: &Booking, bound: PrebookResponse) -> BoundOffer<Event> {
    BoundOffer {
        total: bound.total,
        matches_request: bound.rooms.len() == booking.rooms.len(),
        expires_at: bound.expires_at,
        checkout: bound.checkout.clone(),
        into_event: Box::new(|expires_at, payment| Event::PrebookConfirmed {
            prebook: Box::new(bound),
            expires_at,
            payment,
        }),
    }
}

fn prebook_request(booking: &Booking) -> PrebookRequest {
    PrebookRequest {
        client_reference: booking.id.to_string(),
        supplier_hotel_id: booking.hotel.supplier_hotel_id.clone(),
        supplier_offer: booking.supplier_offer.clone(),
        stay: booking.stay.clone(),
        total: booking.total,
        contact: booking.contact.clone(),
        rooms: guests_by_room(booking),
        use_payment_sdk: booking.use_payment_sdk,
    }
}
