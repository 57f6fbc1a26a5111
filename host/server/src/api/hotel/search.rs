//! Searching the hotels of an area.

use crate::api::answer::{ApiResponse, List, ResponseMeta};
use crate::api::caller::RequestContext;
use crate::api::code::Code;
use crate::api::extract::{Body, Violations, IdempotencyKeyHeader, Validate, Validated};
use crate::api::hotel::stay::{Occupancy, StayRequest};
use crate::api::identifier::{PlaceIdParam, SupplierIdParam};
use crate::api::problem::ApiError;
use crate::api::value::{Amount, CountryCode, CurrencyCode, IsoDate};
use crate::app::Application;
use crate::query::hotel::search::{Area, SearchQuery};
use crate::render::offer::Board;
use crate::render::search::{self, FoundHotel};
use axum::extract::State;
use host_domain::hotel;
use host_domain::hotel::supply;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Around a point.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArea {
    #[schema(minimum = -90, maximum = 90, example = 48.8566)]
    pub(in crate::api) latitude: f64,
    #[schema(minimum = -180, maximum = 180, example = 2.3522)]
    pub(in crate::api) longitude: f64,
    /// Metres.
    #[schema(minimum = 1, maximum = 100_000, example = 5000)]
    pub(in crate::api) radius: u32,
}

/// What hotels must have.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFilters {
    #[schema(minimum = 0, maximum = 5, example = 3)]
    min_star_rating: Option<f64>,
    #[schema(minimum = 0, maximum = 10, example = 7.5)]
    min_guest_rating: Option<f64>,
    /// Only hotels with a refundable rate, or only those with another.
    refundable: Option<bool>,
    /// Any of these.
    #[serde(default)]
    #[schema(max_items = 6)]
    board: Vec<Board>,
    /// The most that the whole stay may cost, in `currency`; more than 0.
    max_total: Option<Amount>,
}

/// In which order.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SearchSort {
    /// Nearest first.
    #[default]
    Distance,
    /// Cheapest first.
    Total,
    /// Best rated first.
    GuestRating,
    /// Most stars first.
    StarRating,
}

/// Hotels of an area that are free for a stay.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HotelSearchRequest {
    /// Around a saved place, as far as it suggests, or 10 km. Either this or `location`.
    place_id: Option<PlaceIdParam>,
    /// Around a point.
    location: Option<SearchArea>,
    /// First night; from today, where the hotel is, to 700 days ahead.
    check_in: IsoDate,
    /// Morning of departure, 1 to 60 nights later.
    #[schema(example = "2026-11-23")]
    check_out: IsoDate,
    /// One a room.
    #[schema(min_items = 1, max_items = 9)]
    occupancy: Vec<Occupancy>,
    guest_nationality: CountryCode,
    /// Where the guests live, if not where they are nationals.
    guest_residence: Option<CountryCode>,
    /// Prices are asked for, and given, in this currency; nothing is converted.
    currency: CurrencyCode,
    /// The supplier to ask.
    supplier: Option<SupplierIdParam>,
    filters: Option<SearchFilters>,
    #[serde(default)]
    #[schema(default = "distance")]
    sort: SearchSort,
    /// The most hotels to answer.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
}

/// How the answer came about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SearchMeta {
    /// The supplier that answered.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Present, and true, when more hotels matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// What of `filters` (and `sort`) the supplier does not apply. Ratings and `max_total` are then
    /// applied, and the order is made, by the gateway, to what the supplier answered; `refundable` and `board` are not applied.
    unsupported_filters: Vec<&'static str>,
}

impl ResponseMeta for SearchMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

const fn limit() -> u32 {
    20
}

impl Validate for HotelSearchRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        match (&self.place_id, &self.location) {
            (Some(_), Some(_)) => {
                found.push("/location", "exclusive", "give either place_id or location")
            }
            (None, None) => found.push("/place_id", "required", "give either place_id or location"),
            _ => {}
        }
        let max_total = self.max_total();
        if let Some(Err(error)) = &max_total {
            found.push("/filters/max_total", "not_allowed", error.to_string());
        }
        if matches!(max_total, Some(Ok(total)) if total.minor <= 0) {
            found.push("/filters/max_total", "too_small", "must be more than 0");
        }
        self.stay_fields().validate(now, found);
    }
}

impl HotelSearchRequest {
    fn stay_fields(&self) -> StayRequest<'_> {
        StayRequest {
            check_in: self.check_in,
            check_out: self.check_out,
            occupancy: &self.occupancy,
            guest_nationality: self.guest_nationality,
            guest_residence: self.guest_residence,
            currency: self.currency,
        }
    }

    fn max_total(
        &self,
    ) -> Option<Result<host_domain::money::Money, host_domain::money::MoneyError>> {
        let amount = self.filters.as_ref()?.max_total?;
        Some(amount.to_money(self.currency))
    }

    fn into_query(self) -> Option<SearchQuery> {
        let max_total = self.max_total().transpose().ok()?;
        let stay = self.stay_fields().to_stay();
        let area = match (self.place_id, self.location) {
            (Some(place), _) => Area::Place(place.0),
            (None, Some(around)) => Area::Circle {
                center: hotel::Location {
                    latitude: around.latitude,
                    longitude: around.longitude,
                },
                radius_m: around.radius,
            },
            (None, None) => return None,
        };
        let filters = self.filters.unwrap_or_default();
        Some(SearchQuery {
            area,
            selector: self.supplier.map(|supplier| supplier.0),
            stay,
            filters: supply::SearchFilters {
                min_star_rating: filters.min_star_rating,
                min_guest_rating: filters.min_guest_rating,
                refundable: filters.refundable,
                boards: filters.board.into_iter().map(hotel::Board::from).collect(),
                max_total,
            },
            sort: self.sort.into(),
            limit: u16::try_from(self.limit).unwrap_or(u16::MAX),
        })
    }
}

impl From<SearchSort> for supply::SearchSort {
    fn from(sort: SearchSort) -> Self {
        match sort {
            SearchSort::Distance => Self::Distance,
            SearchSort::Total => Self::Total,
            SearchSort::GuestRating => Self::GuestRating,
            SearchSort::StarRating => Self::StarRating,
        }
    }
}

/// Search hotels
///
/// Hotels around a place or a point that are free for the stay, each with an id of the gateway that stays
/// the same for good. `lowest_total` is indicative: price the hotel to get offers that can be booked. Nothing is kept of
/// the call but the hotels' ids, so an idempotency key has no effect here.
#[utoipa::path(post, path = "/v1/hotel/search", tag = "Hotels",
    responses((status = 200, description = "The hotels.")),
    extensions(("x-error-codes" = json!(["place_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn search_hotels(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((_key, Body(request))): Validated<(Option<IdempotencyKeyHeader>, Body<HotelSearchRequest>)>,
) -> Result<ApiResponse<List<FoundHotel>, SearchMeta>, ApiError> {
    let query = request.into_query().ok_or(Code::ValidationFailed)?;
    let found = app
        .search_hotels(&caller, &query)
        .await
        .map_err(ApiError::from_query)?;
    let hotels = found
        .hotels
        .into_iter()
        .map(|(id, hotel)| search::found_hotel(&id, hotel));
    let meta = SearchMeta {
        supplier: found.supplier,
        truncated: found.truncated.then_some(true),
        unsupported_filters: found.unsupported_filters,
    };
    Ok(ApiResponse::ok(List(hotels.collect())).meta(meta))
}
