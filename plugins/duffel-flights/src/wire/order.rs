//! `/air/orders`.

use stopover_sdk::lenient::LenientList;
use stopover_sdk::lenient_struct;

use crate::wire::cancellation::OrderCancellation;
use crate::wire::itinerary::Slice;
use crate::wire::service::Service;
use crate::wire::{LenientAmount, OptionalText, Part};

lenient_struct! {
    /// An order. Its id, total, status and metadata must be readable. Every other part is optional:
    /// if it cannot be read, the order still can.
    pub(crate) struct Order {
        pub(crate) id: String,
        pub(crate) total_amount: LenientAmount,
        pub(crate) total_currency: String,
        pub(crate) cancelled_at: Option<String>,
        pub(crate) payment_status: PaymentStatus,
        pub(crate) metadata: Metadata,
        /// The airline's record locator; missing until the airline assigns one.
        pub(crate) booking_reference: OptionalText,
        pub(crate) base_amount: LenientAmount,
        pub(crate) base_currency: OptionalText,
        pub(crate) tax_amount: LenientAmount,
        pub(crate) tax_currency: OptionalText,
        /// The confirmed cancellation, if the response contains it.
        pub(crate) cancellation: Part<OrderCancellation>,
        /// Available actions; missing if Duffel does not list them.
        pub(crate) available_actions: Part<Vec<String>>,
        pub(crate) passengers: Part<Vec<OrderPassenger>>,
        pub(crate) slices: Part<Vec<Slice>>,
        pub(crate) services: Part<LenientList<Service>>,
        pub(crate) changes: Part<LenientList<AirlineChange>> = "airline_initiated_changes",
    }

    pub(crate) struct PaymentStatus {
        pub(crate) awaiting_payment: bool,
    }

    /// The gateway's metadata, as Duffel returns it.
    pub(crate) struct Metadata {
        pub(crate) gateway_booking_id: Option<String>,
        pub(crate) gateway_passengers: OptionalText,
    }

    pub(crate) struct OrderPassenger {
        pub(crate) id: String,
    }

    pub(crate) struct AirlineChange {
        pub(crate) id: String,
        pub(crate) created_at: String,
        /// The new flights; empty if there are none.
        pub(crate) added: Option<Vec<Slice>>,
        pub(crate) removed: Option<Vec<Slice>>,
        pub(crate) available_actions: Vec<String>,
        pub(crate) action_taken: Option<String>,
        pub(crate) action_taken_at: OptionalText,
    }

    /// An order that Duffel accepted and creates later. The content of such a response is
    /// undocumented.
    pub(crate) struct AcceptedOrder {
        pub(crate) id: OptionalText,
        pub(crate) metadata: Metadata,
    }
}
