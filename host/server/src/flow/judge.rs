//! From what a supplier or processor answered to what that means for a
//! booking. Pure: the whole mapping can be read and tested here.

pub(crate) mod flight;
pub(crate) mod hotel;
mod payment;
#[cfg(test)]
mod tests;

pub(crate) use payment::{authorize_response, capture_response, payment_lookup, refund_lookup, refund_response, void_response};

use host_domain::booking::{Failure, PaymentCollector};
use host_domain::leg::{RemoteCall, BackoffSchedule};
use host_domain::supplier::{Refusal, RefusalReason};
use host_domain::time::Timestamp;

/// How an attempt is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The answer is final, or accepted.
    Succeeded,
    /// A definite no.
    Rejected,
    /// Nothing left.
    NotSent,
    /// Nobody knows.
    Unknown,
}

impl CallOutcome {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "done",
            Self::Rejected => "refused",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
        }
    }
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpretation<E> {
    /// What happens.
    pub(crate) event: E,
    /// How the attempt ends.
    pub(crate) outcome: CallOutcome,
    /// One sentence for operators, without personal data.
    pub(crate) evidence: String,
    /// The other side's id, where it gave one.
    pub(crate) reference: Option<String>,
}

/// When things are looked at again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScheduleContext<'a> {
    pub(crate) now: Timestamp,
    /// When what is answered now was asked.
    pub(crate) requested_at: Timestamp,
    pub(crate) reconcile: &'a BackoffSchedule,
    pub(crate) capture_retry: &'a BackoffSchedule,
}

impl ScheduleContext<'_> {
    /// Of an answer to what was asked before.
    pub(crate) const fn with_requested_at(self, asked_at: Timestamp) -> Self {
        Self { requested_at: asked_at, ..self }
    }

    fn next_reconcile_at(&self, leg: Option<&RemoteCall>) -> Timestamp {
        let since = match leg {
            Some(RemoteCall::Sent { accepted_at: since, .. } | RemoteCall::Accepted { sent_at: since, .. }) => *since,
            Some(RemoteCall::Pending { .. }) | None => self.now,
        };
        self.reconcile.next_after(since, self.now)
    }

    fn next_retry_at(&self, leg: Option<&RemoteCall>) -> Timestamp {
        self.capture_retry
            .retry_at(leg.map_or(0, RemoteCall::failed_attempts), self.now)
    }
}

fn interpretation<E>(event: E, outcome: CallOutcome, evidence: impl Into<String>) -> Interpretation<E> {
    Interpretation {
        event,
        outcome,
        evidence: evidence.into(),
        reference: None,
    }
}

impl<E> Interpretation<E> {
    /// The same about something larger.
    pub(crate) fn map<F>(self, event: impl FnOnce(E) -> F) -> Interpretation<F> {
        Interpretation {
            event: event(self.event),
            outcome: self.outcome,
            evidence: self.evidence,
            reference: self.reference,
        }
    }

    fn with_reference(self, reference: &str) -> Self {
        Self {
            reference: Some(reference.to_owned()),
            ..self
        }
    }
}

/// What an adapter promises of its supplier, or its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SupplierGuarantees {
    /// After so long not finding something proves that it is not there; none: never.
    pub(crate) reads_consistent_after_ms: Option<u32>,
    /// A call that is repeated under its reference gets the first one's answer.
    pub(crate) supports_idempotent_retry: bool,
}

/// What not finding something tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbsenceMeaning {
    /// It was never done.
    NeverExecuted,
    /// Perhaps it was; doing it again, as the same call, does no harm.
    SafeToRetry,
    /// Nothing yet.
    Inconclusive,
}

const RETRIED_EVIDENCE: &str = "read back: not found; sent again as the same call";
const NOT_FOUND_EVIDENCE: &str = "read back: not found, which proves nothing yet";

/// For so long a call may be repeated under its reference: well within what
/// suppliers and processors remember a reference for.
const IDEMPOTENT_RETRY_WINDOW_MS: i64 = 60 * 60 * 1000;

/// Not finding something proves that it was never done only where the adapter
/// says that its supplier's reads are consistent, and only when it was asked that delay
/// after the call was over: a call that takes long is carried out at its end.
fn classify_absence(leg: Option<&RemoteCall>, promises: SupplierGuarantees, times: ScheduleContext<'_>) -> AbsenceMeaning {
    let given_up = leg.and_then(RemoteCall::abandoned_at);
    let first = leg.and_then(RemoteCall::unresolved_since);
    let (Some(given_up), Some(first)) = (given_up, first) else {
        return AbsenceMeaning::Inconclusive;
    };
    match promises.reads_consistent_after_ms {
        Some(delay) if times.requested_at.since(given_up) >= i64::from(delay) => AbsenceMeaning::NeverExecuted,
        _ if promises.supports_idempotent_retry && times.now.since(first) < IDEMPOTENT_RETRY_WINDOW_MS => {
            AbsenceMeaning::SafeToRetry
        }
        _ => AbsenceMeaning::Inconclusive,
    }
}

/// The same of a booking. Where the payer paid at the supplier's own checkout, that
/// nothing was booked is no end: it is booked as it was going to be, or a person looks.
fn classify_booking_absence(
    settlement: PaymentCollector,
    leg: Option<&RemoteCall>,
    promises: SupplierGuarantees,
    times: ScheduleContext<'_>,
) -> AbsenceMeaning {
    let promises = match settlement {
        PaymentCollector::Gateway => promises,
        PaymentCollector::Supplier => SupplierGuarantees {
            reads_consistent_after_ms: None,
            ..promises
        },
    };
    classify_absence(leg, promises, times)
}

/// The hint that a booking is read anew for.
fn change_reported_at(leg: Option<&RemoteCall>, times: ScheduleContext<'_>) -> Timestamp {
    match leg {
        Some(RemoteCall::Accepted { sent_at: since, .. }) => *since,
        Some(RemoteCall::Pending { .. } | RemoteCall::Sent { .. }) | None => times.now,
    }
}

/// Whether a call that did not leave may have happened all the same: it had left before.
fn may_have_been_executed(leg: Option<&RemoteCall>) -> bool {
    leg.is_some_and(RemoteCall::is_resend)
}

/// Why a booking failed. `sold_out` says what the supplier has no more of.
fn booking_failure(refusal: &Refusal, sold_out: &str) -> Failure {
    let description = match &refusal.reason {
        RefusalReason::Unavailable => sold_out,
        RefusalReason::Expired => "The supplier no longer accepts the offer.",
        RefusalReason::PriceChanged(_) => "The supplier asks another price.",
        RefusalReason::TermsChanged => "The supplier's terms changed.",
        RefusalReason::PaymentRequired | RefusalReason::PaymentDeclined => {
            "The supplier could not take the payment."
        }
        RefusalReason::Invalid => "The supplier does not accept the data.",
        RefusalReason::Duplicate => "The supplier already has this booking.",
        RefusalReason::NotCancellable | RefusalReason::Account | RefusalReason::Other(_) => {
            "The supplier refused the booking."
        }
    };
    Failure::new("book_failed", description)
}
