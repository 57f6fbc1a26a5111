//! `/air/orders`.

use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{Essential, LenientList, Single};
use stopover_sdk::lenient_struct;

use crate::wire::cancellation::OrderCancellation;
use crate::wire::itinerary::{Carrier, Slice};
use crate::wire::service::Service;
use crate::wire::{LenientAmount, OptionalText, OrDefault, Part};

lenient_struct! {
    /// An order. Its id, total, status and metadata must be readable. Every other part is optional:
    /// if it cannot be read, the order still can.
    pub(crate) struct Order {
        pub(crate) id: Essential<String>,
        pub(crate) total_amount: Essential<LenientAmount>,
        pub(crate) total_currency: Essential<String>,
        pub(crate) cancelled_at: Essential<String>,
        pub(crate) payment_status: Essential<PaymentStatus>,
        pub(crate) metadata: Essential<Metadata>,
        /// The airline's record locator; missing until the airline assigns one.
        pub(crate) booking_reference: OrDefault<OptionalText>,
        pub(crate) base_amount: OrDefault<LenientAmount>,
        pub(crate) base_currency: OrDefault<OptionalText>,
        pub(crate) tax_amount: OrDefault<LenientAmount>,
        pub(crate) tax_currency: OrDefault<OptionalText>,
        /// The confirmed cancellation, if the response contains it.
        pub(crate) cancellation: Single<Part<OrderCancellation>>,
        /// Available actions; missing if Duffel does not list them.
        pub(crate) available_actions: Essential<Vec<OptionalText>>,
        pub(crate) passengers: Single<Part<Vec<OrderPassenger>>>,
        pub(crate) slices: Part<Vec<Slice>>,
        pub(crate) services: Part<LenientList<Service>>,
        pub(crate) changes: Part<LenientList<AirlineChange>> = "airline_initiated_changes",
        /// The airline that issues the tickets.
        pub(crate) owner: Part<Carrier>,
        pub(crate) documents: Part<LenientList<Document>>,
    }

    #[derive(PartialEq)]
    pub(crate) struct PaymentStatus {
        pub(crate) awaiting_payment: Essential<bool>,
        pub(crate) payment_required_by: OrDefault<OptionalText>,
        pub(crate) price_guarantee_expires_at: OrDefault<OptionalText>,
    }

    /// A document of the airline, such as an electronic ticket.
    pub(crate) struct Document {
        pub(crate) kind: OptionalText = "type",
        pub(crate) unique_identifier: OptionalText,
        pub(crate) passenger_ids: Part<Vec<OptionalText>>,
    }

    /// The gateway's metadata, as Duffel returns it.
    #[derive(PartialEq)]
    pub(crate) struct Metadata {
        pub(crate) gateway_booking_id: Essential<String>,
        pub(crate) gateway_passengers: OrDefault<OptionalText>,
    }

    pub(crate) struct OrderPassenger {
        pub(crate) id: Single<String>,
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
        pub(crate) id: Essential<OptionalText>,
        pub(crate) metadata: Essential<Metadata>,
    }
}

impl Order {
    /// Returns the id, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn id(&self) -> &str {
        self.id.value().map_or("", String::as_str)
    }

    /// Returns the currency of the total, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn currency(&self) -> &str {
        self.total_currency.value().map_or("", String::as_str)
    }
}

/// Returns the gateway's reference in the metadata of an order, if it is there.
///
/// # Errors
/// It is unreadable or ambiguous, so that the order may be another booking's.
pub(crate) fn client_reference(
    metadata: &Essential<Metadata>,
) -> Result<Option<&str>, DecodeError> {
    let Some(metadata) = metadata.optional("metadata")? else {
        return Ok(None);
    };
    let reference = metadata.gateway_booking_id.optional("gateway_booking_id")?;
    Ok(reference.map(String::as_str))
}
