//! Errors of queries to suppliers. Queries change nothing. Until a response promises something,
//! another supplier can be used in place of one that fails.

use host_domain::id::HotelId;
use host_domain::supplier::{ReadError, SupplierId};
use host_storage::DatabaseError;

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("stored data could not be read or written")]
    Database(#[from] DatabaseError),
    /// No supplier offers this: none of the configured ones, or not the one that was named.
    #[error("no configured supplier supports this request")]
    Unsupported(Option<SupplierId>),
    /// The supplier that was called first returned no response, and neither did any other.
    #[error("the supplier {supplier} returned no response")]
    Supplier {
        supplier: SupplierId,
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
    #[error("check-in has passed at the hotel")]
    CheckInPassed,
    #[error("no such place")]
    PlaceNotFound,
    #[error("no such airline")]
    AirlineNotFound,
    #[error("no such booking")]
    BookingNotFound,
}
