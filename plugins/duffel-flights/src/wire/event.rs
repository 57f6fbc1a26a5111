//! Deliveries of Duffel's webhook.

use stopover_sdk::lenient_struct;

use crate::wire::{OptionalText, Part};

lenient_struct! {
    pub(crate) struct Event {
        pub(crate) id: OptionalText,
        pub(crate) kind: OptionalText = "type",
        pub(crate) data: Part<Data>,
        /// Id of the object that the event is about.
        pub(crate) about: OptionalText = "idempotency_key",
        pub(crate) created_at: OptionalText,
    }

    pub(crate) struct Data {
        pub(crate) object: Part<Object>,
    }

    /// An order, or an object that belongs to one.
    pub(crate) struct Object {
        pub(crate) id: OptionalText,
        pub(crate) order_id: OptionalText,
        pub(crate) offer_id: OptionalText,
        pub(crate) metadata: Part<ObjectMetadata>,
    }

    pub(crate) struct ObjectMetadata {
        pub(crate) gateway_booking_id: OptionalText,
    }
}
