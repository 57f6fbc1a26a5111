//! The weather of a booking's stay.

use crate::api::answer::ApiResponse;
use crate::api::caller::RequestContext;
use crate::api::extract::{PathId, Validated};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::render::weather::{self, StayWeather};
use axum::extract::State;
use host_domain::id::BookingId;
use std::sync::Arc;

/// Read the weather of a stay
///
/// Daily weather where the booked hotel stands, from check-in to check-out, both included. Every call asks the supplier of the
/// booking anew and changes nothing. Only days that can be foretold are there, and the further ahead
/// they are, beyond a week above all, the less they can be relied on. A value that is left out is not known.
#[utoipa::path(get, path = "/v1/hotel/bookings/{id}/weather", tag = "Hotel bookings",
    responses((status = 200, description = "The weather.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_stay_weather(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> Result<ApiResponse<StayWeather, SupplierMeta>, ApiError> {
    let (booking, days) = app
        .stay_weather(&caller, &id)
        .await
        .map_err(ApiError::from_query)?;
    let meta = SupplierMeta::new(booking.supplier.clone());
    Ok(ApiResponse::ok(weather::stay_weather(&booking, days)).meta(meta))
}
