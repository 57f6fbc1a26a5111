//! Reading hotel bookings.

use crate::api::answer::{Answer, List, Meta};
use crate::api::caller::Caller;
use crate::api::code::Code;
use crate::api::extract::{Id, Query, Rules, Valid};
use crate::api::problem::ApiError;
use crate::app::App;
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
pub(crate) struct BookingsQuery {
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

impl Rules for BookingsQuery {}

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

impl Meta for PageMeta {}

/// List bookings
///
/// The bookings of the calling organization and user, newest first, without cards. Bookings that are made meanwhile
/// can shift pages.
#[utoipa::path(get, path = "/v1/hotel/bookings", tag = "Hotel bookings",
    responses((status = 200, description = "A page of bookings.")))]
pub(crate) async fn list_hotel_bookings(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid(Query(query)): Valid<Query<BookingsQuery>>,
) -> Result<Answer<List<HotelBookingSummary>, PageMeta>, ApiError> {
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
        .map_err(ApiError::storage)?;
    let meta = PageMeta {
        limit: page.limit,
        offset: page.offset,
        has_more: listed.has_more,
    };
    Ok(Answer::ok(List(listed.items.iter().map(booking::summary).collect())).meta(meta))
}

/// Read a booking
///
/// As the gateway knows it; no supplier is asked. Only here do payments carry `cards`.
#[utoipa::path(get, path = "/v1/hotel/bookings/{id}", tag = "Hotel bookings",
    responses((status = 200, description = "The booking.")),
    extensions(("x-error-codes" = json!(["booking_not_found"]))))]
pub(crate) async fn read_hotel_booking(
    State(app): State<Arc<App>>,
    caller: Caller,
    Valid(Id(id)): Valid<Id<BookingId>>,
) -> Result<Answer<HotelBooking>, ApiError> {
    let found = app
        .store
        .hotel_booking(&caller.owner, &id)
        .await
        .map_err(ApiError::storage)?;
    let found = found.ok_or(Code::BookingNotFound)?;
    Ok(Answer::ok(booking::whole(&found)))
}
