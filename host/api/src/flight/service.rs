//! Bags for an existing ticket: available services and their purchase.

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, PathId, Validate, Validated, Violations,
};
use crate::identifier::{InstrumentIdParam, ServiceIdParam};
use crate::meta::SupplierMeta;
use crate::response::{ApiResponse, ApiResult, List};
use axum::extract::State;
use host_application::booking::service_purchase::{
    PurchaseServicesCommand, ServicePurchaseService,
};
use host_domain::id::BookingId;
use host_domain::time::Timestamp;
use host_resources::flight::booking::{self, FlightBookingResource};
use host_resources::flight::service::{self, AvailableServiceResource};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::ToSchema;

/// A service to purchase.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WantedService)]
pub(crate) struct ServiceSelectionRequest {
    /// Id of an available service. Each may occur once.
    id: ServiceIdParam,
    /// Quantity, at most the `max_quantity` of the service.
    #[schema(minimum = 1, maximum = 255, example = 1)]
    quantity: u32,
}

/// Services to purchase, and their payment.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = BuyServicesRequest)]
pub(crate) struct PurchaseServicesRequest {
    #[schema(min_items = 1, max_items = 100)]
    services: Vec<ServiceSelectionRequest>,
    /// Id of a stored payment instrument. It is charged separately: the ticket's payment does not
    /// change.
    payment_instrument_id: InstrumentIdParam,
}

impl Validate for PurchaseServicesRequest {
    fn validate(&self, _: Timestamp, found: &mut Violations<'_>) {
        let mut seen = HashSet::new();
        for (index, service) in self.services.iter().enumerate() {
            let pointer = format!("/services/{index}/id");
            if found.are_valid(&[&pointer]) && !seen.insert(&service.id) {
                found.push(pointer, "duplicate", "occurs earlier in the list");
            }
        }
    }
}

/// List available bags
///
/// Requests the bags that the airline currently sells for a confirmed booking. The list is empty if
/// it sells none, or if the booking already has bags.
#[utoipa::path(get, path = "/v1/flight/bookings/{id}/services", tag = "Flight bookings",
    responses((status = 200, description = "The available bags.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "supplier_rejected", "supplier_error", "supplier_unavailable",
        "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn list_flight_services(
    State(service_purchases): State<Arc<ServicePurchaseService>>,
    Context(context): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<List<AvailableServiceResource>, SupplierMeta> {
    let (owner, request_id) = (&context.owner, &context.request_id);
    let (supplier, bags) = service_purchases
        .available_services(owner, &id, request_id, context.deadline.instant())
        .await?;
    let bags = bags.iter().map(|bag| {
        service::available_service(&bag.id, &bag.passenger, &bag.segment_ids, &bag.service)
    });
    Ok(ApiResponse::ok(List(bags.collect())).meta(SupplierMeta::new(supplier)))
}

/// Purchase bags
///
/// Purchases bags for a confirmed booking with a stored card, as a separate payment.
///
/// - 200: the supplier confirmed the bags; the booking contains them and the new totals. A capture
///   that fails is retried in the background and never cancels the bags.
/// - 422 `payment_failed`: the card was declined.
/// - 422 `supplier_rejected`: the supplier refused.
/// - 500 `result_unknown`: the outcome is not yet known. The gateway determines it. Do not use a
///   new key.
/// - 400: a service is not (or no longer) available, or its quantity exceeds `max_quantity`.
///   Nothing is charged.
///
/// Repeating a key never charges or purchases again. For a completed purchase it returns the
/// booking in its current state. For a declined card, a refusal, or an unknown outcome it repeats
/// the error. After a declined card or a refusal, use a new key to try again.
#[utoipa::path(post, operation_id = "buy_flight_services", path = "/v1/flight/bookings/{id}/services", tag = "Flight bookings",
    responses((status = 200, description = "The bags are on the ticket.")),
    extensions(("x-error-codes" = json!(["booking_not_found", "booking_state_conflict", "booking_changed", "payment_failed", "payment_instrument_invalid",
        "supplier_rejected", "supplier_operation_unsupported", "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout", "result_unknown"]))))]
pub(crate) async fn purchase_flight_services(
    State(service_purchases): State<Arc<ServicePurchaseService>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(request))): Validated<(
        PathId<BookingId>,
        IdempotencyKeyHeader<256>,
        Body<PurchaseServicesRequest>,
    )>,
) -> ApiResult<FlightBookingResource, SupplierMeta> {
    let services = request.services.into_iter();
    let command = PurchaseServicesCommand {
        owner: context.owner,
        booking: id,
        key: key.key,
        fingerprint: key.fingerprint,
        services: services.map(|one| (one.id.0, one.quantity)).collect(),
        instrument: request.payment_instrument_id.0,
        request_id: context.request_id.to_string(),
        deadline: context.deadline.instant(),
    };
    let booking = service_purchases.purchase_services(command).await?;
    Ok(ApiResponse::ok(booking::full_booking(&booking)).meta(SupplierMeta::new(booking.supplier)))
}
