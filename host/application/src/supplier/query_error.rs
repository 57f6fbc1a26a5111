//! Queries to suppliers that change nothing: which suppliers are called, in which order, and how
//! their responses are processed. Until a response promises something, another supplier can be used
//! in place of one that fails. This module does not depend on HTTP.

use crate::catalog::airline::AirlineKey;
use crate::catalog::hotel_content::ContentKey;
use crate::catalog::single_flight::SingleFlight;
use crate::config::Config;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use host_domain::id::HotelId;
use host_domain::supplier::{ReadError, SupplierId};
use host_storage::DatabaseError;

/// State that queries keep between requests, in the memory of this host.
pub struct QueryState {
    /// Rate limit of price calendar requests to suppliers.
    pub price_calendar_limiter: SupplierRateLimiter,
    /// Rate limit of price checks for watches.
    pub price_check_limiter: SupplierRateLimiter,
    /// Content fetches that are in progress.
    pub content_fetches: SingleFlight<ContentKey>,
    /// Airline reads that are in progress.
    pub airline_fetches: SingleFlight<AirlineKey>,
}

impl QueryState {
    pub fn new(config: &Config) -> Self {
        Self {
            price_calendar_limiter: SupplierRateLimiter::per_minute(
                config.limits.calendar_per_minute,
            ),
            price_check_limiter: SupplierRateLimiter::per_minute(
                config.watches.supplier_per_minute,
            ),
            content_fetches: SingleFlight::default(),
            airline_fetches: SingleFlight::default(),
        }
    }
}

/// Reasons why a query has no result.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The database failed.
    #[error("stored data could not be read or written")]
    Database(#[from] DatabaseError),
    /// No supplier offers this: none of the configured ones, or not the one that was named.
    #[error("no configured supplier supports this request")]
    Unsupported(Option<SupplierId>),
    /// The supplier that was called first returned no response, and neither did any other.
    #[error("the supplier {supplier} returned no response")]
    Supplier {
        /// The supplier that was called first.
        supplier: SupplierId,
        /// The error of that supplier.
        #[source]
        error: ReadError,
    },
    /// Hotels that do not exist in the gateway.
    #[error("the request names hotels that do not exist")]
    HotelsNotFound(Vec<HotelId>),
    /// Hotels that do not all belong to one supplier, each with its position in the request and its
    /// suppliers.
    #[error("no single supplier has all hotels of the request")]
    MixedSuppliers(Vec<(usize, HotelId, Vec<SupplierId>)>),
    /// The day of check-in is over at the hotel.
    #[error("check-in has passed at the hotel")]
    CheckInPassed,
    /// The place does not exist.
    #[error("no such place")]
    PlaceNotFound,
    /// No supplier has this airline.
    #[error("no such airline")]
    AirlineNotFound,
    /// The booking does not exist or belongs to another owner.
    #[error("no such booking")]
    BookingNotFound,
}
