//! JSON resources of watches and the bodies of their events.

use crate::event::EventEnvelope;
use crate::hotel::booking::{self, BookingContactResource, HotelBookingResource};
use crate::hotel::offer::BoardResource;
use crate::hotel::room::GuestTypeResource;
use crate::mandate::{MandateInstrumentResource, MandateScopeResource};
use crate::value::{
    Amount, CountryCode, CurrencyCode, IsoDate, IsoDateTime, MoneyResource, same_variants,
};
use host_domain::event::EventType;
use host_domain::hotel;
use host_domain::hotel::supplier_api::HotelOffer;
use host_domain::id::{EventId, HotelId};
use host_domain::money;
use host_domain::time::Timestamp;
use host_domain::watch::{self, Area, ObservedPrice, WatchState, WatchStatus, WatchTarget};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The kind of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WatchKindResource {
    Hotel,
    /// All hotels of an area are watched.
    Trip,
}

/// The status of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchStatusResource {
    /// The watch waits for the price to reach the trigger.
    Active,
    /// The trigger was reported. The watch becomes active again when the price no longer meets it.
    Triggered,
    Purchasing,
    Purchased,
    PurchaseFailed,
    /// Check-in has passed.
    Expired,
    /// The watch was deleted.
    Canceled,
}

/// The type of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerTypeResource {
    /// The total is at most `amount`.
    BelowTotal,
}

/// The condition that triggers a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchTriggerResource {
    #[serde(rename = "type")]
    pub kind: TriggerTypeResource,
    /// Maximum price of the whole stay for all rooms, in the watch's `currency`. It is at least 1.
    pub amount: Amount,
}

/// The occupancy of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WatchOccupancyResource {
    #[schema(minimum = 1, maximum = 8)]
    adults: u32,
    /// Ages of the children.
    children: Vec<u32>,
}

/// A circular area around a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct WatchAreaResource {
    #[schema(minimum = -90, maximum = 90, example = 48.8566)]
    latitude: f64,
    #[schema(minimum = -180, maximum = 180, example = 2.3522)]
    longitude: f64,
    /// Radius in metres.
    #[schema(minimum = 1, maximum = 100_000, example = 5000)]
    radius: u32,
}

/// Criteria that the hotels of a trip must meet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TripFiltersResource {
    #[schema(minimum = 0, maximum = 5, example = 3)]
    pub min_star_rating: Option<f64>,
    #[schema(minimum = 0, maximum = 10, example = 7.5)]
    pub min_guest_rating: Option<f64>,
    /// Restricts the rates to refundable ones, or to non-refundable ones if false.
    pub refundable: Option<bool>,
    /// Accepted boards. An empty list accepts all.
    #[serde(default)]
    #[schema(max_items = 6)]
    pub board: Vec<BoardResource>,
}

/// A guest of an automatic purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AutoBookGuestResource {
    first_name: String,
    last_name: String,
    /// Whether the guest is an adult or a child.
    #[serde(rename = "type")]
    guest_type: GuestTypeResource,
    /// Whether this guest is the room's contact. Each room has exactly one, an adult.
    is_lead: bool,
    /// Age of a child in years.
    #[schema(required, minimum = 0, maximum = 17)]
    age: Option<u32>,
}

/// A room of an automatic purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AutoBookRoomResource {
    guests: Vec<AutoBookGuestResource>,
}

/// The automatic purchase of a watch, which takes effect once the user confirms it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AutoBookResource {
    #[schema(pattern = "^inst_[a-zA-Z0-9-]+$")]
    payment_instrument_id: String,
    contact: BookingContactResource,
    /// Rooms in the order of the occupancy.
    rooms: Vec<AutoBookRoomResource>,
}

/// The terms of the mandate that is created when the purchase is confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MandateDraftResource {
    /// User on whose behalf the purchase is made.
    user_id: String,
    /// Maximum amount that may be paid.
    payment_amount: MoneyResource,
    payment_instrument: MandateInstrumentResource,
    scope: MandateScopeResource,
    /// Time at which the mandate expires.
    expires_at: IsoDateTime,
}

