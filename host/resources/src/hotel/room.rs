//! JSON resources of booked rooms and their guests.

use crate::hotel::offer::BoardResource;
use crate::hotel::policy::{CancellationPolicyResource, PromotionResource};
use crate::hotel::room_details::RoomDetailsResource;
use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::hotel;
use host_domain::hotel::GuestType;
use host_domain::hotel::booking::{self, HotelBooking};
use host_domain::id::GuestId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A child who stays in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoomChildResource {
    /// Age in years.
    #[schema(minimum = 0, maximum = 17)]
    age: u32,
}

/// The age group of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GuestTypeResource {
    /// 18 or older.
    Adult,
    /// 0 to 17.
    Child,
}

/// A guest of a room.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RoomGuestResource {
    #[schema(pattern = "^guest_[a-zA-Z0-9-]+$")]
    id: String,
    first_name: String,
    last_name: String,
    /// Whether the guest is an adult or a child.
    #[serde(rename = "type")]
    guest_type: GuestTypeResource,
    /// Whether this guest is the room's contact. Each room has exactly one, an adult.
    is_lead: bool,
    /// Age of a child in years, as the room was priced. Omitted for adults.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0, maximum = 17)]
    age: Option<u32>,
}

/// A room of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BookingRoomResource {
    #[schema(pattern = "^room_[a-zA-Z0-9-]+$")]
    id: String,
    /// Zero-based position, in the order in which the rooms were requested.
    #[schema(minimum = 0, maximum = 8)]
    position: usize,
    /// Display name of the room.
    name: String,
    /// Meals included in the price.
    board: BoardResource,
    /// Display text of the included meals.
    board_name: String,
    #[schema(minimum = 1, maximum = 8)]
    adults: u32,
    children: Vec<RoomChildResource>,
    /// The room's share of the booking's total.
    total: MoneyResource,
    /// Amount to pay at the hotel in addition to the total. Null if there is none.
    #[schema(required)]
    due_at_property: Option<MoneyResource>,
    /// Cancellation policy of this room. Null until the prebook is confirmed.
    #[schema(required)]
    cancellation_policy: Option<CancellationPolicyResource>,
    /// Promotions of this room, already deducted from its total. Null if there are none.
    #[schema(required)]
    promotions: Option<Vec<PromotionResource>>,
    /// The supplier's reference of the room.
    #[schema(required)]
    supplier_reference_number: Option<String>,
    /// The hotel's own confirmation code.
    #[schema(required)]
    hotel_confirmation_code: Option<String>,
    /// Time at which the room was cancelled.
    #[schema(required)]
    canceled_at: Option<IsoDateTime>,
    /// The guests who were named at prebook: all adults, and all children or none. Children need no
    /// name, because suppliers book them by their age, which `children` has in every case.
    guests: Vec<RoomGuestResource>,
    #[serde(flatten)]
    details: RoomDetailsResource,
}

/// Builds the resource of the room at `position`.
pub fn room(booking: &HotelBooking, position: usize, room: &booking::Room) -> BookingRoomResource {
    let applies = |promotion: &&hotel::Promotion| {
        let mut positions = promotion.room_positions.iter();
        positions.any(|at| usize::from(*at) == position)
    };
    let promotions = booking.details.promotions.iter().filter(applies);
    let promotions: Vec<_> = promotions.map(PromotionResource::from).collect();
    let ages = room.children.iter().copied().map(u32::from);
    BookingRoomResource {
        id: room.id.to_string(),
        position,
        name: room.name.clone(),
        board: room.board.into(),
        board_name: room.board_name.clone(),
        adults: u32::from(room.adults),
        children: ages.map(|age| RoomChildResource { age }).collect(),
        total: room.total.into(),
        due_at_property: room.due_at_property.map(MoneyResource::from),
        cancellation_policy: room.policy.as_ref().map(CancellationPolicyResource::from),
        promotions: Some(promotions).filter(|promotions| !promotions.is_empty()),
        supplier_reference_number: room.supplier_reference.clone(),
        hotel_confirmation_code: room.hotel_confirmation_code.clone(),
        canceled_at: room.canceled_at.map(IsoDateTime::from),
        guests: room.guests.iter().map(guest).collect(),
        details: (&room.details).into(),
    }
}

fn guest((id, guest): &(GuestId, hotel::Guest)) -> RoomGuestResource {
    RoomGuestResource {
        id: id.to_string(),
        first_name: guest.first_name.clone(),
        last_name: guest.last_name.clone(),
        guest_type: guest.guest_type.into(),
        is_lead: guest.is_lead,
        age: guest.age.map(u32::from),
    }
}

same_variants! { GuestTypeResource <=> GuestType: Adult, Child }
