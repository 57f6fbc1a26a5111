//! Pricing flights.

use crate::api::answer::{ApiResponse, List, ResponseMeta};
use crate::api::caller::RequestContext;
use crate::api::code::Code;
use crate::api::extract::{Body, Violations, IdempotencyKeyHeader, Validate, Validated};
use crate::api::flight::SortOrder;
use crate::api::flight::filter::FlightFilters;
use crate::api::flight::trip::{JourneyRequest, TravellersRequest, validate_journeys};
use crate::api::identifier::SupplierIdParam;
use crate::api::problem::ApiError;
use crate::api::value::CurrencyCode;
use crate::app::Application;
use crate::query::flight::offer::FareQuery;
use crate::render::flight::offer::{self, FlightOffer};
use axum::extract::State;
use host_domain::flight::supply;
use host_domain::money::{Money, MoneyError};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// By what fares are ordered.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FareSort {
    /// Price.
    #[default]
    TotalAmount,
    /// Minutes of all journeys together; a fare whose duration is not known comes last.
    Duration,
    /// Departure of the first journey.
    DepartureTime,
}

/// A trip to price.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlightOffersRequest {
    /// In order of travel.
    #[schema(min_items = 1, max_items = 6)]
    journeys: Vec<JourneyRequest>,
    passengers: TravellersRequest,
    filters: Option<FlightFilters>,
    #[serde(default)]
    #[schema(default = "total_amount")]
    sort: FareSort,
    #[serde(default = "order")]
    #[schema(default = "asc")]
    order: SortOrder,
    /// The most fares to answer.
    #[serde(default = "limit")]
    #[schema(minimum = 1, maximum = 250, default = 50)]
    limit: u32,
    /// Prices are asked for in this currency; nothing is converted, and a supplier that sells in
    /// another answers in its own. Required with `max_total`.
    currency: Option<CurrencyCode>,
    /// The supplier to ask.
    supplier: Option<SupplierIdParam>,
}

const fn order() -> SortOrder {
    SortOrder::Asc
}

const fn limit() -> u32 {
    50
}

/// How the answer came about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FlightOffersMeta {
    /// The supplier that answered.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SUPPLIER_A")]
    supplier: SupplierId,
    /// Present, and true, when more fares matched, or when the supplier had more than the gateway could look through.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// What of `filters` (and `sort`) the supplier does not apply. The gateway then applies it to what the supplier
    /// answered; only `max_total` is not applied to prices in another currency than asked for.
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
        match self.max_total() {
            Some(Err(error)) => {
                found.push("/filters/max_total", "not_allowed", error.to_string());
            }
            Some(Ok(total)) if total.minor <= 0 => {
                found.push("/filters/max_total", "too_small", "must be more than 0");
            }
            Some(Ok(_)) | None => {}
        }
    }
}

impl FlightOffersRequest {
    fn max_total(&self) -> Option<Result<Money, MoneyError>> {
        let amount = self.filters.as_ref()?.max_total?;
        Some(amount.to_money(self.currency?))
    }

    fn into_query(self) -> Option<FareQuery> {
        let max_total = self.max_total().transpose().ok()?;
        let wanted = supply::PriceRequest {
            journeys: self.journeys.into_iter().map(supply::RequestedJourney::from).collect(),
            travellers: self.passengers.into(),
            currency: self.currency.map(|currency| currency.0),
            filters: self.filters.unwrap_or_default().into_supplier_filters(max_total),
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

impl From<FareSort> for supply::Sort {
    fn from(sort: FareSort) -> Self {
        match sort {
            FareSort::TotalAmount => Self::TotalAmount,
            FareSort::Duration => Self::Duration,
            FareSort::DepartureTime => Self::DepartureTime,
        }
    }
}

/// Price flights
///
/// Fares for a trip of one to six journeys, for all passengers together. `supplier` decides who is asked, else the gateway;
/// `meta.supplier` says who answered. Filters and order that the supplier does not apply are applied by the gateway, and named
/// in `meta.unsupported_filters`. An offer is bound by a prebook with its `offer_reference`, until `expires_at`. Offers are not
/// stored, so an idempotency key has no effect here.
#[utoipa::path(post, path = "/v1/flight/offers", tag = "Flights",
    responses((status = 200, description = "The fares; an empty list when there are none.")),
    extensions(("x-error-codes" = json!(["supplier_operation_unsupported", "supplier_rejected",
        "supplier_error", "supplier_unavailable", "supplier_rate_limited", "supplier_timeout"]))))]
pub(crate) async fn price_flights(
    State(app): State<Arc<Application>>,
    caller: RequestContext,
    Validated((_key, Body(request))): Validated<(Option<IdempotencyKeyHeader>, Body<FlightOffersRequest>)>,
) -> Result<ApiResponse<List<FlightOffer>, FlightOffersMeta>, ApiError> {
    let query = request.into_query().ok_or(Code::ValidationFailed)?;
    let found = app
        .price_flights(&caller, &query)
        .await
        .map_err(ApiError::from_query)?;
    let offers = found.fares.into_iter();
    let offers = offers.map(|fare| offer::offer(&fare.offer, fare.reference, fare.expires_at));
    let meta = FlightOffersMeta {
        supplier: found.supplier,
        truncated: found.truncated.then_some(true),
        unsupported_filters: found.unsupported_filters,
    };
    Ok(ApiResponse::ok(List(offers.collect())).meta(meta))
}