/// A watch on the price of a hotel or a trip.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WatchResource {
    #[schema(pattern = "^wtc_[a-zA-Z0-9-]+$")]
    id: String,
    kind: WatchKindResource,
    status: WatchStatusResource,
    /// Owner of the watch: the value of `x-user-id` in the request that created it.
    user_id: String,
    /// Watched hotel. Null for a trip.
    #[schema(required, pattern = "^htl_[a-zA-Z0-9-]+$")]
    hotel_id: Option<String>,
    /// Place of a trip that was created with a place.
    #[schema(required, pattern = "^plc_[a-zA-Z0-9-]+$")]
    place_id: Option<String>,
    /// Area of a trip that was created with an area.
    #[schema(required)]
    location: Option<WatchAreaResource>,
    /// Criteria for the hotels of a trip. Null for a single hotel.
    #[schema(required)]
    filters: Option<TripFiltersResource>,
    /// Date of the first night.
    check_in: IsoDate,
    /// Date of departure.
    check_out: IsoDate,
    currency: CurrencyCode,
    #[schema(value_type = CountryCode)]
    guest_nationality: String,
    #[schema(required, value_type = Option<CountryCode>)]
    guest_residence: Option<String>,
    /// One occupancy for each room.
    occupancy: Vec<WatchOccupancyResource>,
    trigger: WatchTriggerResource,
    /// Automatic purchase. Null if the watch only sends notifications.
    #[schema(required)]
    auto_book: Option<AutoBookResource>,
    /// Whether the purchase was confirmed.
    armed: bool,
    /// Terms of the mandate that a confirmation would create. Null if there is nothing to confirm.
    #[schema(required)]
    mandate_draft: Option<MandateDraftResource>,
    /// Id of the mandate.
    #[schema(required, pattern = "^mnd_[a-zA-Z0-9-]+$")]
    mandate_id: Option<String>,
    /// Time of the last price check.
    #[schema(required)]
    last_checked_at: Option<IsoDateTime>,
    /// Lowest price in the last check. Null if no offer was available.
    #[schema(required)]
    last_total: Option<MoneyResource>,
    /// Booking of the purchase, whether it is in progress, succeeded or failed.
    #[schema(required, pattern = "^bkg_[a-zA-Z0-9-]+$")]
    booking_id: Option<String>,
    /// Time at which the watch expires, when the day of check-in has ended in every time zone.
    expires_at: IsoDateTime,
    created_at: IsoDateTime,
    updated_at: IsoDateTime,
}

/// An available price as a check observed it. Advisory only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurrentPriceResource {
    total: Amount,
    currency: CurrencyCode,
    room_type: String,
    board: String,
    refundable: bool,
}

/// A hotel of a trip whose price meets the trigger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TripMatchResource {
    hotel_id: String,
    name: String,
    guest_rating: Option<f64>,
    star_rating: Option<f64>,
    #[serde(flatten)]
    current: CurrentPriceResource,
}

/// Details of an event beyond the watch and its owner.
#[derive(Debug, Clone)]
pub enum WatchEventDetails {
    None,
    CurrentPrice(CurrentPriceResource),
    Matches(Vec<TripMatchResource>),
    Booking(Box<hotel::HotelBooking>),
}

#[derive(Serialize)]
struct WatchEventData<'a> {
    watch: WatchResource,
    user_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<&'a CurrentPriceResource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<&'a [TripMatchResource]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    booking: Option<PurchasedBooking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// A booking whose total also appears under the field name that watch events use.
#[derive(Serialize)]
struct PurchasedBooking {
    #[serde(flatten)]
    booking: HotelBookingResource,
    total_amount: MoneyResource,
}

