//! The operation that reads price calendars.

use crate::extract::{Body, Context, KeyedBody, Validate, Validated, Violations};
use crate::hotel::stay::days_between;
use crate::identifier::{HotelIdParam, SupplierIdParam, check_distinct};
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::catalog::price_calendar::{CalendarQuery, PriceCalendarService};
use host_domain::time::Timestamp;
use host_resources::hotel::price_calendar::{self, PriceCalendarResource};
use host_resources::value::IsoDate;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

const WINDOW_DAYS_MAX: i64 = 365;

/// Hotels and dates of a price calendar.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceCalendarRequest {
    /// Ids of hotels of one supplier.
    #[schema(min_items = 1, max_items = 50)]
    hotel_ids: Vec<HotelIdParam>,
    /// First date.
    from: IsoDate,
    /// Last date, at most 365 days after `from`.
    #[schema(example = "2026-12-21")]
    to: IsoDate,
    /// Supplier to call.
    supplier: Option<SupplierIdParam>,
}

impl Validate for PriceCalendarRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        check_distinct(Some(&self.hotel_ids), "/hotel_ids", found);
        if !found.are_valid(&["/from", "/to"]) {
            return;
        }
        match days_between(self.from.0, self.to.0) {
            ..0 => found.push("/to", "before_from", "must not be before from"),
            0..=WINDOW_DAYS_MAX => {}
            _ => {
                let detail = format!("must be at most {WINDOW_DAYS_MAX} days after from");
                found.push("/to", "too_long", detail);
            }
        }
    }
}

impl PriceCalendarRequest {
    fn into_query(self) -> CalendarQuery {
        CalendarQuery {
            hotels: self.hotel_ids.into_iter().map(|id| id.0).collect(),
            from: self.from.0,
            to: self.to.0,
            selector: self.supplier.map(|supplier| supplier.0),
        }
    }
}

/// Get a price calendar
///
/// Returns average nightly prices of up to 50 hotels of one supplier, over the stays that include
/// each date. The prices are indicative, in US dollars, and not bookable. Dates without a price,
/// and hotels without any price, are omitted. Suppliers allow only few of these calls. By default
/// the gateway makes 5 a minute to each supplier and responds 503 `supplier_rate_limited` beyond
/// that. An idempotency key has no effect.
#[utoipa::path(post, operation_id = "read_price_calendar", path = "/v1/hotel/price-calendar", tag = "Hotels",
    responses((status = 200, description = "The prices.")),
    extensions(("x-error-codes" = json!(["hotel_not_found", "supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn get_price_calendar(
    State(price_calendars): State<Arc<PriceCalendarService>>,
    Context(context): Context,
    Validated((_key, Body(request))): Validated<KeyedBody<PriceCalendarRequest>>,
) -> ApiResult<List<PriceCalendarResource>, SupplierMeta> {
    let (supplier, hotels) = price_calendars
        .price_calendar(&context, request.into_query())
        .await?;
    let rows = hotels
        .iter()
        .map(|(id, prices)| price_calendar::price_calendar(id, prices));
    Ok(ApiResponse::ok(List(rows.collect())).meta(SupplierMeta::new(supplier)))
}
