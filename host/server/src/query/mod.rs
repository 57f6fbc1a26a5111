//! Asking suppliers for what changes nothing: who is asked, in which order, and
//! what is made of the answer. Until something is promised, another supplier may
//! answer in place of one that fails. Knows nothing of HTTP.

pub(crate) mod fetch;
pub(crate) mod flight;
pub(crate) mod hotel;
pub(crate) mod pace;
pub(crate) mod route;

use crate::config::Config;
use crate::query::fetch::SingleFlight;
use crate::query::flight::airline::AirlineKey;
use crate::query::hotel::content::ContentKey;
use crate::query::pace::SupplierRateLimiter;
use host_domain::id::HotelId;
use host_domain::supplier::{ReadError, SupplierId};
use host_storage::DatabaseError;

/// What queries remember between requests, in this host's memory.
pub(crate) struct QueryState {
    /// Price calendars that suppliers were asked for.
    pub(crate) price_calendar_limiter: SupplierRateLimiter,
    /// What suppliers were asked for watches.
    pub(crate) price_check_limiter: SupplierRateLimiter,
    /// Content that is being fetched.
    pub(crate) content_fetches: SingleFlight<ContentKey>,
    /// Airlines that are being read.
    pub(crate) airline_fetches: SingleFlight<AirlineKey>,
}

impl QueryState {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            price_calendar_limiter: SupplierRateLimiter::per_minute(config.limits.calendar_per_minute),
            price_check_limiter: SupplierRateLimiter::per_minute(config.watches.supplier_per_minute),
            content_fetches: SingleFlight::default(),
            airline_fetches: SingleFlight::default(),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// The database.
    #[error("what is known could not be read or stored")]
    Database(#[from] DatabaseError),
    /// Nobody offers this: none of the configured, or not the one that was named.
    #[error("no supplier offers this")]
    Unsupported(Option<SupplierId>),
    /// The supplier that was asked first gave no answer, nor did any other.
    #[error("the supplier {supplier} gave no answer")]
    Supplier {
        /// Which.
        supplier: SupplierId,
        /// Why.
        #[source]
        error: ReadError,
    },
    /// Hotels that the gateway does not know.
    #[error("unknown hotels")]
    HotelsNotFound(Vec<HotelId>),
    /// Hotels, by their place in the request, that not all belong to one supplier.
    #[error("hotels of several suppliers")]
    MixedSuppliers(Vec<(usize, HotelId, Vec<SupplierId>)>),
    /// The day of check-in is over at the hotel.
    #[error("check-in has passed at the hotel")]
    CheckInPassed,
    /// The place is not known.
    #[error("no such place")]
    PlaceNotFound,
    /// No supplier knows the airline.
    #[error("no such airline")]
    AirlineNotFound,
    /// The booking is not there, or is another's.
    #[error("no such booking")]
    BookingNotFound,
}
