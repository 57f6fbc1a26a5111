//! The parts of a flight booking that the gateway names.

use crate::booking::Failure;
use crate::flight::itinerary::{AirlineChange, Journey};
use crate::flight::passenger::{Gender, LoyaltyAccount, PassengerType, Title};
use crate::flight::supply::{Baggage, SupplierService, ServiceType};
use crate::id::{
    AirlineChangeId, JourneyId, PassengerId, PaymentId, PurchaseId, SegmentId, ServiceId,
};
use crate::leg::RemoteCall;
use crate::money::Money;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// Who flies. Documents and whole membership numbers stand sealed elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedPassenger {
    /// Its id.
    pub id: PassengerId,
    /// Its place in the request. Suppliers count by the order in which fares are priced,
    /// which is the order of the booking's list.
    #[serde(default)]
    pub position: u8,
    /// By age.
    pub passenger_type: PassengerType,
    /// How they are addressed.
    pub title: Option<Title>,
    /// As in the document.
    pub first_name: String,
    /// As in the document.
    pub last_name: String,
    /// Day of birth.
    pub date_of_birth: Date,
    /// As in the document.
    pub gender: Gender,
    /// ISO 3166-1 alpha-2.
    pub nationality: Option<String>,
    /// Programmes, their numbers masked.
    pub loyalty_accounts: Vec<LoyaltyAccount>,
}

/// A journey with the gateway's ids of its segments, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedJourney {
    /// Its id.
    pub id: JourneyId,
    /// One a segment.
    pub segment_ids: Vec<SegmentId>,
    /// As it is flown.
    pub journey: Journey,
}

/// An airline's change with the gateway's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedChange {
    /// Its id.
    pub id: AirlineChangeId,
    /// What changed.
    pub change: AirlineChange,
}

/// How an extra stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum ServiceStatus {
    Pending,
    Confirmed,
    Failed,
    Canceled,
}

impl ServiceStatus {
    /// Whether it counts into what the booking costs.
    #[must_use]
    pub const fn is_bought(self) -> bool {
        matches!(self, Self::Confirmed | Self::Canceled)
    }
}

/// An extra of a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookedService {
    /// Its id.
    pub id: ServiceId,
    /// How it stands.
    pub status: ServiceStatus,
    /// The supplier's id of what was for sale.
    pub supplier_service_id: String,
    /// The supplier's id of it on the ticket.
    pub supplier_ticket_service_id: Option<String>,
    /// Which kind.
    pub service_type: ServiceType,
    /// For whom; a place in the list of passengers.
    pub passenger: u8,
    /// On which segments, by the supplier's ids.
    pub supplier_segment_ids: Vec<String>,
    /// On which segments.
    pub segment_ids: Vec<SegmentId>,
    /// Of a bag.
    pub baggage: Option<Baggage>,
    /// How many.
    pub quantity: u8,
    /// Each.
    pub unit_amount: Money,
    /// What pays it.
    pub payment: PaymentId,
}

impl BookedService {
    /// Of all of them.
    #[must_use]
    pub fn total(&self) -> Money {
        let minor = self
            .unit_amount
            .minor
            .saturating_mul(i64::from(self.quantity));
        Money::new(minor, self.unit_amount.currency)
    }

    /// Whether something on the ticket is, or may be, this. Not every supplier
    /// keeps the id under which it was for sale.
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

/// Where a purchase of extras stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServicePurchaseState {
    /// The supplier's part; due while the payment is not held.
    InProgress {
        /// How far it has come.
        call: RemoteCall,
    },
    /// On the ticket.
    Succeeded,
    /// The card was declined; nothing was bought.
    Declined,
    /// The supplier said no; nothing was bought.
    Refused,
    /// Nothing reached the supplier.
    NotSent,
}

/// A purchase of extras with its own payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicePurchase {
    /// Its id.
    pub id: PurchaseId,
    /// What is bought.
    pub services: Vec<ServiceId>,
    /// What pays it.
    pub payment: PaymentId,
    /// Of all of them.
    pub total: Money,
    /// Where it stands.
    pub state: ServicePurchaseState,
    /// Why not.
    pub failure: Option<Failure>,
    /// When it began.
    pub created_at: Timestamp,
}

impl ServicePurchase {
    /// The supplier's part, while the outcome is open.
    #[must_use]
    pub const fn call(&self) -> Option<&RemoteCall> {
        match &self.state {
            ServicePurchaseState::InProgress { call: buy } => Some(buy),
            ServicePurchaseState::Succeeded
            | ServicePurchaseState::Declined
            | ServicePurchaseState::Refused
            | ServicePurchaseState::NotSent => None,
        }
    }
}

/// Who gives money back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names of the contract")]
pub enum RefundedBy {
    Service,
    Supplier,
}

/// How much of what was paid a cancellation kept, and is to give back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundBreakdown {
    /// Kept by the supplier.
    pub fee: Money,
    /// Given back.
    pub refund_amount: Money,
    /// To which payments.
    pub refund_to: Vec<PaymentId>,
}

/// A ticket's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// Who gives back what is not kept.
    pub refunded_by: RefundedBy,
    /// None: neither the supplier nor the fare's terms say how much. The refund is
    /// held until an operator does.
    #[serde(flatten)]
    pub refund: Option<RefundBreakdown>,
    /// The supplier's id of it.
    pub supplier_reference: Option<String>,
}
