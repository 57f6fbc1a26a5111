//! The parts of a prebook that hotels and flights provide: the new booking and the call that binds
//! its offer.

use crate::booking::aggregate::BookingAggregate;
use futures::future::BoxFuture;
use host_domain::booking::{Booking, BookingState, PaymentCollector};
use host_domain::hotel::supplier_api::UnsellableReason;
use host_domain::id::BookingId;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::supplier::{ChangeError, Checkout, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, Supplier};
use host_storage::{IdempotencyKey, UnitOfWork};
use std::sync::Arc;
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct PrebookContext {
    pub key: IdempotencyKey,
    pub fingerprint: String,
    pub expires_at: Timestamp,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

#[derive(Debug, Clone)]
pub struct PrebookParameters {
    pub owner: Owner,
    pub key: String,
    pub fingerprint: String,
    pub reference_id: Option<String>,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

/// The values that a new booking takes from the offer.
pub struct OfferBinding<'a> {
    pub supplier: &'a SupplierId,
    pub supplier_offer: &'a str,
    pub expires_at: Timestamp,
    pub payment_collector: PaymentCollector,
}

impl PrebookParameters {
    /// Returns the context of the prebook. `operation` is what the idempotency key belongs to.
    pub fn to_context(&self, operation: &str, expires_at: Timestamp) -> PrebookContext {
        PrebookContext {
            key: IdempotencyKey::new(&self.owner, operation, &self.key),
            fingerprint: self.fingerprint.clone(),
            expires_at,
            use_payment_sdk: self.use_payment_sdk,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        }
    }

    pub fn new_booking<K: BookingAggregate>(
        &self,
        id: BookingId,
        offer: &OfferBinding<'_>,
        details: K,
        now: Timestamp,
    ) -> Booking<K> {
        Booking {
            id,
            owner: self.owner.clone(),
            version: 1,
            supplier: offer.supplier.clone(),
            reference_id: self.reference_id.clone(),
            supplier_offer: offer.supplier_offer.to_owned(),
            supplier_prebook: None,
            supplier_reference: None,
            use_payment_sdk: self.use_payment_sdk,
            payment_collector: offer.payment_collector,
            offer_expires_at: offer.expires_at,
            state: BookingState::Created,
            payments: Vec::new(),
            failure: None,
            created_at: now,
            updated_at: now,
            confirmed_at: None,
            canceled_at: None,
            details,
        }
    }
}

/// A new booking, with statements that are committed in the same transaction, for example the
/// consumption of the mandate that the booking is made under.
pub type NewBooking<K> = (Booking<K>, UnitOfWork);

pub struct BoundOffer<K: BookingAggregate> {
    pub total: Money,
    /// Whether it is what was requested, apart from the price.
    pub matches_request: bool,
    /// Why it cannot be sold to the caller, if its terms changed that much.
    pub unsellable: Option<UnsellableReason>,
    /// Time until which it can be booked, if the supplier names one.
    pub expires_at: Option<Timestamp>,
    pub checkout: Option<Checkout>,
    pub response: Box<K::PrebookResponse>,
}

/// The call that binds an offer. It is made once for each booking.
pub type PrebookCall<K> = Arc<
    dyn Fn(
            Supplier,
            CallContext,
            Booking<K>,
        ) -> BoxFuture<'static, Result<BoundOffer<K>, ChangeError>>
        + Send
        + Sync,
>;
