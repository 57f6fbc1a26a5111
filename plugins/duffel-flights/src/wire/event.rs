//! What Duffel's webhook delivers.

use stopover_sdk::record;

use crate::wire::order::Metadata;

record! {
    #[derive(Debug)]
    pub(crate) struct Event {
        pub(crate) id: String,
        pub(crate) kind: String = "type",
        pub(crate) data: Data,
        /// The id of the object that it is about.
        pub(crate) about: String = "idempotency_key",
        pub(crate) created_at: String,
    }

    #[derive(Debug)]
    pub(crate) struct Data {
        pub(crate) object: Object,
    }

    /// An order, or something that belongs to one.
    #[derive(Debug)]
    pub(crate) struct Object {
        pub(crate) id: String,
        pub(crate) order_id: Option<String>,
        pub(crate) offer_id: Option<String>,
        pub(crate) metadata: Metadata,
    }
}
