//! `/air/orders`.

use crate::wire::cancellation::OrderCancellation;
use crate::wire::itinerary::Slice;
use crate::wire::service::Service;
use crate::wire::{Amount, record};

record! {
    Order {
        id: String,
        /// The airline's record locator; empty while there is none.
        booking_reference: String,
        total_amount: Amount,
        total_currency: String,
        base_amount: Amount,
        base_currency: String,
        tax_amount: Amount,
        tax_currency: String,
        cancelled_at: Option<String>,
        /// The confirmed one, where the answer has it.
        cancellation: Option<OrderCancellation>,
        payment_status: PaymentStatus,
        /// None: not told.
        available_actions: Option<Vec<String>>,
        metadata: Metadata,
        passengers: Vec<OrderPassenger>,
        slices: Vec<Slice>,
        services: Vec<Service>,
        changes: Vec<AirlineChange> = "airline_initiated_changes",
    }

    PaymentStatus { awaiting_payment: bool, }

    /// Ours, as Duffel repeats it.
    Metadata {
        gateway_booking_id: Option<String>,
        gateway_passengers: Option<String>,
    }

    OrderPassenger { id: String, }

    AirlineChange {
        id: String,
        created_at: String,
        added: Vec<Slice>,
        removed: Vec<Slice>,
        available_actions: Vec<String>,
        action_taken: Option<String>,
        action_taken_at: Option<String>,
    }
}
