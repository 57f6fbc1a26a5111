//! `POST /air/offer_requests` and `GET /air/offers`.

use stopover_sdk::lenient::{Essential, LenientCount, LenientFlag};
use stopover_sdk::lenient_struct;

use crate::wire::itinerary::{Conditions, Slice};
use crate::wire::{LenientAmount, OptionalText, Part};

lenient_struct! {
    /// A search. Its offers are read in pages.
    pub(crate) struct OfferRequest {
        pub(crate) id: String,
        pub(crate) passengers: Vec<Passenger>,
    }

    pub(crate) struct Passenger {
        pub(crate) id: String,
        pub(crate) kind: String = "type",
        pub(crate) age: LenientCount,
    }

    /// A passenger that was changed. Only its id decides whether the change was made.
    pub(crate) struct ChangedPassenger {
        pub(crate) id: Essential<String>,
    }

    pub(crate) struct Offer {
        pub(crate) id: Essential<String>,
        pub(crate) total_amount: Essential<LenientAmount>,
        pub(crate) total_currency: Essential<String>,
        pub(crate) base_amount: LenientAmount,
        pub(crate) base_currency: OptionalText,
        pub(crate) tax_amount: LenientAmount,
        pub(crate) tax_currency: OptionalText,
        pub(crate) expires_at: Option<String>,
        pub(crate) conditions: Part<Conditions>,
        pub(crate) payment_requirements: Part<PaymentRequirements>,
        pub(crate) documents_required: bool = "passenger_identity_documents_required",
        pub(crate) supported_document_types: Vec<String>
            = "supported_passenger_identity_document_types",
        /// Older name of `supported_document_types`.
        pub(crate) allowed_document_types: Vec<String>
            = "allowed_passenger_identity_document_types",
        pub(crate) passengers: Vec<Passenger>,
        pub(crate) slices: Vec<Slice>,
    }

    pub(crate) struct PaymentRequirements {
        pub(crate) requires_instant_payment: LenientFlag,
        pub(crate) payment_required_by: OptionalText,
        pub(crate) price_guarantee_expires_at: OptionalText,
    }
}

impl Offer {
    /// Returns the types of travel documents that the offer accepts; may be empty. The current name
    /// of the field takes precedence over the older one, unless its list is empty.
    pub(crate) fn document_types(&self) -> &[String] {
        if self.supported_document_types.is_empty() {
            &self.allowed_document_types
        } else {
            &self.supported_document_types
        }
    }
}