/// Builds the complete body of a watch event: `{id, type, created_at, data}`.
pub fn watch_event_payload(
    id: &EventId,
    event_type: EventType,
    at: Timestamp,
    watch: &watch::Watch,
    last_observed: Option<ObservedPrice>,
    details: &WatchEventDetails,
) -> String {
    let (mut current, mut matches, mut booking) = (None, None, None);
    match details {
        WatchEventDetails::None => {}
        WatchEventDetails::CurrentPrice(seen) => current = Some(seen),
        WatchEventDetails::Matches(found) => matches = Some(found.as_slice()),
        WatchEventDetails::Booking(bought) => {
            booking = Some(PurchasedBooking {
                total_amount: bought.details.total.into(),
                booking: booking::full_booking(bought),
            });
        }
    }
    let (mandate_id, reason) = match &watch.state {
        WatchState::Purchased { .. } => (watch.mandate_id.as_ref(), None),
        WatchState::PurchaseFailed { reason, .. } => (None, Some(reason.as_str())),
        WatchState::Active
        | WatchState::Triggered
        | WatchState::Purchasing { .. }
        | WatchState::Expired
        | WatchState::Canceled => (None, None),
    };
    EventEnvelope {
        id: id.as_str(),
        event_type: event_type.as_str(),
        created_at: at.into(),
        data: WatchEventData {
            watch: self::watch(watch, last_observed),
            user_id: &watch.owner.user,
            current,
            matches,
            booking,
            mandate_id: mandate_id.map(|id| id.as_str()),
            reason,
        },
    }
    .to_json()
}

/// Builds the resource of a watch with the result of its last check.
pub fn watch(watch: &watch::Watch, last_observed: Option<ObservedPrice>) -> WatchResource {
    let stay = &watch.query.stay;
    let (kind, hotel, area, filters) = match &watch.query.target {
        WatchTarget::Hotel { hotel_id } => (WatchKindResource::Hotel, Some(hotel_id), None, None),
        WatchTarget::Trip { area, filters } => {
            (WatchKindResource::Trip, None, Some(area), Some(filters))
        }
    };
    let (place, location) = match area {
        Some(Area::Place(place)) => (Some(place.to_string()), None),
        Some(Area::Around { center, radius_m }) => {
            let location = WatchAreaResource {
                latitude: center.latitude,
                longitude: center.longitude,
                radius: *radius_m,
            };
            (None, Some(location))
        }
        None => (None, None),
    };
    let last_total = last_observed.and_then(|price| price.total);
    let occupancy = stay.occupancies.iter().map(WatchOccupancyResource::from);
    WatchResource {
        id: watch.id.to_string(),
        kind,
        status: watch.status().into(),
        user_id: watch.owner.user.clone(),
        hotel_id: hotel.map(HotelId::to_string),
        place_id: place,
        location,
        filters: filters.map(TripFiltersResource::from),
        check_in: stay.check_in.into(),
        check_out: stay.check_out.into(),
        currency: CurrencyCode(stay.currency),
        guest_nationality: stay.guest_nationality.clone(),
        guest_residence: stay.guest_residence.clone(),
        occupancy: occupancy.collect(),
        trigger: (&watch.trigger).into(),
        auto_book: watch.auto_book.as_ref().map(AutoBookResource::from),
        armed: watch.is_armed(),
        mandate_draft: mandate_draft(watch),
        mandate_id: watch.mandate_id.as_ref().map(ToString::to_string),
        last_checked_at: last_observed.map(|price| price.observed_at.into()),
        last_total: last_total.map(MoneyResource::from),
        booking_id: watch.booking_id().map(ToString::to_string),
        expires_at: watch.expires_at.into(),
        created_at: watch.created_at.into(),
        updated_at: watch.updated_at.into(),
    }
}

