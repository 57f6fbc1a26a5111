//! Turns a hotel offer into a booking: checks the price again and binds it.

use crate::base::Base;
use crate::booking::prebook_call::{
    BoundOffer, OfferBinding, PrebookCall, PrebookContext, PrebookParameters,
};
use crate::booking::steps::hotel::guests_by_room;
use crate::offers::terms::HotelOfferTerms;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails, Room};
use host_domain::hotel::supplier_api::{HotelPrebookRequest, HotelPrebookResponse};
use host_domain::hotel::types::{Contact, Guest, RoomDetails};
use host_domain::id::{BookingId, GuestId, RoomId};
use host_runtime::Supplier;
use std::sync::Arc;

pub const OPERATION: &str = "hotel_prebook";

#[derive(Debug, Clone)]
pub struct PrebookHotelCommand {
    pub parameters: PrebookParameters,
    pub offer: HotelOfferTerms,
    pub contact: Contact,
    pub rooms: Vec<Vec<Guest>>,
}

impl PrebookHotelCommand {
    pub fn to_context(&self) -> PrebookContext {
        let expires_at = self.offer.expires_at;
        self.parameters.to_context(OPERATION, expires_at)
    }
}

pub fn prebook_call(command: &PrebookHotelCommand) -> PrebookCall<HotelBookingDetails> {
    let includes_package_rates = command.offer.include_package_rates;
    Arc::new(move |supplier: Supplier, context, booking: HotelBooking| {
        async move {
            let request = prebook_request(&booking);
            let response = supplier.prebook_hotel(&context, request).await?;
            Ok(to_bound_offer(&booking, response, includes_package_rates))
        }
        .boxed()
    })
}

pub fn new_booking(
    base: &Base,
    id: BookingId,
    command: &PrebookHotelCommand,
    payment_collector: PaymentCollector,
) -> HotelBooking {
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
            details: RoomDetails::default(),
            supplier_reference: None,
            hotel_confirmation_code: None,
            canceled_at: None,
            guests: guests
                .iter()
                .map(|guest| (GuestId::from_bits(base.ids.generate()), guest.clone()))
                .collect(),
        });
    let details = HotelBookingDetails {
        hotel_id: offer.hotel_id.clone(),
        hotel: offer.hotel.clone(),
        stay: offer.stay.clone(),
        contact: command.contact.clone(),
        rooms: rooms.collect(),
        total: offer.total,
        policy: None,
        promotions: offer.promotions.clone(),
        loyalty: offer.loyalty.clone(),
        hotel_confirmation_code: None,
        hotel_remarks: None,
        cancellations: Vec::new(),
    };
    let binding = OfferBinding {
        supplier: &offer.supplier,
        supplier_offer: &offer.supplier_offer,
        expires_at: offer.expires_at,
        payment_collector,
    };
    command.parameters.new_booking(id, &binding, details, now)
}

fn to_bound_offer(
    booking: &HotelBooking,
    bound: HotelPrebookResponse,
    includes_package_rates: bool,
) -> BoundOffer<HotelBookingDetails> {
    BoundOffer {
        total: bound.total,
        matches_request: bound.rooms.len() == booking.details.rooms.len(),
        unsellable: bound.details.unsellable_reason(includes_package_rates),
        expires_at: bound.expires_at,
        checkout: bound.checkout.clone(),
        response: Box::new(bound),
    }
}

fn prebook_request(booking: &HotelBooking) -> HotelPrebookRequest {
    HotelPrebookRequest {
        client_reference: booking.id.to_string(),
        supplier_hotel_id: booking.details.hotel.supplier_hotel_id.clone(),
        supplier_offer: booking.supplier_offer.clone(),
        stay: booking.details.stay.clone(),
        total: booking.details.total,
        contact: booking.details.contact.clone(),
        rooms: guests_by_room(booking),
        use_payment_sdk: booking.use_payment_sdk,
    }
}
