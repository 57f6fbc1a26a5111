//! Hotel offers, as pricing answers them.

use crate::api::value::{IsoDateTime, Money};
use crate::render::policy::{CancellationPolicy, Promotion};
use host_domain::hotel;
use host_domain::hotel::supply;
use host_domain::id::HotelId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a room's price includes to eat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(clippy::enum_variant_names, reason = "the names that the trade uses")]
pub(crate) enum Board {
    /// Nothing.
    RoomOnly,
    /// Breakfast.
    BedAndBreakfast,
    /// Breakfast and one meal.
    HalfBoard,
    /// All meals.
    FullBoard,
    /// Meals and drinks.
    AllInclusive,
    /// Something else; the display text says what.
    Other,
}

/// A room of an offer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct OfferRoom {
    /// Zero-based, in the order of the occupancy.
    #[schema(minimum = 0, maximum = 8)]
    position: usize,
    #[schema(minimum = 1, maximum = 8)]
    adults: u32,
    /// Ages of the children.
    children: Vec<u32>,
    /// Display text.
    room_type: String,
    /// Display text of what is included to eat.
    board: String,
    /// Whether there is any time at which cancelling is free.
    refundable: bool,
    /// Of this room.
    cancellation_policy: CancellationPolicy,
}

/// Something that can be booked.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelOffer {
    /// Opaque; binds rooms, stay, source market and price to the organization.
    /// Prebook takes it until `expires_at`.
    #[schema(pattern = "^[A-Za-z0-9_-]+$")]
    offer_reference: String,
    /// For the whole stay, all rooms, promotions already included.
    total: Money,
    /// One an occupancy, in its order.
    rooms: Vec<OfferRoom>,
    /// Of the first room.
    room_type: String,
    /// Of the first room.
    board: String,
    /// Of the first room.
    refundable: bool,
    /// Of the whole stay.
    cancellation_policy: CancellationPolicy,
    /// Once each, with the rooms that they apply to.
    promotions: Vec<Promotion>,
    /// Until when it can be prebooked.
    expires_at: IsoDateTime,
}

/// The offers of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct HotelOffers {
    #[schema(
        pattern = "^htl_[a-zA-Z0-9-]+$",
        example = "htl_01976f3e4a5b7c8d9e0f112233445566"
    )]
    hotel_id: String,
    /// The supplier's id of the same hotel.
    supplier_hotel_id: String,
    /// Empty when the hotel has none for this stay.
    offers: Vec<HotelOffer>,
}

/// The row of a hotel.
pub(crate) fn hotel_offers(id: &HotelId, supplier_hotel_id: &str, offers: Vec<HotelOffer>) -> HotelOffers {
    HotelOffers {
        hotel_id: id.to_string(),
        supplier_hotel_id: supplier_hotel_id.to_owned(),
        offers,
    }
}

/// An offer, under the reference that was made for it.
pub(crate) fn offer(
    offer: &supply::Offer,
    stay: &hotel::Stay,
    reference: String,
    expires_at: Timestamp,
) -> HotelOffer {
    let rooms = offer.rooms.iter().zip(&stay.occupancies).enumerate();
    let rooms: Vec<OfferRoom> = rooms
        .map(|(position, (rate, occupancy))| room(position, rate, occupancy))
        .collect();
    let first = rooms.first();
    HotelOffer {
        offer_reference: reference,
        total: offer.total.into(),
        room_type: first.map(|room| room.room_type.clone()).unwrap_or_default(),
        board: first.map(|room| room.board.clone()).unwrap_or_default(),
        refundable: first.is_some_and(|room| room.refundable),
        rooms,
        cancellation_policy: (&offer.policy).into(),
        promotions: offer.promotions.iter().map(Promotion::from).collect(),
        expires_at: expires_at.into(),
    }
}

fn room(position: usize, rate: &hotel::RoomRate, occupancy: &hotel::Occupancy) -> OfferRoom {
    OfferRoom {
        position,
        adults: u32::from(occupancy.adults),
        children: occupancy.children.iter().copied().map(u32::from).collect(),
        room_type: rate.name.clone(),
        board: rate.board_name.clone(),
        refundable: rate.policy.refundable,
        cancellation_policy: (&rate.policy).into(),
    }
}

impl From<hotel::Board> for Board {
    fn from(board: hotel::Board) -> Self {
        match board {
            hotel::Board::RoomOnly => Self::RoomOnly,
            hotel::Board::BedAndBreakfast => Self::BedAndBreakfast,
            hotel::Board::HalfBoard => Self::HalfBoard,
            hotel::Board::FullBoard => Self::FullBoard,
            hotel::Board::AllInclusive => Self::AllInclusive,
            hotel::Board::Other => Self::Other,
        }
    }
}

impl From<Board> for hotel::Board {
    fn from(board: Board) -> Self {
        match board {
            Board::RoomOnly => Self::RoomOnly,
            Board::BedAndBreakfast => Self::BedAndBreakfast,
            Board::HalfBoard => Self::HalfBoard,
            Board::FullBoard => Self::FullBoard,
            Board::AllInclusive => Self::AllInclusive,
            Board::Other => Self::Other,
        }
    }
}
