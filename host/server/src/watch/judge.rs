//! What is decided about watches without a call and without the database: what to do
//! with a question, when it is due again, and what becomes of a purchase.

use crate::flow::bookable::BookingPhase;
use crate::flow::complete::CompleteBookingError;
use crate::flow::prebook::PrebookError;
use crate::flow::refusal::PrebookRefusal;
use crate::query::QueryError;
use host_domain::mandate::MandateRejection;
use host_domain::money::Money;
use host_domain::supplier::ReadError;
use host_domain::time::Timestamp;
use host_domain::watch::{Event, PurchaseFailureReason, Watch};
use host_storage::ClaimedPriceCheck;

/// A booking that is not decided is looked at again after as long as it has been
/// waited for, within these bounds.
const PURCHASE_POLL_MS: (i64, i64) = (1_000, 300_000);

/// What is to be done with a question that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckAction {
    /// It is asked.
    Check,
    /// Its time is over: whoever waits for it expires, and it is forgotten.
    Expire,
    /// Nobody waits for it any more.
    Delete,
}

/// What is to be done with it now.
pub(crate) fn check_action(ask: &ClaimedPriceCheck, now: Timestamp) -> CheckAction {
    if !ask.has_open_watches {
        CheckAction::Delete
    } else if now >= ask.query.expires_at() {
        CheckAction::Expire
    } else {
        CheckAction::Check
    }
}

/// What a price does to whoever waits for it; none: nothing is to be had.
pub(crate) fn price_event(total: Option<Money>) -> Event {
    total.map_or(Event::PriceUnavailable, |total| Event::PriceObserved { total })
}

/// When a question is due again that was asked, and why nothing came of that, if so.
pub(crate) fn next_check_at(
    ask: &ClaimedPriceCheck,
    failed: Option<&QueryError>,
    interval_s: i64,
    now: Timestamp,
) -> Timestamp {
    let question = &ask.query;
    match failed.and_then(retry_after_s).map(i64::from) {
        // Whoever waits for it expires in time nevertheless.
        Some(seconds) => now.plus_s(seconds.max(1)).min(question.expires_at()),
        None => question.next_check(&ask.id, interval_s, now),
    }
}

/// When a supplier said that it can be asked again.
const fn retry_after_s(error: &QueryError) -> Option<u32> {
    match error {
        QueryError::Supplier {
            error: ReadError::RateLimited { retry_after_s },
            ..
        } => *retry_after_s,
        _ => None,
    }
}

/// What a run of a purchase leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PurchaseOutcome {
    /// Nothing was promised to anybody: the watch waits again.
    Released,
    /// It was bought.
    Purchased,
    /// It could not be.
    Failed(PurchaseFailureReason),
    /// The booking is not decided.
    Undecided,
}

impl PurchaseOutcome {
    /// What happens to the watch; none: nothing yet.
    pub(crate) const fn event(self) -> Option<Event> {
        match self {
            Self::Released => Some(Event::PurchaseAborted),
            Self::Purchased => Some(Event::Purchased),
            Self::Failed(reason) => Some(Event::PurchaseFailed { reason }),
            Self::Undecided => None,
        }
    }
}

/// Whether a purchase begins at the price that was asked for once more.
pub(crate) fn is_price_acceptable(watch: &Watch, total: Money) -> bool {
    watch.trigger.is_met_by(total)
}

/// What a mandate that cannot be used means for the watch.
pub(crate) const fn from_mandate_refusal(refusal: MandateRejection) -> PurchaseOutcome {
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

/// What a booking that was not bound means for the watch; none: nothing is known of it.
pub(crate) const fn from_prebook_error(error: &PrebookError) -> Option<PurchaseOutcome> {
    match error {
        PrebookError::Refused(decision) => Some(from_prebook_refusal(decision)),
        PrebookError::OfferInUse
        | PrebookError::NotSent { .. }
        | PrebookError::RateLimited { .. }
        | PrebookError::SupplierAccount
        | PrebookError::Unsupported => Some(PurchaseOutcome::Released),
        // It may have been bound; the booking's own timer decides.
        PrebookError::NoResponse { .. } => Some(PurchaseOutcome::Undecided),
        PrebookError::Workflow(_)
        | PrebookError::IdempotencyKeyReused
        | PrebookError::IdempotencyInProgress
        | PrebookError::Seal(_) => None,
    }
}

const fn from_prebook_refusal(decision: &PrebookRefusal) -> PurchaseOutcome {
    match decision {
        PrebookRefusal::Rejected => PurchaseOutcome::Failed(PurchaseFailureReason::SupplierRejected),
        PrebookRefusal::PriceChanged { .. } | PrebookRefusal::Unavailable | PrebookRefusal::Expired => PurchaseOutcome::Released,
    }
}

/// What a booking that is bought with means for the watch, with why it was not bound,
/// where the supplier decided that; none: it waits to be paid.
pub(crate) fn from_booking_phase(
    stage: BookingPhase<'_>,
    is_declined: bool,
    refused: Option<&PrebookRefusal>,
) -> Option<PurchaseOutcome> {
    match stage {
        BookingPhase::Prebooking | BookingPhase::Completing(_) => Some(PurchaseOutcome::Undecided),
        // A card that was declined once is not tried again, nor for another booking.
        BookingPhase::ReadyToComplete | BookingPhase::Expired if is_declined => {
            Some(PurchaseOutcome::Failed(PurchaseFailureReason::PaymentFailed))
        }
        BookingPhase::ReadyToComplete => None,
        BookingPhase::Confirmed | BookingPhase::Canceling => Some(PurchaseOutcome::Purchased),
        BookingPhase::Failed { was_bound: true } => Some(PurchaseOutcome::Failed(PurchaseFailureReason::SupplierRejected)),
        BookingPhase::Failed { was_bound: false } => Some(refused.map_or(PurchaseOutcome::Released, from_prebook_refusal)),
        BookingPhase::Expired => Some(PurchaseOutcome::Released),
    }
}

/// What it means that paying was not begun; none: nothing is known of it.
pub(crate) const fn from_complete_error(error: &CompleteBookingError) -> Option<PurchaseOutcome> {
    match error {
        CompleteBookingError::InstrumentInvalid | CompleteBookingError::InstrumentNotAllowed => {
            Some(PurchaseOutcome::Failed(PurchaseFailureReason::PaymentInstrumentInvalid))
        }
        // It has expired meanwhile, or somebody else was faster: the next run sees.
        CompleteBookingError::InvalidState(_) => Some(PurchaseOutcome::Undecided),
        CompleteBookingError::Workflow(_)
        | CompleteBookingError::NotFound
        | CompleteBookingError::InstrumentUnreadable(_)
        | CompleteBookingError::InstrumentMissing
        | CompleteBookingError::Idempotency(_) => None,
    }
}

/// When a purchase is looked at again that has been open `since` then.
pub(crate) fn next_poll_at(since: Timestamp, now: Timestamp) -> Timestamp {
    let (soonest, latest) = PURCHASE_POLL_MS;
    now.plus_ms(now.since(since).clamp(soonest, latest))
}
