//! Operations on watches of hotel and trip prices.

use crate::error_code::ErrorCode;
use crate::extract::{
    Body, Context, IdempotencyKeyHeader, KeyedBody, PathId, Query, Validate, Validated, Violations,
    default_limit,
};
use crate::hotel::guest::{self, RoomGuestsRequest};
use crate::hotel::prebook::HotelContactRequest;
use crate::hotel::search::{SearchAreaRequest, to_area, validate_area};
use crate::hotel::stay::{OccupancyRequest, StayRequest, stay_fields};
use crate::identifier::{HotelIdParam, InstrumentIdParam, PlaceIdParam};
use crate::meta::PaginationMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, List, NoContent};
use axum::extract::State;
use host_application::context::RequestContext;
use host_application::idempotency::IdempotentRequest;
use host_application::watch::service::{Created, NewWatch, WatchService};
use host_domain::id::WatchId;
use host_domain::page::PageRequest;
use host_domain::time::Timestamp;
use host_domain::watch::list::WatchFilter;
use host_domain::watch::{AutoBook, PriceQuery, Trigger, WatchStatus, WatchTarget};
use host_resources::value::{CountryCode, CurrencyCode, IsoDate};
use host_resources::watch_event::{
    self, TripFiltersResource, WatchResource, WatchStatusResource, WatchTriggerResource,
};
use rust_decimal::Decimal;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Data for the automatic purchase of a watch, once it is confirmed.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AutoBookRequest {
    /// Id of the payment instrument to charge; it must belong to the calling user.
    payment_instrument_id: InstrumentIdParam,
    contact: HotelContactRequest,
    /// Rooms in the order of the occupancy, each with its guests.
    #[schema(min_items = 1, max_items = 9)]
    rooms: Vec<RoomGuestsRequest>,
}

/// A watch for the price of a stay at a hotel.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HotelWatchRequest {
    hotel_id: HotelIdParam,
    /// First night: from today, in the time zone of the hotel, to 700 days ahead.
    check_in: IsoDate,
    /// Day of departure, 1 to 60 nights later.
    #[schema(example = "2026-11-23")]
    check_out: IsoDate,
    /// Occupancy of each room; default is one room for two adults.
    #[serde(default = "two_adults")]
    #[schema(min_items = 1, max_items = 9, default = json!([{"adults": 2}]))]
    occupancy: Vec<OccupancyRequest>,
    guest_nationality: CountryCode,
    /// Country of residence of the guests, if it differs from their nationality.
    guest_residence: Option<CountryCode>,
    /// Currency to request and compare prices in.
    currency: CurrencyCode,
    trigger: WatchTriggerResource,
    /// Purchase data. The watch then has a mandate draft. Once it is confirmed, the watch purchases
    /// instead of notifying.
    auto_book: Option<AutoBookRequest>,
}

/// A watch for the price of any hotel in an area.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TripWatchRequest {
    /// Saved place to search around, within its suggested radius or else 10 km. Set either this or
    /// `location`.
    place_id: Option<PlaceIdParam>,
    /// Circle to search in.
    location: Option<SearchAreaRequest>,
    /// First night: from today to 700 days ahead.
    check_in: IsoDate,
    /// Day of departure, 1 to 60 nights later.
    #[schema(example = "2026-11-23")]
    check_out: IsoDate,
    /// Occupancy of each room; default is one room for two adults.
    #[serde(default = "two_adults")]
    #[schema(min_items = 1, max_items = 9, default = json!([{"adults": 2}]))]
    occupancy: Vec<OccupancyRequest>,
    guest_nationality: CountryCode,
    /// Country of residence of the guests, if it differs from their nationality.
    guest_residence: Option<CountryCode>,
    /// Currency to request and compare prices in.
    currency: CurrencyCode,
    filters: Option<TripFiltersResource>,
    trigger: WatchTriggerResource,
}

/// An empty request: it confirms the watch's `mandate_draft`.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(crate) struct ConfirmPurchaseRequest {}

/// Filter and page of watches.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchesQuery {
    /// Maximum number of watches to return.
    #[serde(default = "default_limit::<20>")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
    /// Number of watches to skip.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
    /// Only watches in this status.
    status: Option<WatchStatusResource>,
}

fn two_adults() -> Vec<OccupancyRequest> {
    vec![OccupancyRequest::adults_only(2)]
}

impl Validate for ConfirmPurchaseRequest {}
impl Validate for WatchesQuery {}

