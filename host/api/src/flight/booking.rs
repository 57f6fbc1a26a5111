//! Operations that read flight bookings.

use crate::error_code::ErrorCode;
use crate::extract::{Context, PathId, Query, Validate, Validated, default_limit};
use crate::flight::SortOrder;
use crate::identifier::SupplierIdParam;
use crate::meta::PaginationMeta;
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::booking::reader::BookingReader;
use host_domain::booking::BookingStatus;
use host_domain::flight::list::{FlightBookingFilter, FlightBookingSort};
use host_domain::id::BookingId;
use host_domain::page::PageRequest;
use host_resources::flight::booking::{self, FlightBookingResource, FlightBookingStatusResource};
use host_resources::value::{IsoDateOrDateTime, same_variants};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Sort key of flight bookings.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BookingSort {
    /// Time of creation.
    #[default]
    CreatedAt,
    /// Numeric amount, regardless of currency. Bookings without a price come last in both
    /// directions.
    TotalAmount,
}

/// Filters, order and page of flight bookings.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlightBookingsQuery {
    /// Maximum number of bookings to return.
    #[serde(default = "default_limit::<20>")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
    /// Number of bookings to skip.
    #[serde(default)]
    #[schema(minimum = 0, default = 0)]
    offset: u64,
    /// Only bookings in this status.
    status: Option<FlightBookingStatusResource>,
    /// Only bookings at this supplier.
    supplier: Option<SupplierIdParam>,
    /// Only bookings created at this time or later. A date means its midnight in UTC.
    created_from: Option<IsoDateOrDateTime>,
    /// Only bookings created at this time or earlier, to the millisecond. A date means its end in
    /// UTC.
    created_to: Option<IsoDateOrDateTime>,
    /// Only the booking with exactly this supplier reference.
    #[schema(
        min_length = 1,
        max_length = 300,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$"
    )]
    supplier_reference: Option<String>,
    /// Sort key.
    #[serde(default)]
    #[schema(default = "created_at")]
    sort: BookingSort,
    /// Sort direction.
    #[serde(default = "order")]
    #[schema(default = "desc")]
    order: SortOrder,
}

impl Validate for FlightBookingsQuery {}

const fn order() -> SortOrder {
    SortOrder::Desc
}

impl From<FlightBookingsQuery> for FlightBookingFilter {
    fn from(query: FlightBookingsQuery) -> Self {
        Self {
            status: query.status.map(BookingStatus::from),
            supplier: query.supplier.map(|id| id.0),
            supplier_reference: query.supplier_reference,
            created_from: query.created_from.map(|from| from.start),
            created_to: query.created_to.map(|to| to.end),
            sort: query.sort.into(),
            descending: query.order.is_descending(),
        }
    }
}

same_variants! { BookingSort => FlightBookingSort: CreatedAt, TotalAmount }

/// List flight bookings
///
/// Lists the bookings of the calling organization and user, newest first by default. Payments in
/// the list have no `payment_method`. `meta.pagination.total` is the exact number of bookings that
/// match the filters. Bookings that are created or changed between requests can shift pages.
/// Sorting by travel date is not supported.
#[utoipa::path(get, path = "/v1/flight/bookings", tag = "Flight bookings",
    responses((status = 200, description = "A page of bookings.")))]
pub(crate) async fn list_flight_bookings(
    State(bookings): State<Arc<BookingReader>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<FlightBookingsQuery>>,
) -> ApiResult<List<FlightBookingResource>, PaginationMeta> {
    let (limit, offset) = (query.limit, query.offset);
    let (filter, page) = (query.into(), PageRequest { limit, offset });
    let listed = bookings.list_flights(&context.owner, &filter, page).await;
    let (listed, total) = listed.map_err(ApiError::from_storage)?;
    let meta = PaginationMeta::of(page, listed.has_more, total);
    let resources = listed
        .items
        .iter()
        .map(booking::booking_without_payment_methods);
    Ok(ApiResponse::ok(List(resources.collect())).meta(meta))
}

/// Get a flight booking
///
/// Returns the booking as stored, in any status; no supplier is called. Its payments include the
/// card that was used, if it could be read.
#[utoipa::path(get, operation_id = "read_flight_booking", path = "/v1/flight/bookings/{id}", tag = "Flight bookings",
    responses((status = 200, description = "The booking.")),
    extensions(("x-error-codes" = json!(["booking_not_found"]))))]
pub(crate) async fn get_flight_booking(
    State(bookings): State<Arc<BookingReader>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<FlightBookingResource> {
    let booking = bookings.find_flight(&context.owner, &id).await;
    let booking = booking.map_err(ApiError::from_storage)?;
    let booking = booking.ok_or(ErrorCode::BookingNotFound)?;
    Ok(ApiResponse::ok(booking::full_booking(&booking)))
}
