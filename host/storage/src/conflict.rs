//! Preconditions of a unit of work that can fail.

/// The precondition that was not met, as its message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Conflict {
    #[error("the booking exists")]
    BookingExists,
    #[error("the booking was changed concurrently, or does not exist")]
    BookingVersion,
    #[error("another booking uses the offer")]
    OfferInUse,
    #[error("the booking's history has an entry with this sequence number")]
    BookingHistorySequence,
    #[error("the event exists")]
    EventExists,
    #[error("a call with this reference was made before")]
    AttemptExists,
    #[error("the call's outcome is recorded already, or the call does not exist")]
    AttemptFinished,
    #[error("the idempotency key was used before")]
    IdempotencyKeyExists,
    #[error("the idempotency key does not exist")]
    IdempotencyKeyNotFound,
    #[error("another worker holds the job's lease")]
    JobLeased,
    #[error("the job's lease is lost")]
    LeaseLost,
    #[error("the job is not parked any more, or was parked again")]
    JobNotParked,
    #[error("the API key exists")]
    ApiKeyExists,
    #[error("the API key is revoked already, or does not exist")]
    ApiKeyRevoked,
    #[error("the payment instrument exists")]
    InstrumentExists,
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    #[error("the supplier's event was received before")]
    SupplierEventExists,
    #[error("the supplier's event was processed already, or does not exist")]
    SupplierEventProcessed,
    #[error("the subscription exists")]
    SubscriptionExists,
    #[error("the subscription was changed concurrently, or does not exist")]
    SubscriptionVersion,
    #[error("the subscription does not exist")]
    SubscriptionNotFound,
    #[error("the delivery was changed concurrently, or does not exist")]
    DeliveryChanged,
    #[error("the listen session does not exist")]
    ListenSessionNotFound,
    #[error("the tenant has the maximum number of listen sessions")]
    ListenSessionLimit,
    #[error("another bulk replay of the account is running")]
    BulkReplayRunning,
    #[error("the bulk replay has ended")]
    BulkReplayEnded,
    #[error("the watch exists")]
    WatchExists,
    #[error("the watch was changed concurrently, or does not exist")]
    WatchVersion,
    #[error("an open watch uses the price check")]
    PriceCheckInUse,
    #[error("the mandate exists")]
    MandateExists,
    #[error("the mandate was changed concurrently, or does not exist")]
    MandateVersion,
    #[error("the mandate key exists")]
    MandateKeyExists,
    #[error("an account with this address exists")]
    AccountExists,
    #[error("the account was changed concurrently, or does not exist")]
    AccountVersion,
    #[error("the link was used, has expired or does not exist")]
    AccountLinkUsed,
    #[error("the session exists")]
    SessionExists,
    #[error("another decision about the call waits for the end of a lookup")]
    SettlementWaiting,
    #[error("the decision has ended, or does not exist")]
    SettlementEnded,
    #[error("another sign-in was recorded concurrently")]
    SignInRaced,
    #[error("the account has a second factor")]
    SecondFactorExists,
    #[error("the code was used before")]
    CodeUsed,
    #[error("the account has a role in the organization")]
    MemberExists,
    #[error("the member was changed concurrently, or is the last admin")]
    MemberChanged,
    #[error("the audit log has an entry with this id or sequence number")]
    AuditEntryExists,
}
