//! Entities of a flight booking that have an id of the gateway.

use crate::booking::Failure;
use crate::flight::itinerary::{AirlineChange, Journey};
use crate::flight::passenger::{Gender, LoyaltyAccount, PassengerType, Title};
use crate::flight::service::{Baggage, ServiceType};
use crate::flight::supplier_api::SupplierService;
use crate::id::{
    AirlineChangeId, JourneyId, PassengerId, PaymentId, PurchaseId, SegmentId, ServiceId,
};
use crate::money::Money;
use crate::remote_call::RemoteCall;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A passenger of a booking. Documents and full membership numbers are stored separately,
/// encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedPassenger {
    pub id: PassengerId,
    /// The position in the request. Suppliers count passengers in the order in which fares are
    /// priced, which is the order of the booking's list.
    #[serde(default)]
    pub position: u8,
    pub passenger_type: PassengerType,
    pub title: Option<Title>,
    pub first_name: String,
    pub last_name: String,
    pub date_of_birth: Date,
    pub gender: Gender,
    /// Nationality, ISO 3166-1 alpha-2.
    pub nationality: Option<String>,
    /// Loyalty accounts, with masked membership numbers.
    pub loyalty_accounts: Vec<LoyaltyAccount>,
}

/// A journey with the gateway's ids of its segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedJourney {
    pub id: JourneyId,
    /// The segment ids, one per segment and in the same order.
    pub segment_ids: Vec<SegmentId>,
    /// The journey as currently scheduled.
    pub journey: Journey,
}

/// A change by the airline, with the gateway's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedChange {
    pub id: AirlineChangeId,
    pub change: AirlineChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServiceStatus {
    Pending,
    Confirmed,
    Failed,
    Canceled,
}

impl ServiceStatus {
    /// Returns whether the service counts towards the price of the booking.
    pub const fn is_bought(self) -> bool {
        matches!(self, Self::Confirmed | Self::Canceled)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedService {
    pub id: ServiceId,
    pub status: ServiceStatus,
    /// The supplier's id of the service when it was offered for sale.
    pub supplier_service_id: String,
    pub supplier_ticket_service_id: Option<String>,
    pub service_type: ServiceType,
    /// The passenger, as an index into the list of passengers.
    pub passenger: u8,
    pub supplier_segment_ids: Vec<String>,
    pub segment_ids: Vec<SegmentId>,
    pub baggage: Option<Baggage>,
    pub quantity: u8,
    pub unit_amount: Money,
    pub payment: PaymentId,
}

impl BookedService {
    /// Returns the price of all units.
    pub fn total(&self) -> Money {
        let minor = self
            .unit_amount
            .minor
            .saturating_mul(i64::from(self.quantity));
        Money::new(minor, self.unit_amount.currency)
    }

    /// Returns whether a service on the ticket is, or may be, this service. Some suppliers change a
    /// service's id when it is put on the ticket.
    pub(crate) fn matches(&self, on_ticket: &SupplierService) -> bool {
        if on_ticket.supplier_service_id == self.supplier_service_id {
            return true;
        }
        let same_bag = on_ticket.baggage.map(|bag| bag.baggage_type)
            == self.baggage.map(|bag| bag.baggage_type);
        let mut wanted = self.supplier_segment_ids.clone();
        let mut flown = on_ticket.supplier_segment_ids.clone();
        wanted.sort();
        flown.sort();
        on_ticket.service_type == self.service_type
            && on_ticket.passenger == Some(self.passenger)
            && same_bag
            && wanted == flown
    }
}

/// The state of a purchase of services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServicePurchaseState {
    /// The outcome of the purchase is not known yet.
    InProgress {
        /// The call to the supplier. It stays pending until the payment is authorized.
        call: RemoteCall,
    },
    /// The services are on the ticket.
    Succeeded,
    /// The card was declined, so nothing was bought.
    Declined,
    /// The supplier refused, so nothing was bought.
    Refused,
    NotSent,
}

/// A purchase of services, with its own payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicePurchase {
    pub id: PurchaseId,
    pub services: Vec<ServiceId>,
    pub payment: PaymentId,
    /// The price of all services.
    pub total: Money,
    pub state: ServicePurchaseState,
    pub failure: Option<Failure>,
    pub created_at: Timestamp,
}

impl ServicePurchase {
    /// Returns the call to the supplier while the outcome is not known.
    pub const fn call(&self) -> Option<&RemoteCall> {
        match &self.state {
            ServicePurchaseState::InProgress { call: buy } => Some(buy),
            _ => None,
        }
    }
}

/// The party that refunds the payer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundedBy {
    Service,
    Supplier,
}

/// The amounts of a cancellation: what is kept and what is refunded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundBreakdown {
    /// Fee kept by the supplier.
    pub fee: Money,
    pub refund_amount: Money,
    pub refund_to: Vec<PaymentId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlightCancellation {
    pub refunded_by: RefundedBy,
    /// The fee and refund. `None` if neither the supplier nor the fare's terms give an amount. The
    /// refund then stays undecided until an operator sets it.
    #[serde(flatten)]
    pub refund: Option<RefundBreakdown>,
    /// The supplier's id of the cancellation.
    pub supplier_reference: Option<String>,
}
