//! What Duffel's webhook delivers.

use crate::wire::order::Metadata;
use crate::wire::record;

record! {
    Event {
        id: String,
        kind: String = "type",
        data: Data,
        /// The id of the object that it is about.
        about: String = "idempotency_key",
        created_at: String,
    }

    Data { object: Object, }

    /// An order, or something that belongs to one.
    Object {
        id: String,
        order_id: Option<String>,
        offer_id: Option<String>,
        metadata: Metadata,
    }
}
