//! Turns a hotel offer into a booking: checks the price again and binds it.

use crate::application::Application;
use crate::booking::prebook::{
    BoundOffer, NewBooking, PrebookContext, PrebookError, PrebookOutcome, idempotency_key,
};
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::booking::steps::hotel::guests_by_room;
use crate::offers::terms::HotelOfferTerms;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::hotel::booking::{Booking, Event, Room, State};
use host_domain::hotel::supplier_api::{PrebookRequest, PrebookResponse};
use host_domain::hotel::types::{Contact, Guest};
use host_domain::id::{BookingId, GuestId, RoomId};
use host_domain::owner::Owner;
use host_storage::{DatabaseError, UnitOfWork};
use std::sync::Arc;
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

impl Application {
    /// Binds an offer. A repeat with the same key returns the booking of the first call.
    pub async fn prebook_hotel(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
    ) -> Result<PrebookOutcome<Booking>, PrebookError> {
        let id = BookingId::from_bits(self.ids.generate());
        let nothing = UnitOfWork::new(self.clock.now());
        self.prebook_hotel_with(command, id, nothing).await
    }

    /// Binds an offer as the booking with this id. Commits further statements together with the
    /// intent, or neither.
    pub async fn prebook_hotel_with(
        self: &Arc<Self>,
        command: PrebookHotelCommand,
        id: BookingId,
        along: UnitOfWork,
    ) -> Result<PrebookOutcome<Booking>, PrebookError> {
        let settlement = self.payment_collector_of(&command.offer.supplier);
        let settlement = settlement.ok_or(PrebookError::Unsupported)?;
        let call = PrebookContext {
            key: idempotency_key(&command.owner, OPERATION, &command.key),
            fingerprint: command.fingerprint.clone(),
            expires_at: command.offer.expires_at,
            use_payment_sdk: command.use_payment_sdk,
            request_id: command.request_id.clone(),
            deadline: command.deadline,
        };
        let ask = Box::new(
            |supplier: host_runtime::Supplier, context, booking: Booking| {
                async move {
                    let request = prebook_request(&booking);
                    let bound = supplier.prebook_hotel(&context, request).await?;
                    Ok(to_bound_offer(&booking, bound))
                }
                .boxed()
            },
        );
        let new = || {
            Ok(NewBooking {
                booking: self.new_hotel_booking(id.clone(), &command, settlement),
                extra_statements: along.clone(),
            })
        };
        self.prebook(call, new, ask).await
    }

    /// Returns why the supplier refused to bind the request that was made with a key. Returns
    /// `None` if no refusal is stored.
    pub async fn find_prebook_refusal(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<PrebookRefusal>, DatabaseError> {
        let key = idempotency_key(owner, OPERATION, key);
        let known = self.store.idempotency_record(&key).await?;
        let refusal = known.and_then(|known| known.refusal);
        Ok(refusal.map(|text| PrebookRefusal::from_json(&text)))
    }

    fn new_hotel_booking(
        &self,
        id: BookingId,
        command: &PrebookHotelCommand,
        settlement: PaymentCollector,
    ) -> Booking {
        let now = self.clock.now();
        let offer = &command.offer;
        let rooms = offer
            .rooms
            .iter()
            .zip(&command.rooms)
            .zip(&offer.stay.occupancies)
            .map(|((room, guests), occupancy)| Room {
                id: RoomId::from_bits(self.ids.generate()),
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
                    .map(|guest| (GuestId::from_bits(self.ids.generate()), guest.clone()))
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
            payment_collector: settlement,
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
