//! `GET /air/orders/{id}/available_services`, and the services of an order.

use stopover_sdk::lenient::{LenientNumber, Single};
use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText, Part};

lenient_struct! {
    /// A service that is for sale or was bought.
    pub(crate) struct Service {
        pub(crate) id: String,
        pub(crate) kind: String = "type",
        /// Price of one piece if the service is for sale; price of all pieces if it was bought.
        pub(crate) total_amount: Single<LenientAmount>,
        pub(crate) total_currency: Single<String>,
        pub(crate) quantity: Option<u32>,
        pub(crate) maximum_quantity: Option<u32>,
        pub(crate) segment_ids: Vec<String>,
        pub(crate) passenger_ids: Vec<String>,
        pub(crate) metadata: Part<ServiceMetadata>,
    }

    /// Kind and limits of a bag, or row and column of a seat.
    pub(crate) struct ServiceMetadata {
        pub(crate) kind: OptionalText = "type",
        pub(crate) maximum_weight_kg: LenientNumber,
        pub(crate) maximum_length_cm: LenientNumber,
        pub(crate) maximum_height_cm: LenientNumber,
        pub(crate) maximum_depth_cm: LenientNumber,
        pub(crate) designator: OptionalText,
        pub(crate) name: OptionalText,
        pub(crate) disclosures: Part<Vec<OptionalText>>,
    }
}
