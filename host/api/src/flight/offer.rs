//! The operation that prices flights.

use crate::error_code::ErrorCode;
use crate::extract::{Body, Context, KeyedBody, Validate, Validated, Violations, default_limit};
use crate::flight::SortOrder;
use crate::flight::filter::FlightFiltersRequest;
use crate::flight::trip::{JourneyRequest, TravellersRequest, validate_journeys};
use crate::identifier::{SupplierIdParam, validate_max_total};
use crate::response::{ApiResponse, ApiResult, List, ResponseMeta};
use axum::extract::State;
use host_application::offers::flight::FareQuery;
use host_application::offers::service::OfferService;
use host_domain::flight::supplier_api;
use host_domain::money::{Money, MoneyError};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_resources::flight::offer::{self, FlightOfferResource};
use host_resources::value::{CurrencyCode, same_variants};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Sort key of fares.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FareSort)]
pub(crate) enum FareSortRequest {
    /// Total price.
    #[default]
    TotalAmount,
    /// Total duration of all journeys in minutes. Fares of unknown duration come last.
    Duration,
    /// Departure of the first journey.
    DepartureTime,
}

/// A trip to price.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlightOffersRequest {
    /// Journeys in order of travel.
    #[schema(min_items = 1, max_items = 6)]
    journeys: Vec<JourneyRequest>,
    passengers: TravellersRequest,
    filters: Option<FlightFiltersRequest>,
    #[serde(default)]
    #[schema(default = "total_amount")]
    sort: FareSortRequest,
    #[serde(default = "order")]
    #[schema(default = "asc")]
    order: SortOrder,
    /// Maximum number of fares to return.
    #[serde(default = "default_limit::<50>")]
    #[schema(minimum = 1, maximum = 250, default = 50)]
    limit: u32,
    /// Currency to request prices in. Prices are not converted; a supplier that sells in another
    /// currency responds in that one. Required with `max_total`.
    currency: Option<CurrencyCode>,
    /// Supplier to call.
    supplier: Option<SupplierIdParam>,
}

const fn order() -> SortOrder {
    SortOrder::Asc
}

/// Metadata of flight offers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FlightOffersMeta {
    /// Id of the supplier that responded.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SUPPLIER_A")]
    supplier: SupplierId,
    /// Present, and true, if more fares matched, or if the supplier had more fares than the gateway
    /// could check.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// Names of the `filters` (and `sort`) that the supplier does not apply. The gateway applies
    /// them to the supplier's fares, except `max_total` to prices in a currency other than the
    /// requested one.
    unsupported_filters: Vec<&'static str>,
}

impl ResponseMeta for FlightOffersMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

impl Validate for FlightOffersRequest {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        validate_journeys(&self.journeys, now, found);
        self.passengers.validate(found);
        let Some(filters) = &self.filters else {
            return;
        };
        filters.validate(found);
        if filters.max_total.is_some() && self.currency.is_none() {
            found.push("/currency", "required", "max_total needs a currency");
        }
        validate_max_total(self.max_total(), found);
    }
}

impl FlightOffersRequest {
    fn max_total(&self) -> Option<Result<Money, MoneyError>> {
        let amount = self.filters.as_ref()?.max_total?;
        Some(amount.to_money(self.currency?))
    }

    fn into_query(self) -> Option<FareQuery> {
        let max_total = self.max_total().transpose().ok()?;
        let journeys = self.journeys.into_iter();
        let filters = self.filters.unwrap_or_default();
        let wanted = supplier_api::FlightPriceRequest {
            journeys: journeys.map(Into::into).collect(),
            travellers: self.passengers.into(),
            currency: self.currency.map(|currency| currency.0),
            filters: filters.into_supplier_filters(max_total),
            sort: self.sort.into(),
            descending: self.order.is_descending(),
            limit: u16::try_from(self.limit).unwrap_or(u16::MAX),
        };
        Some(FareQuery {
            selector: self.supplier.map(|supplier| supplier.0),
            request: wanted,
        })
    }
}

same_variants! { FareSortRequest => supplier_api::Sort: TotalAmount, Duration, DepartureTime }

/// Price flights
///
/// Returns fares for a trip of one to six journeys, for all passengers together. `supplier` selects
/// the supplier; without it the gateway selects one. `meta.supplier` names the supplier that
/// responded. Filters and sort order that the supplier does not apply are applied by the gateway
/// and named in `meta.unsupported_filters`. To book an offer, prebook its `offer_reference` before
/// `expires_at`. Offers are not stored, so an idempotency key has no effect.
#[utoipa::path(post, path = "/v1/flight/offers", tag = "Flights",
    responses((status = 200, description = "The fares; an empty list if there are none.")),
    extensions(("x-error-codes" = json!(["supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn price_flights(
    State(offers): State<Arc<OfferService>>,
    Context(context): Context,
    Validated((_key, Body(request))): Validated<KeyedBody<FlightOffersRequest>>,
) -> ApiResult<List<FlightOfferResource>, FlightOffersMeta> {
    let query = request.into_query().ok_or(ErrorCode::ValidationFailed)?;
    let found = offers.price_flights(&context, &query).await?;
    let offers = found.fares.into_iter();
    let offers = offers.map(|fare| offer::offer(&fare.offer, fare.reference, fare.expires_at));
    let meta = FlightOffersMeta {
        supplier: found.supplier,
        truncated: found.truncated.then_some(true),
        unsupported_filters: found.unsupported_filters,
    };
    Ok(ApiResponse::ok(List(offers.collect())).meta(meta))
}
