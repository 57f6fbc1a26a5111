//! Decisions about watches that need neither a call nor the database: the action for a claimed
//! price check, the time of the next check, and the outcome of a purchase.

use crate::booking::completion::CompleteBookingError;
use crate::booking::execution::NotSentCause;
use crate::booking::prebook::PrebookError;
use crate::booking::prebook_refusal::PrebookRefusal;
use crate::supplier::query_error::QueryError;
use host_domain::booking::BookingPhase;
use host_domain::mandate::MandateRejection;
use host_domain::money::Money;
use host_domain::supplier::ReadError;
use host_domain::time::Timestamp;
use host_domain::watch::{PurchaseFailureReason, Watch, WatchTransitionEvent};
use host_storage::ClaimedPriceCheck;

/// Minimum and maximum delay in milliseconds before an undecided booking is checked again. Within
/// these bounds the delay equals the time that the booking has been undecided so far.
const PURCHASE_POLL_MS: (i64, i64) = (1_000, 300_000);

/// The action for a claimed price check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckAction {
    Check,
    /// The query has expired: the watches that wait for it expire, and it is deleted.
    Expire,
    /// No watch waits for it any more, so it is deleted.
    Delete,
}

pub fn check_action(check: &ClaimedPriceCheck, now: Timestamp) -> CheckAction {
    if !check.has_open_watches {
        CheckAction::Delete
    } else if now >= check.query.expires_at() {
        CheckAction::Expire
    } else {
        CheckAction::Check
    }
}

/// Returns the event of a price. `None` means that no offer is available.
pub fn price_event(total: Option<Money>) -> WatchTransitionEvent {
    total.map_or(WatchTransitionEvent::PriceUnavailable, |total| {
        WatchTransitionEvent::PriceObserved { total }
    })
}

/// Returns when a query is due again after a check, which may have failed.
pub fn next_check_at(
    check: &ClaimedPriceCheck,
    failed: Option<&QueryError>,
    interval_s: i64,
    now: Timestamp,
) -> Timestamp {
    let query = &check.query;
    match failed.and_then(retry_after_s).map(i64::from) {
        // The watches that wait for it still expire in time.
        Some(seconds) => now.plus_s(seconds.max(1)).min(query.expires_at()),
        None => query.next_check(&check.id, interval_s, now),
    }
}

