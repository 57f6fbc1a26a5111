//! JSON resources of hotel offers in a pricing response.

use crate::hotel::policy::{CancellationPolicyResource, PromotionResource};
use crate::hotel::room_details::RoomDetailsResource;
use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::hotel::supplier_api::HotelPaymentType;
use host_domain::hotel::{self, supplier_api};
use host_domain::id::HotelId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The meals that a room's price includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BoardResource {
    /// No meals.
    RoomOnly,
    BedAndBreakfast,
    /// Breakfast and one meal.
    HalfBoard,
    /// All meals.
    FullBoard,
    /// Meals and drinks.
    AllInclusive,
    /// Another arrangement. The display text describes it.
    Other,
}

/// A room of an offer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferRoomResource {
    /// Zero-based position, in the order of the requested occupancies.
    #[schema(minimum = 0, maximum = 8)]
    position: usize,
    #[schema(minimum = 1, maximum = 8)]
    adults: u32,
    /// Ages of the children.
    children: Vec<u32>,
    /// Display text of the room type.
    room_type: String,
    /// Display text of the included meals.
    board: String,
    /// Whether there is a period in which cancellation is free.
    refundable: bool,
    /// Cancellation policy of this room.
    cancellation_policy: CancellationPolicyResource,
    #[serde(flatten)]
    details: RoomDetailsResource,
}

/// A bookable hotel offer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelOfferResource {
    /// Opaque reference that binds rooms, stay, source market and price to the organization. It can
    /// be used for a prebook until `expires_at`.
    #[schema(pattern = "^[A-Za-z0-9_-]+$")]
    offer_reference: String,
    /// Price of the whole stay for all rooms. Promotions are already deducted.
    total: MoneyResource,
    /// One room for each requested occupancy, in the same order.
    rooms: Vec<OfferRoomResource>,
    /// Room type of the first room.
    room_type: String,
    /// Board of the first room.
    board: String,
    /// Whether the first room is refundable.
    refundable: bool,
    /// Cancellation policy of the whole stay.
    cancellation_policy: CancellationPolicyResource,
    /// Promotions, each listed once with the rooms it applies to.
    promotions: Vec<PromotionResource>,
    /// Time until which the offer can be prebooked.
    expires_at: IsoDateTime,
    /// The supplier's types of payment: `PREPAID` when the offer is booked, `PAY_AT_PROPERTY`, or the
    /// supplier's own code. They do not change how a booking is paid here: its total is charged.
    /// Offers that have `PAY_AT_PROPERTY` and not `PREPAID` are left out. Omitted if the supplier
    /// states none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, example = json!(["PREPAID"]))]
    payment_types: Vec<String>,
    /// Whether the offer may be sold only together with another travel service. Such offers are left
    /// out unless the request has `include_package_rates`. Omitted if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    package_only: Option<bool>,
}

/// The offers of a hotel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HotelOffersResource {
    #[schema(pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: String,
    /// The supplier's id of this hotel.
    supplier_hotel_id: String,
    /// Offers for the requested stay. Empty if the hotel has none.
    offers: Vec<HotelOfferResource>,
}

pub fn hotel_offers(
    id: &HotelId,
    supplier_hotel_id: &str,
    offers: Vec<HotelOfferResource>,
) -> HotelOffersResource {
    HotelOffersResource {
        hotel_id: id.to_string(),
        supplier_hotel_id: supplier_hotel_id.to_owned(),
        offers,
    }
}

/// Builds the resource of an offer with the given offer reference.
pub fn offer(
    offer: &supplier_api::HotelOffer,
    stay: &hotel::Stay,
    reference: String,
    expires_at: Timestamp,
) -> HotelOfferResource {
    let rooms = offer.rooms.iter().zip(&stay.occupancies).enumerate();
    let rooms: Vec<OfferRoomResource> = rooms
        .map(|(position, (rate, occupancy))| room(position, rate, occupancy))
        .collect();
    let first = rooms.first();
    let promotions = offer.promotions.iter().map(PromotionResource::from);
    HotelOfferResource {
        offer_reference: reference,
        total: offer.total.into(),
        room_type: first.map(|room| room.room_type.clone()).unwrap_or_default(),
        board: first.map(|room| room.board.clone()).unwrap_or_default(),
        refundable: first.is_some_and(|room| room.refundable),
        rooms,
        cancellation_policy: (&offer.policy).into(),
        promotions: promotions.collect(),
        expires_at: expires_at.into(),
        payment_types: (offer.details.payment_types.iter())
            .map(payment_type)
            .collect(),
        package_only: offer.details.package_only,
    }
}

fn payment_type(payment_type: &HotelPaymentType) -> String {
    match payment_type {
        HotelPaymentType::Prepaid => "PREPAID".to_owned(),
        HotelPaymentType::PayAtProperty => "PAY_AT_PROPERTY".to_owned(),
        HotelPaymentType::Other(code) => code.clone(),
    }
}

fn room(
    position: usize,
    rate: &hotel::RoomRate,
    occupancy: &hotel::Occupancy,
) -> OfferRoomResource {
    OfferRoomResource {
        position,
        adults: u32::from(occupancy.adults),
        children: occupancy.children.iter().copied().map(u32::from).collect(),
        room_type: rate.name.clone(),
        board: rate.board_name.clone(),
        refundable: rate.policy.refundable,
        cancellation_policy: (&rate.policy).into(),
        details: (&rate.details).into(),
    }
}

same_variants! {
    BoardResource <=> hotel::Board: RoomOnly, BedAndBreakfast, HalfBoard, FullBoard, AllInclusive,
    Other
}