impl Validate for HotelWatchRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        validate_trigger(self.trigger, self.currency, found);
        if let Some(auto_book) = &self.auto_book {
            guest::validate_rooms(&auto_book.rooms, AUTO_BOOK_ROOMS, found);
            let stay = self.stay_fields();
            if stay.is_occupancy_valid(found) {
                let occupancies = stay.to_stay().occupancies;
                let rooms = &auto_book.rooms;
                guest::validate_occupancies(&occupancies, rooms, AUTO_BOOK_ROOMS, found);
            }
        }
        self.stay_fields().validate(now, found);
    }
}

impl Validate for TripWatchRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        validate_area(self.place_id.as_ref(), self.location, found);
        validate_trigger(self.trigger, self.currency, found);
        self.stay_fields().validate(now, found);
    }
}

const AUTO_BOOK_ROOMS: &str = "/auto_book/rooms";

fn validate_trigger(
    trigger: WatchTriggerResource,
    currency: CurrencyCode,
    found: &mut Violations<'_>,
) {
    let pointer = "/trigger/amount";
    if !found.are_valid(&[pointer]) {
        return;
    }
    if trigger.amount.0 < Decimal::ONE {
        found.push(pointer, "too_small", "must be at least 1");
    } else if let Err(error) = trigger.amount.to_money(currency)
        && found.are_valid(&["/currency"])
    {
        found.push(pointer, "not_allowed", error.to_string());
    }
}

stay_fields!(HotelWatchRequest, TripWatchRequest);

impl HotelWatchRequest {
    fn into_command(self) -> Result<NewWatch, ApiError> {
        let stay = self.stay_fields().to_stay();
        let auto_book = match self.auto_book {
            Some(request) => Some(AutoBook {
                payment_instrument_id: request.payment_instrument_id.0,
                contact: request.contact.into(),
                rooms: guest::to_guests(&stay.occupancies, request.rooms),
            }),
            None => None,
        };
        let target = WatchTarget::Hotel {
            hotel_id: self.hotel_id.0,
        };
        Ok(NewWatch {
            query: PriceQuery { target, stay },
            trigger: trigger(self.trigger, self.currency)?,
            auto_book,
        })
    }
}

impl TripWatchRequest {
    fn into_command(self) -> Result<NewWatch, ApiError> {
        let stay = self.stay_fields().to_stay();
        let area = to_area(self.place_id, self.location).ok_or(ErrorCode::ValidationFailed)?;
        let filters = self.filters.unwrap_or_default().into();
        let target = WatchTarget::Trip { area, filters };
        Ok(NewWatch {
            query: PriceQuery { target, stay },
            trigger: trigger(self.trigger, self.currency)?,
            auto_book: None,
        })
    }
}

fn trigger(trigger: WatchTriggerResource, currency: CurrencyCode) -> Result<Trigger, ApiError> {
    let amount = trigger
        .amount
        .to_money(currency)
        .map_err(ApiError::internal)?;
    Ok(Trigger::BelowTotal { amount })
}

/// Watch a hotel
///
/// Waits until the cheapest offer for a stay costs `trigger.amount` or less, for all rooms. The
/// price is checked immediately and then every quarter of an hour, more often in the last week
/// before check-in. When the price is reached, the event `travel.hotel.watch.triggered` is sent
/// once and the watch becomes `triggered`. It becomes `active` again when the price exceeds the
/// amount or nothing is available. It expires when the day of check-in has ended in every time
/// zone. With `auto_book` the watch has a `mandate_draft`; until the purchase is confirmed it only
/// notifies.
///
/// Responds 201 the first time. Repeating the same request with the same idempotency key responds
/// 200 with the watch in its current state.
#[utoipa::path(post, path = "/v1/watcher/travel/hotel/watches", tag = "Watches",
    responses((status = 201, description = "Watched."), (status = 200, description = "Watched since an earlier call with this key; the watch as it is now.")),
    extensions(("x-error-codes" = json!(["hotel_not_found", "payment_instrument_invalid", "supplier_operation_unsupported", "result_unknown"]))))]
pub(crate) async fn create_hotel_watch(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated((key, Body(request))): Validated<KeyedBody<HotelWatchRequest>>,
) -> ApiResult<WatchResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "hotel_watch"));
    create(&watches, &context, request.into_command()?, key).await
}

/// Watch a trip
///
/// Waits until any hotel in an area costs `trigger.amount` or less for the stay, for all rooms. The
/// event `travel.hotel.trip_watch.triggered` names up to three hotels, cheapest first, each with
/// its cheapest offer that passes `filters`. A trip watch only notifies. Otherwise it behaves like
/// a hotel watch; both are read, listed and deleted with the same operations.
#[utoipa::path(post, path = "/v1/watcher/travel/hotel/trip-watches", tag = "Watches",
    responses((status = 201, description = "Watched."), (status = 200, description = "Watched since an earlier call with this key; the watch as it is now.")),
    extensions(("x-error-codes" = json!(["place_not_found", "supplier_operation_unsupported", "result_unknown"]))))]
