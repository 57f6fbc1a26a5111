//! Interprets the responses of suppliers and processors: each becomes an event of a booking. The
//! code is pure, so the whole mapping can be read and tested here.

mod absence;
mod lifecycle;
pub mod payment;
pub mod purchase;

#[cfg(test)]
pub(super) mod tests;

use absence::{
    AbsenceMeaning, NextLookup, REFUSED_EVIDENCE, RESENT_EVIDENCE, classify_absence,
    classify_booking_absence, missing_lookup_of_accepted,
};
use host_domain::booking::Failure;
use host_domain::supplier::RefusalReason;
pub use lifecycle::{
    absence_recheck, book_lookup, book_response, cancel_lookup, cancel_response, refresh_response,
};
pub use payment::{
    authorize_response, capture_response, payment_lookup, refund_lookup, refund_response,
    void_response,
};

use crate::id_generator::IdGenerator;
use host_domain::remote_call::{AbsenceEvidence, BackoffSchedule, RemoteCall, ResendRefusal};
use host_domain::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call succeeded: the response is final, or the other side accepted the request.
    Succeeded,
    /// The other side definitely refused.
    Refused,
    NotSent,
    Unknown,
}

impl CallOutcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "done",
            Self::Refused => "refused",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Interpretation<E> {
    pub event: E,
    pub outcome: CallOutcome,
    /// One sentence for operators, without personal data.
    pub evidence: String,
    /// The other side's id, if it returned one.
    pub reference: Option<String>,
}

/// The current time and the schedules that retry and reconcile times are derived from.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleContext<'a> {
    pub now: Timestamp,
    /// Time at which the request was made whose response is interpreted now.
    pub requested_at: Timestamp,
    pub reconcile: &'a BackoffSchedule,
    pub call_retry: &'a BackoffSchedule,
    /// Times after a failure by absence at which the booking is looked up again.
    pub absence_recheck: &'a BackoffSchedule,
    /// Milliseconds for which the reads of a supplier that declares no consistent reads may be
    /// outdated.
    pub undeclared_reads_ms: i64,
}

/// Inputs of the interpretation of a supplier's response, besides the booking.
#[derive(Clone, Copy)]
pub struct InterpretContext<'a> {
    pub schedules: ScheduleContext<'a>,
    pub guarantees: SupplierGuarantees,
    /// Generates the ids of cancellations and refunds that the response causes.
    pub ids: &'a dyn IdGenerator,
}

impl ScheduleContext<'_> {
    fn next_reconcile_at(&self, call: Option<&RemoteCall>) -> Timestamp {
        let since = match call {
            Some(
                RemoteCall::Sent { sent_at: since, .. }
                | RemoteCall::Accepted {
                    accepted_at: since, ..
                },
            ) => *since,
            Some(RemoteCall::Pending { .. }) | None => self.now,
        };
        self.reconcile.next_after(since, self.now)
    }

    /// Returns the next lookup after the refusal of a resend. An earlier sending may have been
    /// executed, so the refusal is only the first evidence that none was.
    fn lookup_after_refusal(
        &self,
        call: Option<&RemoteCall>,
        refusal: ResendRefusal,
    ) -> NextLookup {
        NextLookup {
            next_at: self.next_reconcile_at(call),
            absence: Some(AbsenceEvidence::from_refusal(self.now, refusal)),
        }
    }

    fn next_retry_at(&self, call: Option<&RemoteCall>) -> Timestamp {
        self.call_retry
            .retry_at(call.map_or(0, RemoteCall::failed_attempts), self.now)
    }
}

impl<E> Interpretation<E> {
    fn new(event: E, outcome: CallOutcome, evidence: impl Into<String>) -> Self {
        Self {
            event,
            outcome,
            evidence: evidence.into(),
            reference: None,
        }
    }

    pub(super) fn succeeded(event: E, evidence: impl Into<String>) -> Self {
        Self::new(event, CallOutcome::Succeeded, evidence)
    }

    fn refused(event: E, evidence: impl Into<String>) -> Self {
        Self::new(event, CallOutcome::Refused, evidence)
    }

    fn not_sent(event: E, evidence: impl Into<String>) -> Self {
        Self::new(event, CallOutcome::NotSent, evidence)
    }

    pub(super) fn unknown(event: E, evidence: impl Into<String>) -> Self {
        Self::new(event, CallOutcome::Unknown, evidence)
    }

    pub fn map<F>(self, event: impl FnOnce(E) -> F) -> Interpretation<F> {
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

/// The guarantees that an adapter declares for its supplier or processor, and the time limit of its
/// calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SupplierGuarantees {
    /// Milliseconds after which reads show the effect of a call. With `None`, not finding something
    /// never proves that it does not exist.
    pub reads_consistent_after_ms: Option<u32>,
    /// Maximum duration of one call in milliseconds, `limits.call_ms_max` of the configuration.
    pub call_ms_max: u64,
    /// Whether a call that is resent under its reference returns the first call's result.
    pub supports_idempotent_resend: bool,
}

/// Returns whether a call that was not sent now was sent before and may have been executed then.
fn may_have_been_executed(call: Option<&RemoteCall>) -> bool {
    call.is_some_and(RemoteCall::is_resend)
}

/// Returns the reason why a booking failed that its supplier does not have: the refusal of a resend,
/// if there was one. `sold_out` describes what the supplier has no more of.
pub fn absent_booking_failure(call: Option<&RemoteCall>, sold_out: &str) -> Failure {
    match call.and_then(RemoteCall::supplier_refusal) {
        Some(reason) => booking_failure(reason, sold_out),
        None => Failure::new("book_failed", "The supplier has no such booking."),
    }
}

/// Returns the reason why a booking failed. `sold_out` describes what the supplier has no more of.
fn booking_failure(reason: &RefusalReason, sold_out: &str) -> Failure {
    let description = match reason {
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
