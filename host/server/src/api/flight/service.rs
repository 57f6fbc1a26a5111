//! Bags on a ticket that exists: what is for sale, and buying it.

use crate::api::answer::{ApiResponse, List};
use crate::api::caller::RequestContext;
use crate::api::extract::{Body, Violations, PathId, IdempotencyKeyHeader, Validate, Validated};
use crate::api::identifier::{InstrumentIdParam, ServiceIdParam};
use crate::api::meta::SupplierMeta;
use crate::api::problem::ApiError;
use crate::app::Application;
use crate::flow::flight::purchase::PurchaseServicesCommand;
use crate::render::flight::booking::{self, FlightBooking};
use crate::render::flight::service::{self, AvailableService};
use axum::extract::State;
use host_domain::id::BookingId;
use host_domain::time::Timestamp;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::ToSchema;

/// A bag to buy.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceSelection {
    /// Of one that is for sale; each at most once.
    id: ServiceIdParam,
    /// How many, at most its `max_quantity`.
    #[schema(minimum = 1, maximum = 255, example = 1)]
    quantity: u32,
}

/// Bags to buy, and what pays them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PurchaseServicesRequest {
    #[schema(min_items = 1, max_items = 100)]
    services: Vec<ServiceSelection>,
    /// A stored instrument, charged by itself: the ticket's payment stays as it is.
    payment_instrument_id: InstrumentIdParam,
}

impl Validate for PurchaseServicesRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        let mut seen = HashSet::new();
        for (index, service) in self.services.iter().enumerate() {
            if !seen.insert(&service.id) {
                let pointer = format!("/services/{index}/id");
                found.push(pointer, "duplicate", "stands in the list before");
            }
        }
    }
}

/// List bags for sale
///
/// What the airline sells on a confirmed booking right now, asked live. Empty when it sells none, or when the booking carries bags already.
#[utoipa::path(get, path = "/v1/flight/bookings/{id}/services", tag = "Flight bookings",
    responses((status = 200, description = "What is for sale.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "supplier_rejected", "supplier_error", "supplier_unavailable",
        "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn list_flight_services(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> Result<ApiResponse<List<AvailableService>, SupplierMeta>, ApiError> {
    let (owner, request_id) = (&caller.owner, &caller.request_id);
    let offered = app
        .available_services(owner, &id, request_id, caller.deadline.instant())
        .await;
    let (supplier, bags) = offered.map_err(ApiError::from_service_purchase)?;
    let bags = bags
        .iter()
        .map(|bag| service::available_service(&bag.id, &bag.passenger, &bag.segment_ids, &bag.service));
    Ok(ApiResponse::ok(List(bags.collect())).meta(SupplierMeta::new(supplier)))
}

/// Buy bags
///
/// Buys bags on a confirmed booking with a stored card, as a payment of its own. 200: the supplier has confirmed them; they and the totals are in the booking. A capture that
/// fails is tried again in the background and never undoes them. A repeated key never charges or buys again: of a completed purchase it gives the booking as it is now,
/// of a declined card 422 `payment_failed`, of a supplier's refusal 422 `supplier_rejected`; after those two, a new try needs a new key. 500 `result_unknown`, on every
/// repeat, while the outcome is open: the gateway finds out; do not use a new key. What is not for sale (any more), or more of it than `max_quantity`, is 400, and nothing is charged.
#[utoipa::path(post, path = "/v1/flight/bookings/{id}/services", tag = "Flight bookings",
    responses((status = 200, description = "On the ticket.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_operation_unsupported", "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout", "result_unknown"]))))]
pub(crate) async fn purchase_flight_services(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        IdempotencyKeyHeader<256>,
        Body<PurchaseServicesRequest>,
    )>,
) -> Result<ApiResponse<FlightBooking, SupplierMeta>, ApiError> {
    let services = request.services.into_iter();
    let purchase = PurchaseServicesCommand {
        owner: caller.owner,
        booking: id,
        key: key.key,
        fingerprint: key.fingerprint,
        services: services.map(|one| (one.id.0, one.quantity)).collect(),
        instrument: request.payment_instrument_id.0,
        request_id: caller.request_id.to_string(),
        deadline: caller.deadline.instant(),
    };
    let booking = app.purchase_services(purchase).await.map_err(ApiError::from_service_purchase)?;
    Ok(ApiResponse::ok(booking::full(&booking)).meta(SupplierMeta::new(booking.supplier)))
}
