//! `POST /air/offer_requests` and `GET /air/offers`.

use crate::wire::itinerary::{Conditions, Slice};
use crate::wire::{Amount, record};

record! {
    /// A search; its offers are read in pages.
    OfferRequest {
        id: String,
        passengers: Vec<Passenger>,
    }

    Passenger {
        id: String,
        kind: String = "type",
        age: Option<u8>,
    }

    Offer {
        id: String,
        total_amount: Amount,
        total_currency: String,
        base_amount: Amount,
        base_currency: String,
        tax_amount: Amount,
        tax_currency: String,
        expires_at: Option<String>,
        conditions: Conditions,
        documents_required: bool = "passenger_identity_documents_required",
        /// The documents that may be given; empty: none.
        document_types: Vec<String>
            = "supported_passenger_identity_document_types"
            | "allowed_passenger_identity_document_types",
        passengers: Vec<Passenger>,
        slices: Vec<Slice>,
    }
}
