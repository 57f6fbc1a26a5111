//! `POST /air/offer_requests` and `GET /air/offers`.

use stopover_sdk::lenient_struct;

use crate::wire::LenientAmount;
use crate::wire::itinerary::{Conditions, Slice};

lenient_struct! {
    /// A search. Its offers are read in pages.
    pub(crate) struct OfferRequest {
        pub(crate) id: String,
        pub(crate) passengers: Vec<Passenger>,
    }

    pub(crate) struct Passenger {
        pub(crate) id: String,
        pub(crate) kind: String = "type",
        pub(crate) age: Option<u8>,
    }

    pub(crate) struct Offer {
        pub(crate) id: String,
        pub(crate) total_amount: LenientAmount,
        pub(crate) total_currency: String,
        pub(crate) base_amount: LenientAmount,
        pub(crate) base_currency: String,
        pub(crate) tax_amount: LenientAmount,
        pub(crate) tax_currency: String,
        pub(crate) expires_at: Option<String>,
        pub(crate) conditions: Conditions,
        pub(crate) documents_required: bool = "passenger_identity_documents_required",
        /// Types of travel documents that the offer accepts; may be empty.
        pub(crate) document_types: Vec<String>
            = "supported_passenger_identity_document_types"
            | "allowed_passenger_identity_document_types",
        pub(crate) passengers: Vec<Passenger>,
        pub(crate) slices: Vec<Slice>,
    }
}
