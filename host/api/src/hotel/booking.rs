//! Operations that read hotel bookings.

use crate::error_code::ErrorCode;
use crate::extract::{Context, PathId, Query, Validate, Validated, default_limit};
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult, List, ResponseMeta};
use axum::extract::State;
use host_application::booking::reader::BookingReader;
use host_domain::booking::BookingStatus;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::BookingId;
use host_domain::page::PageRequest;
use host_resources::hotel::booking::{
    self, HotelBookingResource, HotelBookingStatusResource, HotelBookingSummaryResource,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Filters and page of hotel bookings.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HotelBookingsQuery {
    /// Maximum number of bookings to return.
    #[serde(default = "default_limit::<25>")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    /// Number of bookings to skip.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
    /// Only bookings in this status.
    status: Option<HotelBookingStatusResource>,
    /// Only bookings with exactly this `reference_id`; case-sensitive.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$"
    )]
    reference_id: Option<String>,
}

impl Validate for HotelBookingsQuery {}

/// Position of a page in a list.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct PageMeta {
    limit: u32,
    offset: u64,
    /// Whether there are further items after this page.
    has_more: bool,
}

impl ResponseMeta for PageMeta {}

/// List bookings
///
/// Lists the bookings of the calling organization and user, newest first, without cards. Bookings
/// that are created between requests can shift pages.
#[utoipa::path(get, path = "/v1/hotel/bookings", tag = "Hotel bookings",
    responses((status = 200, description = "A page of bookings.")))]
pub(crate) async fn list_hotel_bookings(
    State(bookings): State<Arc<BookingReader>>,
    Context(context): Context,
    Validated(Query(query)): Validated<Query<HotelBookingsQuery>>,
) -> ApiResult<List<HotelBookingSummaryResource>, PageMeta> {
    let filter = HotelBookingFilter {
        status: query.status.map(BookingStatus::from),
        reference_id: query.reference_id,
    };
    let (limit, offset) = (query.limit, query.offset);
    let page = PageRequest { limit, offset };
    let listed = bookings.list_hotels(&context.owner, &filter, page).await;
    let listed = listed.map_err(ApiError::from_storage)?;
    let meta = PageMeta {
        limit,
        offset,
        has_more: listed.has_more,
    };
    Ok(ApiResponse::ok(List(listed.items.iter().map(booking::summary).collect())).meta(meta))
}

/// Get a booking
///
/// Returns the booking as stored; no supplier is called. Only this response contains the `cards` of
/// payments.
#[utoipa::path(get, operation_id = "read_hotel_booking", path = "/v1/hotel/bookings/{id}", tag = "Hotel bookings",
    responses((status = 200, description = "The booking.")),
    extensions(("x-error-codes" = json!(["booking_not_found"]))))]
pub(crate) async fn get_hotel_booking(
    State(bookings): State<Arc<BookingReader>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<HotelBookingResource> {
    let booking = bookings.find_hotel(&context.owner, &id).await;
    let booking = booking.map_err(ApiError::from_storage)?;
    let booking = booking.ok_or(ErrorCode::BookingNotFound)?;
    Ok(ApiResponse::ok(booking::full_booking(&booking)))
}