/// Builds the current price of an offer for events.
pub fn current_price(offer: &HotelOffer) -> CurrentPriceResource {
    let first = offer.rooms.first();
    let board = first.map(|room| room.board_name.clone());
    CurrentPriceResource {
        total: Amount(offer.total.to_major()),
        currency: CurrencyCode(offer.total.currency),
        room_type: first.map(|room| room.name.clone()).unwrap_or_default(),
        board: board.unwrap_or_default(),
        refundable: first.is_some_and(|room| room.policy.refundable),
    }
}

/// Builds the trip match of a hotel and its cheapest offer.
pub fn trip_match(
    id: &HotelId,
    hotel: &hotel::supplier_api::SupplierHotel,
    offer: &HotelOffer,
) -> TripMatchResource {
    TripMatchResource {
        hotel_id: id.to_string(),
        name: hotel.name.clone(),
        guest_rating: hotel.guest_rating,
        star_rating: hotel.star_rating,
        current: current_price(offer),
    }
}

fn mandate_draft(watch: &watch::Watch) -> Option<MandateDraftResource> {
    if watch.is_armed() || !watch.status().is_open() {
        return None;
    }
    let auto_book = watch.auto_book.as_ref()?;
    Some(MandateDraftResource {
        user_id: watch.owner.user.clone(),
        payment_amount: watch.trigger.amount().into(),
        payment_instrument: (&auto_book.payment_instrument_id).into(),
        scope: (&watch.mandate_scope()?).into(),
        expires_at: watch.expires_at.into(),
    })
}

impl From<&watch::Trigger> for WatchTriggerResource {
    fn from(trigger: &watch::Trigger) -> Self {
        match trigger {
            watch::Trigger::BelowTotal { amount } => Self {
                kind: TriggerTypeResource::BelowTotal,
                amount: Amount(money::Money::to_major(*amount)),
            },
        }
    }
}

impl From<&hotel::Occupancy> for WatchOccupancyResource {
    fn from(occupancy: &hotel::Occupancy) -> Self {
        Self {
            adults: u32::from(occupancy.adults),
            children: occupancy.children.iter().copied().map(u32::from).collect(),
        }
    }
}

impl From<&watch::TripFilters> for TripFiltersResource {
    fn from(filters: &watch::TripFilters) -> Self {
        let boards = filters.boards.iter().copied();
        Self {
            min_star_rating: filters.min_star_rating,
            min_guest_rating: filters.min_guest_rating,
            refundable: filters.refundable,
            board: boards.map(BoardResource::from).collect(),
        }
    }
}

impl From<TripFiltersResource> for watch::TripFilters {
    fn from(filters: TripFiltersResource) -> Self {
        // The order in which boards are listed must not change the query, so they are sorted.
        let mut boards: Vec<_> = filters.board.into_iter().map(hotel::Board::from).collect();
        boards.sort_by_key(|board| *board as u8);
        boards.dedup();
        Self {
            min_star_rating: filters.min_star_rating,
            min_guest_rating: filters.min_guest_rating,
            refundable: filters.refundable,
            boards,
        }
    }
}

impl From<&watch::AutoBook> for AutoBookResource {
    fn from(auto_book: &watch::AutoBook) -> Self {
        let rooms = auto_book.rooms.iter().map(|guests| AutoBookRoomResource {
            guests: guests.iter().map(AutoBookGuestResource::from).collect(),
        });
        Self {
            payment_instrument_id: auto_book.payment_instrument_id.to_string(),
            contact: booking::contact(&auto_book.contact),
            rooms: rooms.collect(),
        }
    }
}

impl From<&hotel::Guest> for AutoBookGuestResource {
    fn from(guest: &hotel::Guest) -> Self {
        Self {
            first_name: guest.first_name.clone(),
            last_name: guest.last_name.clone(),
            guest_type: guest.guest_type.into(),
            is_lead: guest.is_lead,
            age: guest.age.map(u32::from),
        }
    }
}

same_variants! {
    WatchStatusResource <=> WatchStatus: Active, Triggered, Purchasing, Purchased, PurchaseFailed,
    Expired, Canceled
}
