//! What is decided about watches without a call and without the database: what to do
//! with a question, when it is due again, and what becomes of a purchase.

use crate::flow::bookable::Stage;
use crate::flow::complete::CompleteError;
use crate::flow::prebook::PrebookError;
use crate::flow::refusal::Decision;
use crate::query::QueryError;
use host_domain::mandate::MandateRejection;
use host_domain::money::Money;
use host_domain::supplier::ReadError;
use host_domain::time::Timestamp;
use host_domain::watch::{Event, PurchaseFailureReason, Watch};
use host_storage::ClaimedPriceCheck;

/// A booking that is not decided is looked at again after as long as it has been
/// waited for, within these bounds.
const LOOK_AGAIN_MS: (i64, i64) = (1_000, 300_000);

/// What is to be done with a question that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It is asked.
    Ask,
    /// Its time is over: whoever waits for it expires, and it is forgotten.
    Expire,
    /// Nobody waits for it any more.
    Forget,
}

/// What is to be done with it now.
pub(crate) fn duty(ask: &ClaimedPriceCheck, now: Timestamp) -> Duty {
    if !ask.has_open_watches {
        Duty::Forget
    } else if now >= ask.query.expires_at() {
        Duty::Expire
    } else {
        Duty::Ask
    }
}

/// What a price does to whoever waits for it; none: nothing is to be had.
pub(crate) fn seen(total: Option<Money>) -> Event {
    total.map_or(Event::PriceUnavailable, |total| Event::PriceObserved { total })
}

/// When a question is due again that was asked, and why nothing came of that, if so.
pub(crate) fn next_check(
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
pub(crate) enum Left {
    /// Nothing was promised to anybody: the watch waits again.
    Released,
    /// It was bought.
    Bought,
    /// It could not be.
    Failed(PurchaseFailureReason),
    /// The booking is not decided.
    Open,
}

impl Left {
    /// What happens to the watch; none: nothing yet.
    pub(crate) const fn event(self) -> Option<Event> {
        match self {
            Self::Released => Some(Event::PurchaseAborted),
            Self::Bought => Some(Event::Purchased),
            Self::Failed(reason) => Some(Event::PurchaseFailed { reason }),
            Self::Open => None,
        }
    }
}

/// Whether a purchase begins at the price that was asked for once more.
pub(crate) fn is_bought_at(watch: &Watch, total: Money) -> bool {
    watch.trigger.is_met_by(total)
}

/// What a mandate that cannot be used means for the watch.
pub(crate) const fn of_mandate(refusal: MandateRejection) -> Left {
    Left::Failed(match refusal {
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
pub(crate) const fn of_prebook(error: &PrebookError) -> Option<Left> {
    match error {
        PrebookError::Decided(decision) => Some(of_decision(decision)),
        PrebookError::OfferInUse
        | PrebookError::NotSent { .. }
        | PrebookError::RateLimited { .. }
        | PrebookError::Account
        | PrebookError::Unsupported => Some(Left::Released),
        // It may have been bound; the booking's own timer decides.
        PrebookError::NoAnswer { .. } => Some(Left::Open),
        PrebookError::Flow(_)
        | PrebookError::KeyReused
        | PrebookError::InProgress
        | PrebookError::Sealed(_) => None,
    }
}

const fn of_decision(decision: &Decision) -> Left {
    match decision {
        Decision::Rejected => Left::Failed(PurchaseFailureReason::SupplierRejected),
        Decision::PriceChanged { .. } | Decision::Unavailable | Decision::Expired => Left::Released,
    }
}

/// What a booking that is bought with means for the watch, with why it was not bound,
/// where the supplier decided that; none: it waits to be paid.
pub(crate) fn of_booking(
    stage: Stage<'_>,
    is_declined: bool,
    refused: Option<&Decision>,
) -> Option<Left> {
    match stage {
        Stage::Early | Stage::Completing(_) => Some(Left::Open),
        // A card that was declined once is not tried again, nor for another booking.
        Stage::Ready | Stage::Expired if is_declined => {
            Some(Left::Failed(PurchaseFailureReason::PaymentFailed))
        }
        Stage::Ready => None,
        Stage::Confirmed | Stage::Leaving => Some(Left::Bought),
        Stage::Failed { bound: true } => Some(Left::Failed(PurchaseFailureReason::SupplierRejected)),
        Stage::Failed { bound: false } => Some(refused.map_or(Left::Released, of_decision)),
        Stage::Expired => Some(Left::Released),
    }
}

/// What it means that paying was not begun; none: nothing is known of it.
pub(crate) const fn of_complete(error: &CompleteError) -> Option<Left> {
    match error {
        CompleteError::InstrumentInvalid | CompleteError::InstrumentNotWanted => {
            Some(Left::Failed(PurchaseFailureReason::PaymentInstrumentInvalid))
        }
        // It has expired meanwhile, or somebody else was faster: the next run sees.
        CompleteError::State(_) => Some(Left::Open),
        CompleteError::Flow(_)
        | CompleteError::NotFound
        | CompleteError::InstrumentSealed(_)
        | CompleteError::InstrumentMissing
        | CompleteError::Key(_) => None,
    }
}

/// When a purchase is looked at again that has been open `since` then.
pub(crate) fn look_again(since: Timestamp, now: Timestamp) -> Timestamp {
    let (soonest, latest) = LOOK_AGAIN_MS;
    now.plus_ms(now.since(since).clamp(soonest, latest))
}
