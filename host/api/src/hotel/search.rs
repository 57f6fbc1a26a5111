//! The operation that searches hotels in an area.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, KeyedBody, Validate, Validated, Violations, default_limit};
use crate::hotel::stay::{OccupancyRequest, StayRequest, stay_fields};
use crate::identifier::{PlaceIdParam, SupplierIdParam, validate_max_total};
use crate::response::{ApiResponse, ApiResult, List, ResponseMeta};
use axum::extract::State;
use host_application::catalog::hotel_search::{HotelSearchService, SearchQuery};
use host_domain::hotel::{self, supplier_api};
use host_domain::money::{Money, MoneyError};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_domain::watch::Area;
use host_resources::hotel::offer::BoardResource;
use host_resources::hotel::search::{self, FoundHotelResource};
use host_resources::value::{Amount, CountryCode, CurrencyCode, IsoDate, same_variants};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A circle around a point.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchArea)]
pub(crate) struct SearchAreaRequest {
    #[schema(minimum = -90, maximum = 90, example = 48.8566)]
    pub(crate) latitude: f64,
    #[schema(minimum = -180, maximum = 180, example = 2.3522)]
    pub(crate) longitude: f64,
    /// Radius in metres.
    #[schema(minimum = 1, maximum = 100_000, example = 5000)]
    pub(crate) radius: u32,
}

/// Filters of hotels.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchFilters)]
pub(crate) struct SearchFiltersRequest {
    #[schema(minimum = 0, maximum = 5, example = 3)]
    min_star_rating: Option<f64>,
    #[schema(minimum = 0, maximum = 10, example = 7.5)]
    min_guest_rating: Option<f64>,
    /// Only hotels with a refundable rate if true, only hotels with a non-refundable rate if false.
    refundable: Option<bool>,
    /// Only hotels with one of these boards.
    #[serde(default)]
    #[schema(max_items = 6)]
    board: Vec<BoardResource>,
    /// Maximum total for the whole stay, in `currency`; must be more than 0.
    max_total: Option<Amount>,
}

/// Sort order of hotels.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SearchSort)]
pub(crate) enum SearchSortRequest {
    /// Nearest first.
    #[default]
    Distance,
    /// Cheapest first.
    Total,
    /// Highest guest rating first.
    GuestRating,
    /// Highest star rating first.
    StarRating,
}

/// A search for hotels of an area that are available for a stay.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SearchRequest)]
pub(crate) struct HotelSearchRequest {
    /// Saved place to search around, within its suggested radius or else 10 km. Set either this or
    /// `location`.
    place_id: Option<PlaceIdParam>,
    /// Circle to search in.
    location: Option<SearchAreaRequest>,
    /// First night: from today, in the time zone of the hotel, to 700 days ahead.
    check_in: IsoDate,
    /// Day of departure, 1 to 60 nights later.
    #[schema(example = "2026-11-23")]
    check_out: IsoDate,
    /// Occupancy of each room.
    #[schema(min_items = 1, max_items = 9)]
    occupancy: Vec<OccupancyRequest>,
    guest_nationality: CountryCode,
    /// Country of residence of the guests, if it differs from their nationality.
    guest_residence: Option<CountryCode>,
    /// Currency to request and return prices in. Prices are not converted.
    currency: CurrencyCode,
    /// Supplier to call.
    supplier: Option<SupplierIdParam>,
    filters: Option<SearchFiltersRequest>,
    #[serde(default)]
    #[schema(default = "distance")]
    sort: SearchSortRequest,
    /// Maximum number of hotels to return.
    #[serde(default = "default_limit::<20>")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
}

/// Metadata of a hotel search.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SearchMeta {
    /// Id of the supplier that responded.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Present, and true, if more hotels matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Names of the `filters` (and `sort`) that the supplier does not apply. The gateway then
    /// applies ratings, `max_total` and the sort order to the supplier's hotels. It does not apply
    /// `refundable` and `board`.
    unsupported_filters: Vec<&'static str>,
}

impl ResponseMeta for SearchMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

impl Validate for HotelSearchRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        validate_area(self.place_id.as_ref(), self.location, found);
        validate_max_total(self.max_total(), found);
        self.stay_fields().validate(now, found);
    }
}

/// Adds a violation unless exactly one of the two is given.
pub(crate) fn validate_area(
    place: Option<&PlaceIdParam>,
    location: Option<SearchAreaRequest>,
    found: &mut Violations<'_>,
) {
    let detail = "give either place_id or location";
    match (place, location) {
        (Some(_), Some(_)) => found.push("/location", "exclusive", detail),
        (None, None) => found.push("/place_id", "required", detail),
        _ => {}
    }
}

/// Returns the area to search. Returns `None` if neither is given.
pub(crate) fn to_area(
    place: Option<PlaceIdParam>,
    location: Option<SearchAreaRequest>,
) -> Option<Area> {
    place.map(|place| Area::Place(place.0)).or_else(|| {
        let SearchAreaRequest {
            latitude,
            longitude,
            radius: radius_m,
        } = location?;
        let center = hotel::Location {
            latitude,
            longitude,
        };
        Some(Area::Around { center, radius_m })
    })
}

stay_fields!(HotelSearchRequest);

impl HotelSearchRequest {
    fn max_total(&self) -> Option<Result<Money, MoneyError>> {
        let amount = self.filters.as_ref()?.max_total?;
        Some(amount.to_money(self.currency))
    }

    fn into_query(self) -> Option<SearchQuery> {
        let max_total = self.max_total().transpose().ok()?;
        let stay = self.stay_fields().to_stay();
        let area = to_area(self.place_id, self.location)?;
        let filters = self.filters.unwrap_or_default();
        Some(SearchQuery {
            area,
            selector: self.supplier.map(|supplier| supplier.0),
            stay,
            filters: supplier_api::SearchFilters {
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

same_variants! {
    SearchSortRequest => supplier_api::SearchSort: Distance, Total, GuestRating, StarRating
}

/// Search hotels
///
/// Returns hotels around a place or a point that are available for the stay. Each has a permanent
/// gateway id. `lowest_total` is indicative: price the hotel to get bookable offers. Only the ids
/// of the hotels are stored, so an idempotency key has no effect.
#[utoipa::path(post, path = "/v1/hotel/search", tag = "Hotels",
    responses((status = 200, description = "The hotels.")),
    extensions(("x-error-codes" = json!(["place_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn search_hotels(
    State(hotel_search): State<Arc<HotelSearchService>>,
    Context(context): Context,
    Validated((_key, Body(request))): Validated<KeyedBody<HotelSearchRequest>>,
) -> ApiResult<List<FoundHotelResource>, SearchMeta> {
    let query = request.into_query().ok_or(ErrorCode::ValidationFailed)?;
    let found = hotel_search.search_hotels(&context, &query).await?;
    let hotels = found.hotels.into_iter();
    let hotels = hotels.map(|(id, hotel)| search::found_hotel(&id, hotel));
    let meta = SearchMeta {
        supplier: found.supplier,
        truncated: found.truncated.then_some(true),
        unsupported_filters: found.unsupported_filters,
    };
    Ok(ApiResponse::ok(List(hotels.collect())).meta(meta))
}