/// Returns the time in seconds after which the supplier accepts requests again, if it named one.
const fn retry_after_s(error: &QueryError) -> Option<u32> {
    match error {
        QueryError::Supplier {
            error: ReadError::RateLimited { retry_after_s },
            ..
        } => *retry_after_s,
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseOutcome {
    /// No commitment was made, so the watch waits again.
    Released,
    Purchased,
    Failed(PurchaseFailureReason),
    /// The booking is not decided yet.
    Undecided,
    /// The call that books had no effect. The next run sends it again.
    NotSent(NotSentCause),
}

impl PurchaseOutcome {
    /// Returns the event for the watch, or `None` if nothing happens yet.
    pub const fn event(self) -> Option<WatchTransitionEvent> {
        match self {
            Self::Released => Some(WatchTransitionEvent::PurchaseAborted),
            Self::Purchased => Some(WatchTransitionEvent::Purchased),
            Self::Failed(reason) => Some(WatchTransitionEvent::PurchaseFailed { reason }),
            Self::Undecided | Self::NotSent(_) => None,
        }
    }
}

/// Returns whether a purchase starts at the price that was just queried again.
pub fn is_price_acceptable(watch: &Watch, total: Money) -> bool {
    watch.trigger.is_met_by(total)
}

pub const fn from_mandate_refusal(refusal: MandateRejection) -> PurchaseOutcome {
    PurchaseOutcome::Failed(match refusal {
        MandateRejection::Revoked => PurchaseFailureReason::MandateRevoked,
        MandateRejection::Expired => PurchaseFailureReason::MandateExpired,
        MandateRejection::Consumed
        | MandateRejection::CapExceeded
        | MandateRejection::CurrencyMismatch
        | MandateRejection::OwnerMismatch
        | MandateRejection::InstrumentMismatch
        | MandateRejection::ScopeMismatch
        | MandateRejection::InvalidSignature => PurchaseFailureReason::MandateInvalid,
    })
}

/// Returns the outcome of a failed prebook, or `None` if the error does not show it.
pub const fn from_prebook_error(error: &PrebookError) -> Option<PurchaseOutcome> {
    match error {
        PrebookError::Refused(decision) => Some(from_prebook_refusal(decision)),
        PrebookError::OfferInUse
        | PrebookError::NotSent { .. }
        | PrebookError::RateLimited { .. }
        | PrebookError::SupplierAccount { .. }
        | PrebookError::PaymentNotCreated { .. }
        | PrebookError::NoProcessor
        | PrebookError::Unsupported => Some(PurchaseOutcome::Released),
        // The state of the booking decides, at the next run.
        PrebookError::NoResponse { .. }
        | PrebookError::Unresolved { .. }
        | PrebookError::Unconfirmed { .. } => Some(PurchaseOutcome::Undecided),
        PrebookError::Workflow(_)
        | PrebookError::IdempotencyKeyReused
        | PrebookError::IdempotencyInProgress
        | PrebookError::Seal(_) => None,
    }
}

const fn from_prebook_refusal(decision: &PrebookRefusal) -> PurchaseOutcome {
    match decision {
        PrebookRefusal::Rejected => {
            PurchaseOutcome::Failed(PurchaseFailureReason::SupplierRejected)
        }
        PrebookRefusal::PriceChanged { .. }
        | PrebookRefusal::Unavailable
        | PrebookRefusal::Expired => PurchaseOutcome::Released,
    }
}

/// Returns the outcome of a purchase by the phase of its booking. `refused` is the supplier's
/// refusal to bind it, if there was one. Returns `None` if the booking waits to be paid.
pub fn from_booking_phase(
    phase: BookingPhase<'_>,
    is_declined: bool,
    refused: Option<&PrebookRefusal>,
) -> Option<PurchaseOutcome> {
    match phase {
        BookingPhase::Prebooking | BookingPhase::Completing(_) => Some(PurchaseOutcome::Undecided),
        // A card that was declined once is not tried again, nor for another booking.
        BookingPhase::ReadyToComplete | BookingPhase::Expired if is_declined => Some(
            PurchaseOutcome::Failed(PurchaseFailureReason::PaymentFailed),
        ),
        BookingPhase::ReadyToComplete => None,
        BookingPhase::Confirmed | BookingPhase::Canceling => Some(PurchaseOutcome::Purchased),
        BookingPhase::Failed {
            was_prebooked: true,
        } => Some(PurchaseOutcome::Failed(
            PurchaseFailureReason::SupplierRejected,
        )),
        BookingPhase::Failed {
            was_prebooked: false,
        } => Some(refused.map_or(PurchaseOutcome::Released, from_prebook_refusal)),
        BookingPhase::Expired => Some(PurchaseOutcome::Released),
    }
}

/// Returns the outcome of a failed completion, or `None` if the error does not show it.
pub const fn from_complete_error(error: &CompleteBookingError) -> Option<PurchaseOutcome> {
    match error {
        CompleteBookingError::InstrumentInvalid | CompleteBookingError::InstrumentNotAllowed => {
            Some(PurchaseOutcome::Failed(
                PurchaseFailureReason::PaymentInstrumentInvalid,
            ))
        }
        // The booking has expired meanwhile, or another process changed it first; the next run
        // reads its state.
        CompleteBookingError::InvalidState(_) => Some(PurchaseOutcome::Undecided),
        CompleteBookingError::Workflow(_)
        | CompleteBookingError::NotFound
        | CompleteBookingError::InstrumentUnreadable(_)
        | CompleteBookingError::InstrumentMissing
        | CompleteBookingError::Idempotency(_) => None,
    }
}

/// Returns when a purchase with this outcome, which has been undecided since `since`, is continued.
/// Each run authorizes the card again if the call that books was not sent.
pub fn next_run_at(outcome: PurchaseOutcome, since: Timestamp, now: Timestamp) -> Timestamp {
    let (soonest, latest) = PURCHASE_POLL_MS;
    let next = now.plus_ms(now.since(since).clamp(soonest, latest));
    match outcome {
        PurchaseOutcome::NotSent(NotSentCause::RateLimited { retry_after_s }) => {
            next.max(now.plus_s(i64::from(retry_after_s.unwrap_or(0))))
        }
        PurchaseOutcome::NotSent(NotSentCause::RequiresCorrection) => now.plus_ms(latest),
        PurchaseOutcome::NotSent(NotSentCause::Temporary)
        | PurchaseOutcome::Released
        | PurchaseOutcome::Purchased
        | PurchaseOutcome::Failed(_)
        | PurchaseOutcome::Undecided => next,
    }
}
