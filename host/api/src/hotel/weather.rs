//! The operation that reads the weather of a booking's stay.

use crate::extract::{Context, PathId, Validated};
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::catalog::weather::WeatherService;
use host_domain::id::BookingId;
use host_resources::hotel::weather::{self, StayWeatherResource};
use std::sync::Arc;

/// Get the weather of a stay
///
/// Returns the daily weather at the booked hotel, from check-in to check-out, both included. Every
/// request calls the supplier of the booking and changes nothing. Only days with a forecast are
/// included. Forecasts become less reliable with distance, especially beyond a week. Unknown values
/// are omitted.
#[utoipa::path(get, operation_id = "read_stay_weather", path = "/v1/hotel/bookings/{id}/weather", tag = "Hotel bookings",
    responses((status = 200, description = "The weather.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_stay_weather(
    State(weather): State<Arc<WeatherService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<StayWeatherResource, SupplierMeta> {
    let (booking, days) = weather.stay_weather(&context, &id).await?;
    let meta = SupplierMeta::new(booking.supplier.clone());
    Ok(ApiResponse::ok(weather::stay_weather(&booking, days)).meta(meta))
}
