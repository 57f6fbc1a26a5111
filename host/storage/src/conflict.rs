//! Preconditions of a unit of work that can fail.

/// The precondition that was not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Conflict {
    /// A booking with this id exists.
    #[error("the booking exists")]
    BookingExists,
    /// The booking does not exist, or was changed since it was read.
    #[error("the booking was changed concurrently, or does not exist")]
    BookingVersion,
    /// Another unfinished booking uses the same offer.
    #[error("another booking uses the offer")]
    OfferInUse,
    /// The booking's history has an entry with this sequence number.
    #[error("the booking's history has an entry with this sequence number")]
    BookingHistorySequence,
    /// An event with this id exists.
    #[error("the event exists")]
    EventExists,
    /// A call with this reference happened, or may have happened.
    #[error("a call with this reference was made before")]
    AttemptExists,
    /// The call does not exist, or its outcome is recorded and final.
    #[error("the call's outcome is recorded already, or the call does not exist")]
    AttemptFinished,
    /// The idempotency key was used before.
    #[error("the idempotency key was used before")]
    IdempotencyKeyExists,
    /// The idempotency key was never used.
    #[error("the idempotency key does not exist")]
    IdempotencyKeyNotFound,
    /// Another worker holds the job's lease.
    #[error("another worker holds the job's lease")]
    JobLeased,
    /// The job is no longer leased with this token.
    #[error("the job's lease is lost")]
    LeaseLost,
    /// An API key with this id or hash exists.
    #[error("the API key exists")]
    ApiKeyExists,
    /// An instrument with this id exists.
    #[error("the payment instrument exists")]
    InstrumentExists,
    /// The instrument does not exist, or was deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    /// The supplier sent the same event before.
    #[error("the supplier's event was received before")]
    SupplierEventExists,
    /// The supplier's event does not exist, or was processed already.
    #[error("the supplier's event was processed already, or does not exist")]
    SupplierEventProcessed,
    /// A subscription with this id exists.
    #[error("the subscription exists")]
    SubscriptionExists,
    /// The subscription does not exist, or was changed since it was read.
    #[error("the subscription was changed concurrently, or does not exist")]
    SubscriptionVersion,
    /// The subscription does not exist, or was deleted.
    #[error("the subscription does not exist")]
    SubscriptionNotFound,
    /// The delivery does not exist, or was changed since it was read.
    #[error("the delivery was changed concurrently, or does not exist")]
    DeliveryChanged,
    /// A watch with this id exists.
    #[error("the watch exists")]
    WatchExists,
    /// The watch does not exist, or was changed since it was read.
    #[error("the watch was changed concurrently, or does not exist")]
    WatchVersion,
    /// An open watch uses the price check.
    #[error("an open watch uses the price check")]
    PriceCheckInUse,
    /// A mandate with this id exists.
    #[error("the mandate exists")]
    MandateExists,
    /// The mandate does not exist, or was changed since it was read.
    #[error("the mandate was changed concurrently, or does not exist")]
    MandateVersion,
    /// A signing key of this generation exists.
    #[error("the mandate key exists")]
    MandateKeyExists,
}
