//! Fares between airports, each with the reference that it is prebooked with.

use crate::application::Application;
use crate::context::RequestContext;
use crate::offers::flight_filter;
use crate::offers::token::{self, FlightOfferTerms};
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::flight::supplier_api::{AppliedFilters, Offer, PriceRequest, PriceResponse};
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_domain::time::Timestamp;

/// A query for the fares of a trip.
#[derive(Debug)]
pub struct FareQuery {
    /// The supplier that the caller named.
    pub selector: Option<SupplierId>,
    /// The request to whichever supplier is called.
    pub request: PriceRequest,
}

/// A fare that can be prebooked.
#[derive(Debug)]
pub struct PricedFare {
    pub offer: Offer,
    pub reference: String,
    pub expires_at: Timestamp,
}

/// The result of a fare query.
#[derive(Debug)]
pub struct FareSearchResult {
    pub supplier: SupplierId,
    pub fares: Vec<PricedFare>,
    /// Whether there are more fares.
    pub truncated: bool,
    /// Filters that the supplier did not apply, including the order.
    pub unsupported_filters: Vec<&'static str>,
}

impl Application {
    /// Returns the fares that pass the filters, in the requested order. No fare is stored.
    pub async fn price_flights(
        &self,
        context: &RequestContext,
        query: &FareQuery,
    ) -> Result<FareSearchResult, QueryError> {
        let question = RouteRequest {
            context,
            operation: Capability::FlightPricing,
            selector: query.selector.as_ref(),
            eligible_suppliers: None,
        };
        let answer = self.query_with_failover(question, |supplier, call_context| {
            let request = flight_filter::supplier_request(&query.request);
            async move {
                match supplier.price_flights(&call_context, request).await {
                    // Some suppliers return this error instead of an empty list.
                    Err(ReadError::NotFound(_)) => Ok(empty_answer()),
                    answer => answer,
                }
            }
        });
        let (supplier, mut answer) = answer.await?;
        let now = self.clock.now();
        let has_expired = |offer: &Offer| offer.expires_at.is_some_and(|at| at <= now);
        answer.offers.retain(|offer| !has_expired(offer));
        let unsupported = flight_filter::unsupported_filters(&query.request, &answer);
        flight_filter::apply_filters(&query.request, &mut answer);
        let fares = answer.offers.into_iter();
        let fares =
            fares.filter_map(|offer| self.to_priced_fare(context, &supplier, query, offer, now));
        Ok(FareSearchResult {
            fares: fares.collect(),
            supplier,
            truncated: answer.truncated,
            unsupported_filters: unsupported,
        })
    }

    fn to_priced_fare(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &FareQuery,
        offer: Offer,
        now: Timestamp,
    ) -> Option<PricedFare> {
        let latest = now.plus_s(self.offer_ttl_s());
        let terms = FlightOfferTerms {
            supplier: supplier.clone(),
            supplier_offer: offer.supplier_offer.clone(),
            exclusive_key: offer.exclusive_key.clone(),
            total: offer.total,
            travellers: query.request.travellers.clone(),
            documents_required: offer.documents_required,
            expires_at: offer.expires_at.unwrap_or(latest).min(latest),
        };
        let reference = token::encode(&self.sealer, &context.owner.tenant, &terms);
        if reference.is_none() {
            tracing::warn!(%supplier, request_id = %context.request_id, "a fare is too large for an offer reference and is left out");
        }
        Some(PricedFare {
            offer,
            reference: reference?,
            expires_at: terms.expires_at,
        })
    }
}

fn empty_answer() -> PriceResponse {
    PriceResponse {
        offers: Vec::new(),
        applied: AppliedFilters::default(),
        truncated: false,
    }
}
