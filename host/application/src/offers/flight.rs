//! Fares between airports: queries and results.

use host_domain::flight::supplier_api::{
    FlightAppliedFilters, FlightOffer, FlightPriceRequest, FlightPriceResponse,
};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

#[derive(Debug)]
pub struct FareQuery {
    pub selector: Option<SupplierId>,
    pub request: FlightPriceRequest,
}

/// A fare that can be prebooked.
#[derive(Debug)]
pub struct PricedFare {
    pub offer: FlightOffer,
    pub reference: String,
    pub expires_at: Timestamp,
}

#[derive(Debug)]
pub struct FareSearchResult {
    pub supplier: SupplierId,
    pub fares: Vec<PricedFare>,
    pub truncated: bool,
    /// Filters that the supplier did not apply, including the order.
    pub unsupported_filters: Vec<&'static str>,
}

pub(super) fn empty_response() -> FlightPriceResponse {
    FlightPriceResponse {
        offers: Vec::new(),
        applied: FlightAppliedFilters::default(),
        truncated: false,
    }
}
