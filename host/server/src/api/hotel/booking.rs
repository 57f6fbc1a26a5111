//! Reading hotel bookings.

use crate::api::answer::{ApiResponse, List, ResponseMeta};
use crate::api::caller::RequestContext;
use crate::api::code::Code;
use crate::api::extract::{PathId, Query, Validate, Validated};
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::render::booking::{self, HotelBooking, HotelBookingStatus, HotelBookingSummary};
use axum::extract::State;
use host_domain::hotel::Status;
use host_domain::id::BookingId;
use host_storage::{HotelBookingFilter, PageRequest};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Which bookings, and which part of them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HotelBookingsQuery {
    /// The most to answer.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    /// How many to pass over.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 100_000, default = 0)]
    offset: u64,
    /// Only bookings in this status.
    status: Option<HotelBookingStatus>,
    /// Only bookings with exactly this reference of the caller; upper and lower case differ.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F]*$"
    )]
    reference_id: Option<String>,
}

impl Validate for HotelBookingsQuery {}

const fn limit() -> u32 {
    25
}

/// Which part of a list this is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct PageMeta {
    limit: u32,
    offset: u64,
    /// Whether the next page would hold something.
    has_more: bool,
}

impl ResponseMeta for PageMeta {}

/// List bookings
///
/// The bookings of the calling organization and user, newest first, without cards. Bookings that are made meanwhile
/// can shift pages.
#[utoipa::path(get, path = "/v1/hotel/bookings", tag = "Hotel bookings",
    responses((status = 200, description = "A page of bookings.")))]
pub(crate) async fn list_hotel_bookings(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(Query(query)): Validated<Query<HotelBookingsQuery>>,
) -> Result<ApiResponse<List<HotelBookingSummary>, PageMeta>, ApiError> {
    let filter = HotelBookingFilter {
        status: query.status.map(Status::from),
        reference_id: query.reference_id,
    };
    let page = PageRequest {
        limit: query.limit,
        offset: query.offset,
    };
    let listed = app
        .store
        .hotel_bookings(&caller.owner, &filter, page)
        .await
        .map_err(ApiError::from_database)?;
    let meta = PageMeta {
        limit: page.limit,
        offset: page.offset,
        has_more: listed.has_more,
    };
    Ok(ApiResponse::ok(List(listed.items.iter().map(booking::summary).collect())).meta(meta))
}

/// Read a booking
///
/// As the gateway knows it; no supplier is asked. Only here do payments carry `cards`.
#[utoipa::path(get, path = "/v1/hotel/bookings/{id}", tag = "Hotel bookings",
    responses((status = 200, description = "The booking.")),
    extensions(("x-error-codes" = json!(["booking_not_found"]))))]
pub(crate) async fn get_hotel_booking(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> Result<ApiResponse<HotelBooking>, ApiError> {
    let found = app
        .store
        .hotel_booking(&caller.owner, &id)
        .await
        .map_err(ApiError::from_database)?;
    let found = found.ok_or(Code::BookingNotFound)?;
    Ok(ApiResponse::ok(booking::full(&found)))
}
