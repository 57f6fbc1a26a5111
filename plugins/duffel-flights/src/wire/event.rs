//! Deliveries of Duffel's webhook.

use stopover_sdk::lenient_struct;

use crate::wire::order::Metadata;

lenient_struct! {
    pub(crate) struct Event {
        pub(crate) id: String,
        pub(crate) kind: String = "type",
        pub(crate) data: Data,
        /// Id of the object that the event is about.
        pub(crate) about: String = "idempotency_key",
        pub(crate) created_at: String,
    }

    pub(crate) struct Data {
        pub(crate) object: Object,
    }

    /// An order, or an object that belongs to one.
    pub(crate) struct Object {
        pub(crate) id: String,
        pub(crate) order_id: Option<String>,
        pub(crate) offer_id: Option<String>,
        pub(crate) metadata: Metadata,
    }
}
