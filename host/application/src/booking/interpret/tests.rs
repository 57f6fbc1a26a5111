//! Helpers that the tests of all interpretations share.

use super::{ScheduleContext, SupplierGuarantees};
use host_domain::money::{Currency, Money};
use host_domain::remote_call::{BackoffSchedule, RemoteCall};
use host_domain::supplier::{Refusal, RefusalReason};
use host_domain::time::Timestamp;

pub(super) const NOW: Timestamp = Timestamp(10_000);

pub(super) fn schedules() -> (BackoffSchedule, BackoffSchedule) {
    (
        BackoffSchedule::new(vec![5, 15]),
        BackoffSchedule::new(vec![30]),
    )
}

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn sent(since: i64) -> RemoteCall {
    RemoteCall::pending(Timestamp(since)).mark_sent(Timestamp(since), Timestamp(since + 5000))
}

/// A call that was sent and ended without a response.
pub(super) fn lost(since: i64, at: i64) -> RemoteCall {
    sent(since).mark_unresolved(Timestamp(at), Timestamp(at + 5000))
}

/// A call that was resent as the same call.
pub(super) fn repeated(first: i64, again: i64) -> RemoteCall {
    let leg = sent(first).schedule_resend(Timestamp(again));
    leg.mark_sent(Timestamp(again), Timestamp(again + 5000))
}

pub(super) fn pending(since: i64) -> RemoteCall {
    sent(since).mark_accepted(Timestamp(since), Timestamp(since + 5000))
}

pub(super) fn refusal(reason: RefusalReason) -> Refusal {
    Refusal {
        reason,
        supplier_code: None,
        message: "no".into(),
    }
}

pub(super) fn judge<T>(with: impl FnOnce(ScheduleContext<'_>) -> T) -> T {
    let (reconcile, capture_retry) = schedules();
    with(ScheduleContext {
        now: NOW,
        requested_at: NOW,
        reconcile: &reconcile,
        capture_retry: &capture_retry,
    })
}

/// Guarantees of a supplier whose reads are consistent after this delay, or never.
pub(super) fn consistent(after_ms: Option<u32>) -> SupplierGuarantees {
    SupplierGuarantees {
        reads_consistent_after_ms: after_ms,
        supports_idempotent_retry: false,
    }
}

/// Guarantees of a supplier that returns the first result for a resent reference.
pub(super) const REPEATABLE: SupplierGuarantees = SupplierGuarantees {
    reads_consistent_after_ms: None,
    supports_idempotent_retry: true,
};
