//! `/air/orders`.

use stopover_sdk::lenient_struct;

use crate::wire::LenientAmount;
use crate::wire::cancellation::OrderCancellation;
use crate::wire::itinerary::Slice;
use crate::wire::service::Service;

lenient_struct! {
    pub(crate) struct Order {
        pub(crate) id: String,
        /// The airline's record locator; empty until the airline assigns one.
        pub(crate) booking_reference: String,
        pub(crate) total_amount: LenientAmount,
        pub(crate) total_currency: String,
        pub(crate) base_amount: LenientAmount,
        pub(crate) base_currency: String,
        pub(crate) tax_amount: LenientAmount,
        pub(crate) tax_currency: String,
        pub(crate) cancelled_at: Option<String>,
        /// The confirmed cancellation, if the response contains it.
        pub(crate) cancellation: Option<OrderCancellation>,
        pub(crate) payment_status: PaymentStatus,
        /// AvailableServices actions; `None` if Duffel does not list them.
        pub(crate) available_actions: Option<Vec<String>>,
        pub(crate) metadata: Metadata,
        pub(crate) passengers: Vec<OrderPassenger>,
        pub(crate) slices: Vec<Slice>,
        pub(crate) services: Vec<Service>,
        pub(crate) changes: Vec<AirlineChange> = "airline_initiated_changes",
    }

    pub(crate) struct PaymentStatus {
        pub(crate) awaiting_payment: bool,
    }

    /// The gateway's metadata, as Duffel returns it.
    pub(crate) struct Metadata {
        pub(crate) gateway_booking_id: Option<String>,
        pub(crate) gateway_passengers: Option<String>,
    }

    pub(crate) struct OrderPassenger {
        pub(crate) id: String,
    }

    pub(crate) struct AirlineChange {
        pub(crate) id: String,
        pub(crate) created_at: String,
        pub(crate) added: Vec<Slice>,
        pub(crate) removed: Vec<Slice>,
        pub(crate) available_actions: Vec<String>,
        pub(crate) action_taken: Option<String>,
        pub(crate) action_taken_at: Option<String>,
    }
}
