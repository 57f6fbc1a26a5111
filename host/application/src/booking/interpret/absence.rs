//! Interprets lookups that found nothing: what they prove about the call that is looked up.

use crate::booking::interpret::{InterpretContext, ScheduleContext, SupplierGuarantees};
use host_domain::booking::PaymentCollector;
use host_domain::remote_call::{AbsenceEvidence, RemoteCall};
use host_domain::supplier::RefusalReason;
use host_domain::time::Timestamp;

/// The meaning of a lookup that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AbsenceMeaning {
    NeverExecuted,
    /// The call may have been executed, and resending the same call does no harm.
    SafeToResend(NextLookup),
    Inconclusive(NextLookup),
}

/// The next lookup of a call whose outcome is still unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NextLookup {
    pub(super) next_at: Timestamp,
    /// The response just read, if it counts as the first evidence of absence.
    pub(super) absence: Option<AbsenceEvidence>,
}

impl From<Timestamp> for NextLookup {
    fn from(next_at: Timestamp) -> Self {
        Self {
            next_at,
            absence: None,
        }
    }
}

impl NextLookup {
    pub(super) const fn evidence(&self) -> &'static str {
        match self.absence {
            Some(_) => "reconciled: not found; another lookup has to confirm it",
            None => "reconciled: not found, but the supplier may still show it later",
        }
    }
}

pub(super) const RESENT_EVIDENCE: &str = "reconciled: not found; the same call is sent again";
pub(super) const REFUSED_EVIDENCE: &str =
    "reconciled: not found, which confirms the refusal of the resend";

/// Time in milliseconds during which a call may be resent under its reference. It is well within
/// the time for which suppliers and processors remember a reference.
const RESEND_WINDOW_MS: i64 = 60 * 60 * 1000;

/// Decides what a lookup that found nothing proves. It proves that a call was never executed under
/// three conditions. The adapter declares that its supplier's reads are consistent. A lookup found
/// nothing after the longest time that the call may take: the gateway may give a call up long before
/// the supplier is done with it. A second lookup, apart from the first one, found nothing either.
///
/// The refusal of a resend replaces the first lookup and the declaration of consistent reads: the
/// supplier answers a resend with the outcome of the call.
pub(super) fn classify_absence(
    call: Option<&RemoteCall>,
    guarantees: SupplierGuarantees,
    schedules: ScheduleContext<'_>,
) -> AbsenceMeaning {
    let first_sent_at = call.and_then(RemoteCall::unresolved_since);
    let (Some(call), Some(first_sent_at)) = (call, first_sent_at) else {
        return AbsenceMeaning::Inconclusive(schedules.next_reconcile_at(call).into());
    };
    let Some(next) = missing_lookup(call, guarantees, schedules) else {
        return AbsenceMeaning::NeverExecuted;
    };
    let age_ms = schedules.now.since(first_sent_at);
    let is_recent = age_ms < RESEND_WINDOW_MS;
    if guarantees.supports_idempotent_resend && is_recent && call.absence_evidence().is_none() {
        AbsenceMeaning::SafeToResend(next)
    } else {
        AbsenceMeaning::Inconclusive(next)
    }
}

/// Decides what a lookup that found no booking proves. If the payer pays at the supplier's own
/// checkout, a missing booking proves nothing: the call is resent, or an operator decides. The
/// exception is a booking whose resend the supplier refused because the checkout is not completed.
pub(super) fn classify_booking_absence(
    collector: PaymentCollector,
    call: Option<&RemoteCall>,
    context: &InterpretContext<'_>,
) -> AbsenceMeaning {
    let mut guarantees = context.guarantees;
    let refusal = call.and_then(RemoteCall::supplier_refusal);
    let is_unpaid = refusal == Some(&RefusalReason::PaymentRequired);
    if collector == PaymentCollector::Gateway || is_unpaid {
        return classify_absence(call, guarantees, context.schedules);
    }
    guarantees.reads_consistent_after_ms = None;
    match classify_absence(call, guarantees, context.schedules) {
        AbsenceMeaning::NeverExecuted => {
            AbsenceMeaning::Inconclusive(context.schedules.next_reconcile_at(call).into())
        }
        meaning @ (AbsenceMeaning::SafeToResend(_) | AbsenceMeaning::Inconclusive(_)) => meaning,
    }
}

/// Returns the lookup that is still missing from the proof, or `None` if the lookup just made
/// completes it.
fn missing_lookup(
    call: &RemoteCall,
    guarantees: SupplierGuarantees,
    schedules: ScheduleContext<'_>,
) -> Option<NextLookup> {
    let scheduled_at = schedules.next_reconcile_at(Some(call));
    let call_ms_max = i64::try_from(guarantees.call_ms_max).unwrap_or(i64::MAX);
    let absent_since = call.absence_evidence().map(|evidence| evidence.observed_at);
    let delay_ms = guarantees.reads_consistent_after_ms;
    let delay_ms = delay_ms.or(absent_since.map(|_| 0));
    let Some((delay_ms, ended_by)) = delay_ms.zip(call.ended_by(call_ms_max)) else {
        return Some(scheduled_at.into());
    };
    let delay_ms = i64::from(delay_ms);
    // The supplier may work on the call for as long as a call may last, and show the result later.
    let visible_at = ended_by.plus_ms(call_ms_max).plus_ms(delay_ms);
    second_lookup(call, visible_at, delay_ms, schedules)
}

/// Returns the lookup that is still missing before an accepted call counts as refused, because the
/// supplier does not show its effect. `None` if the lookup just made is the last one. A single lookup
/// may be outdated, and a wrong refusal tells the client that the booking stands. A supplier that
/// declares nothing may show outdated data for long.
pub(super) fn missing_lookup_of_accepted(
    call: &RemoteCall,
    accepted_at: Timestamp,
    context: &InterpretContext<'_>,
) -> Option<NextLookup> {
    let declared_ms = context.guarantees.reads_consistent_after_ms.map(i64::from);
    let delay_ms = declared_ms.unwrap_or(context.schedules.undeclared_reads_ms);
    let visible_at = accepted_at.plus_ms(delay_ms);
    second_lookup(call, visible_at, delay_ms, context.schedules)
}

/// Returns the next lookup of a call whose effect was not shown, or `None` if the lookup just made
/// confirms an earlier one. Lookups count from `visible_at` on. A second one within the delay could meet
/// the same outdated copy of the supplier's data.
fn second_lookup(
    call: &RemoteCall,
    visible_at: Timestamp,
    delay_ms: i64,
    schedules: ScheduleContext<'_>,
) -> Option<NextLookup> {
    let second_at = |first: Timestamp| {
        let first_delay = schedules.reconcile.next_after(first, first);
        first_delay.max(first.plus_ms(delay_ms)).max(visible_at)
    };
    let requested_at = schedules.requested_at;
    let absent_since = call.absence_evidence().map(|evidence| evidence.observed_at);
    let (absence, earliest_at) = match absent_since {
        Some(first) if requested_at >= second_at(first) => return None,
        Some(first) => (None, second_at(first)),
        None if requested_at >= visible_at => {
            let evidence = AbsenceEvidence::from_lookup(requested_at);
            (Some(evidence), second_at(requested_at))
        }
        None => (None, visible_at),
    };
    let scheduled_at = schedules.next_reconcile_at(Some(call));
    Some(NextLookup {
        next_at: scheduled_at.min(earliest_at),
        absence,
    })
}
