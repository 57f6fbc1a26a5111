//! The parts of a prebook that hotels and flights provide: the new booking and the call that binds
//! its offer.

use crate::booking::aggregate::BookingAggregate;
use futures::future::BoxFuture;
use host_domain::money::Money;
use host_domain::payment::Payment;
use host_domain::supplier::{ChangeError, Checkout};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, Supplier};
use host_storage::{IdempotencyKey, UnitOfWork};
use tokio::time::Instant;

/// The context of a prebook request: its key, expiry and deadline.
#[derive(Debug, Clone)]
pub struct PrebookContext {
    pub key: IdempotencyKey,
    pub fingerprint: String,
    /// Time at which the offer expires.
    pub expires_at: Timestamp,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

/// A booking that is about to be created.
pub struct NewBooking<B> {
    pub booking: B,
    /// Statements that are committed in the same transaction, for example the consumption of the
    /// mandate that the booking is made under.
    pub extra_statements: UnitOfWork,
}

impl<B: BookingAggregate> NewBooking<B> {
    /// Creates it without further statements.
    pub fn without_extras(booking: B) -> Self {
        let extra_statements = UnitOfWork::new(booking.created_at());
        Self {
            booking,
            extra_statements,
        }
    }
}

/// The supplier's response to a prebook.
pub struct BoundOffer<E> {
    /// The current price.
    pub total: Money,
    /// Whether it is what was requested, apart from the price.
    pub matches_request: bool,
    /// Time until which it can be booked, if the supplier names one.
    pub expires_at: Option<Timestamp>,
    /// Checkout of a supplier that collects payment.
    pub checkout: Option<Checkout>,
    /// Builds the booking's event from its expiry and the browser payment.
    pub into_event: Box<dyn FnOnce(Timestamp, Option<Payment>) -> E + Send>,
}

/// The closure that calls the supplier to bind the offer.
pub type PrebookCall<B> = Box<
    dyn FnOnce(
            Supplier,
            CallContext,
            B,
        ) -> BoxFuture<
            'static,
            Result<BoundOffer<<B as BookingAggregate>::Event>, ChangeError>,
        > + Send,
>;
