//! `POST /air/offer_requests` and `GET /air/offers`.

use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, LenientCount, LenientFlag, LenientList, Single};
use stopover_sdk::lenient_struct;

use crate::wire::itinerary::{Conditions, Slice};
use crate::wire::{LenientAmount, OptionalText, Part};

lenient_struct! {
    /// A search. Its offers are read in pages.
    pub(crate) struct OfferRequest {
        pub(crate) id: Single<String>,
        pub(crate) passengers: Single<Part<LenientList<Passenger>>>,
    }

    pub(crate) struct Passenger {
        pub(crate) id: Essential<String>,
        pub(crate) kind: Essential<String> = "type",
        pub(crate) age: Essential<LenientCount>,
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
        pub(crate) expires_at: Single<String>,
        pub(crate) conditions: Single<Part<Conditions>>,
        pub(crate) payment_requirements: Part<PaymentRequirements>,
        documents_required: Single<bool> = "passenger_identity_documents_required",
        supported_document_types: Essential<Vec<String>>
            = "supported_passenger_identity_document_types",
        /// Older name of `supported_document_types`.
        allowed_document_types: Essential<Vec<String>>
            = "allowed_passenger_identity_document_types",
        pub(crate) passengers: Single<Vec<Passenger>>,
        pub(crate) slices: Single<Vec<Slice>>,
    }

    pub(crate) struct PaymentRequirements {
        pub(crate) requires_instant_payment: LenientFlag,
        pub(crate) payment_required_by: OptionalText,
        pub(crate) price_guarantee_expires_at: OptionalText,
    }
}

impl Passenger {
    /// Returns the id, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn id(&self) -> &str {
        self.id.value().map_or("", String::as_str)
    }
}

impl Offer {
    /// Returns whether each passenger needs a travel document.
    ///
    /// # Errors
    /// The field is repeated.
    pub(crate) fn documents_required(&self) -> Result<bool, DecodeError> {
        let name = "passenger_identity_documents_required";
        Ok(self.documents_required.optional(name)?.unwrap_or_default())
    }

    /// Returns the types of travel documents that the offer accepts; may be empty. The current name
    /// of the field takes precedence over the older one, unless its list is empty.
    ///
    /// # Errors
    /// The list that counts is unreadable or ambiguous.
    pub(crate) fn document_types(&self) -> Result<&[String], DecodeError> {
        let current = &self.supported_document_types;
        let current = current.optional("supported_passenger_identity_document_types")?;
        if let Some(types) = current.filter(|types| !types.is_empty()) {
            return Ok(types);
        }
        let older = &self.allowed_document_types;
        let older = older.optional("allowed_passenger_identity_document_types")?;
        Ok(older.map_or(&[], Vec::as_slice))
    }
}