pub(crate) async fn create_trip_watch(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated((key, Body(request))): Validated<KeyedBody<TripWatchRequest>>,
) -> ApiResult<WatchResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "trip_watch"));
    create(&watches, &context, request.into_command()?, key).await
}

async fn create(
    watches: &WatchService,
    context: &RequestContext,
    new: NewWatch,
    key: Option<IdempotentRequest>,
) -> ApiResult<WatchResource> {
    Ok(match watches.create(context, new, key.as_ref()).await? {
        Created::New(stored) => {
            ApiResponse::created(watch_event::watch(&stored.watch, stored.last_observed))
        }
        Created::Existing(stored) => {
            ApiResponse::ok(watch_event::watch(&stored.watch, stored.last_observed))
        }
    })
}

/// List watches
///
/// Lists the hotel and trip watches of the calling organization and user, including finished ones,
/// newest first. `meta.pagination.total` is the exact number of watches that match the filter.
/// Watches that are created or changed between requests can shift pages.
#[utoipa::path(get, path = "/v1/watcher/travel/hotel/watches", tag = "Watches",
    responses((status = 200, description = "A page of watches.")))]
pub(crate) async fn list_watches(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<WatchesQuery>>,
) -> ApiResult<List<WatchResource>, PaginationMeta> {
    let WatchesQuery {
        limit,
        offset,
        status,
    } = query;
    let status = status.map(WatchStatus::from);
    let (filter, page) = (WatchFilter { status }, PageRequest { limit, offset });
    let (listed, total) = watches.list(&context.owner, filter, page).await?;
    let meta = PaginationMeta::of(page, listed.has_more, total);
    let watches = (listed.items.iter())
        .map(|stored| watch_event::watch(&stored.watch, stored.last_observed))
        .collect();
    Ok(ApiResponse::ok(List(watches)).meta(meta))
}

/// Get a watch
#[utoipa::path(get, operation_id = "read_watch", path = "/v1/watcher/travel/hotel/watches/{watch_id}", tag = "Watches",
    responses((status = 200, description = "The watch.")),
    extensions(("x-error-codes" = json!(["watch_not_found"]))))]
pub(crate) async fn get_watch(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<WatchId>>,
) -> ApiResult<WatchResource> {
    let found = watches.find(&context.owner, &id).await?;
    let resource = watch_event::watch(&found.watch, found.last_observed);
    Ok(ApiResponse::ok(resource))
}

/// Delete a watch
///
/// Ends the watch, which stays readable as `canceled`, and revokes its mandate, if it has one. A
/// watch that is `purchasing` cannot be stopped, and a finished watch stays unchanged; both respond
/// 409.
#[utoipa::path(delete, path = "/v1/watcher/travel/hotel/watches/{watch_id}", tag = "Watches",
    responses((status = 204, description = "Deleted.")),
    extensions(("x-error-codes" = json!(["watch_not_found", "watch_state_conflict", "result_unknown"]))))]
pub(crate) async fn delete_watch(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<WatchId>>,
) -> Result<NoContent, ApiError> {
    watches.cancel(&context, &id).await?;
    Ok(NoContent)
}

/// Confirm a watch's purchase
///
/// Seals the watch's `mandate_draft` into a mandate and arms the watch. It then purchases once, at
/// `trigger.amount` or less, and reports the outcome instead of the price. A watch that was
/// `triggered` becomes `active` again, and its price is checked immediately. A watch that is
/// already armed stays unchanged. The response is 409 without `auto_book`, and if the watch is
/// finished. The body is `{}`.
#[utoipa::path(post, operation_id = "confirm_purchase", path = "/v1/watcher/travel/hotel/watches/{watch_id}/confirm-purchase", tag = "Watches",
    responses((status = 200, description = "The armed watch.")),
    extensions(("x-error-codes" = json!(["watch_not_found", "watch_state_conflict", "payment_instrument_invalid", "result_unknown"]))))]
pub(crate) async fn confirm_watch_purchase(
    State(watches): State<Arc<WatchService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(ConfirmPurchaseRequest {}))): Validated<(
        PathId<WatchId>,
        Option<IdempotencyKeyHeader>,
        Body<ConfirmPurchaseRequest>,
    )>,
) -> ApiResult<WatchResource> {
    let key = key.map(|key| key.for_operation(&context.owner, "confirm_purchase"));
    let armed = watches.confirm_purchase(&context, &id, key.as_ref());
    let armed = armed.await?;
    let resource = watch_event::watch(&armed.watch, armed.last_observed);
    Ok(ApiResponse::ok(resource))
}
