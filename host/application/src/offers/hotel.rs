//! Hotel offers: queries, results, and the terms of each offer.

use crate::offers::terms::{HotelOfferTerms, OfferedRoom};
use host_domain::hotel::supplier_api::{HotelOffer, HotelOffers, HotelPriceResponse};
use host_domain::hotel::{HotelSummary, Stay};
use host_domain::id::HotelId;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_storage::{HotelMapping, HotelProfile};

#[derive(Debug)]
pub enum HotelSelection {
    /// Hotels by the gateway's ids.
    ByHotelId(Vec<HotelId>),
    /// Hotels by a supplier's ids, which are valid only at that supplier.
    BySupplierId(Vec<String>),
}

#[derive(Debug)]
pub struct OfferQuery {
    pub hotels: HotelSelection,
    /// The supplier that the caller named. Required with [`HotelSelection::BySupplierId`].
    pub selector: Option<SupplierId>,
    pub stay: Stay,
    pub max_offers_per_hotel: u16,
    /// Whether the caller sells the room together with another travel service.
    pub include_package_rates: bool,
}

/// An offer that can be prebooked.
#[derive(Debug)]
pub struct PricedOffer {
    pub offer: HotelOffer,
    pub reference: String,
    pub expires_at: Timestamp,
}

#[derive(Debug)]
pub struct PricedHotel {
    pub hotel_id: HotelId,
    pub supplier_hotel_id: String,
    pub offers: Vec<PricedOffer>,
}

/// A hotel of the request at the called supplier.
#[derive(Debug, Clone)]
pub(super) struct HotelRow {
    pub(super) supplier_hotel_id: String,
    pub(super) mapping: Option<HotelMapping>,
}

/// Returns the hotel of a response that has a supplier's id.
pub(super) fn hotel_in<'a>(
    response: &'a HotelPriceResponse,
    supplier_hotel_id: &str,
) -> Option<&'a HotelSummary> {
    let mut hotels = response.hotels.iter().map(|found| &found.hotel);
    hotels.find(|hotel| hotel.supplier_hotel_id == supplier_hotel_id)
}

pub(super) fn take_hotel_offers(
    response: &mut HotelPriceResponse,
    supplier_hotel_id: &str,
) -> Option<HotelOffers> {
    let mut hotels = response.hotels.iter();
    let position = hotels.position(|found| found.hotel.supplier_hotel_id == supplier_hotel_id)?;
    Some(response.hotels.swap_remove(position))
}

/// Returns whether a stored profile has everything that the supplier's response says.
pub(super) fn is_profile_known(profile: &HotelProfile, hotel: &HotelSummary) -> bool {
    profile.name.is_some()
        && (hotel.location.is_none() || profile.location.is_some())
        && (hotel.time_zone.is_none() || profile.time_zone.is_some())
}

pub(super) fn to_profile(hotel: &HotelSummary) -> HotelProfile {
    HotelProfile {
        name: Some(hotel.name.clone()),
        location: hotel.location,
        time_zone: hotel.time_zone.clone(),
    }
}

pub(super) fn offer_terms(
    supplier: &SupplierId,
    hotel_id: &HotelId,
    hotel: &HotelSummary,
    offer: &HotelOffer,
    query: &OfferQuery,
    expires_at: Timestamp,
) -> HotelOfferTerms {
    let rooms = offer.rooms.iter().map(|room| OfferedRoom {
        name: room.name.clone(),
        board: room.board,
        board_name: room.board_name.clone(),
        total: room.total,
    });
    HotelOfferTerms {
        supplier: supplier.clone(),
        hotel_id: hotel_id.clone(),
        hotel: hotel.clone(),
        supplier_offer: offer.supplier_offer.clone(),
        stay: query.stay.clone(),
        total: offer.total,
        rooms: rooms.collect(),
        expires_at,
        include_package_rates: query.include_package_rates,
        promotions: offer.promotions.clone(),
        loyalty: offer.loyalty.clone(),
    }
}
