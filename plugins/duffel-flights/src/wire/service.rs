//! `GET /air/orders/{id}/available_services`, and the services of an order.

use crate::wire::{Amount, record};

record! {
    /// What can be bought, or was.
    Service {
        id: String,
        kind: String = "type",
        /// Of what can be bought: for one. Of what was bought: for all of them.
        total_amount: Amount,
        total_currency: String,
        quantity: Option<u32>,
        maximum_quantity: Option<u32>,
        segment_ids: Vec<String>,
        passenger_ids: Vec<String>,
        metadata: ServiceMetadata,
    }

    ServiceMetadata {
        kind: String = "type",
        maximum_weight_kg: Option<f64>,
    }
}
