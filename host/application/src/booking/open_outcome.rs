//! Open outcomes, which are calls with an unknown outcome and undecided refunds: the evidence, and what
//! each decision does.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::consequence::{Consequence, consequence};
use crate::booking::engine::DECIDE_REFUND_STEP;
use crate::booking::resolution::{
    CallSelector, Resolution, ResolveError, decidable_state, select_call,
};
use crate::booking::unresolved_call::UnresolvedCall;
use host_domain::booking::{Booking, BookingStep};
use host_domain::console::{AnyBooking, TenantScope, UnresolvedFilter};
use host_domain::id::BookingId;
use host_domain::page::CursorRequest;
use host_domain::payment::PaymentOperation;
use host_domain::remote_call::RemoteCall;
use host_domain::request_log::{LoggedCall, LoggedCallKind};
use host_domain::settlement::SettlementChoice;
use host_domain::time::Timestamp;
use host_storage::{Attempt, CallOfAttempt, DatabaseError, SettlementDecision, UnresolvedAttempt};

/// Maximum number of logged calls among which those of an attempt are searched.
const LOGGED_CALLS_MAX: u32 = 50;
/// Maximum number of open outcomes of a booking. A booking has a few payments and cancellations.
const CALLS_OF_BOOKING_MAX: u32 = 100;

/// Stands for a reference that the operator has not entered yet.
const ANY_REFERENCE: &str = "-";

/// A call with an unknown outcome, or an undecided refund.
#[derive(Debug, Clone)]
pub struct OpenOutcome {
    pub attempt: Attempt,
    /// The response to the call itself, in one sentence. The attempt has the latest evidence.
    pub first_evidence: Option<String>,
    pub booking: AnyBooking,
    /// The supplier's or processor's id of the booking or payment, if the gateway has it.
    pub known_reference: Option<String>,
    /// State that a decision is about. A decision about an earlier state has no effect.
    pub seen_state: String,
    /// Number of lookups at the other side, all without an answer that decides.
    pub lookups: u32,
    /// Time of the next lookup. `None` if only an operator can decide.
    pub next_lookup_at: Option<Timestamp>,
    /// The decisions to choose from. Empty if the booking has moved on.
    pub choices: Vec<OpenChoice>,
    /// The decision that waits for the end of a lookup.
    pub waiting: Option<SettlementDecision>,
}

impl OpenOutcome {
    /// Returns whether an operator may decide now.
    pub fn is_decidable(&self) -> bool {
        self.waiting.is_none() && !self.choices.is_empty()
    }
}

/// The request that was sent to the other side, as the log of calls has it.
#[derive(Debug, Clone)]
pub struct SentCall {
    /// The call of the plugin.
    pub call: LoggedCall,
    /// The HTTP requests that the plugin made, in the order in which they began.
    pub exchanges: Vec<LoggedCall>,
    /// Id of the API call that caused it. `None` if background work did.
    pub request_id: Option<String>,
}

/// An open outcome with what was sent, if the log still has it.
#[derive(Debug, Clone)]
pub struct OutcomeEvidence {
    pub outcome: OpenOutcome,
    pub sent_call: Option<SentCall>,
}

/// A decision that fits a call.
#[derive(Debug, Clone)]
pub struct OpenChoice {
    pub choice: SettlementChoice,
    /// Whether the operator must enter the other side's reference.
    pub needs_reference: bool,
    /// `None` if it depends on the amount of the refund.
    pub consequence: Option<Consequence>,
}

/// Reads open outcomes.
pub struct OpenOutcomeReader {
    pub(crate) base: Base,
}

impl OpenOutcomeReader {
    /// Returns the open outcomes of a booking of any organization, oldest first. `None` if there is
    /// no such booking.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_unscoped(
        &self,
        booking: &BookingId,
    ) -> Result<Option<Vec<OutcomeEvidence>>, DatabaseError> {
        let store = &self.base.store;
        let Some(found) = store.booking_of_either_kind_unscoped(booking).await? else {
            return Ok(None);
        };
        let tenant = &found.owner().tenant;
        let scope = TenantScope {
            organizations: Some(vec![tenant.organization.clone()]),
            mode: tenant.mode,
        };
        let filter = UnresolvedFilter {
            booking: Some(booking.clone()),
            ..UnresolvedFilter::default()
        };
        let page = CursorRequest {
            after: None,
            limit: CALLS_OF_BOOKING_MAX,
        };
        let open = store.unresolved_page(&scope, &filter, self.base.now(), &page);
        let mut outcomes = Vec::new();
        for row in open.await?.items {
            let outcome = self.open_outcome(row);
            let sent_call = self.sent_call(&outcome).await?;
            outcomes.push(OutcomeEvidence { outcome, sent_call });
        }
        Ok(Some(outcomes))
    }

    /// Returns what was sent for an outcome, as long as the log has it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sent_call(
        &self,
        outcome: &OpenOutcome,
    ) -> Result<Option<SentCall>, DatabaseError> {
        let attempt = &outcome.attempt;
        // The decision about a refund is no call.
        if attempt.call.step == DECIDE_REFUND_STEP {
            return Ok(None);
        }
        let store = &self.base.store;
        let found = store.calls_since_attempt(attempt, LOGGED_CALLS_MAX).await?;
        let mut plugins = found
            .iter()
            .filter(|found| found.call.kind == LoggedCallKind::Plugin);
        let Some(CallOfAttempt { call, has_request }) = plugins.next().cloned() else {
            return Ok(None);
        };
        let next = plugins.next().map(|next| next.call.started_at);
        let is_part = |other: &&LoggedCall| {
            other.kind == LoggedCallKind::Http
                && other.request_id == call.request_id
                && next.is_none_or(|next| other.started_at < next)
        };
        let calls = found.iter().map(|found| &found.call);
        Ok(Some(SentCall {
            request_id: has_request.then(|| call.request_id.clone()),
            exchanges: calls.filter(is_part).cloned().collect(),
            call,
        }))
    }

    /// Returns a call with what an operator needs to decide about it.
    pub(crate) fn open_outcome(&self, row: UnresolvedAttempt) -> OpenOutcome {
        let facts = match &row.booking {
            AnyBooking::Hotel(hotel) => self.facts(hotel, &row.attempt),
            AnyBooking::Flight(flight) => self.facts(flight, &row.attempt),
        };
        OpenOutcome {
            attempt: row.attempt,
            first_evidence: row.first_evidence,
            booking: row.booking,
            known_reference: facts.known_reference,
            seen_state: facts.seen_state,
            lookups: facts.lookups,
            next_lookup_at: facts.next_lookup_at,
            choices: facts.choices,
            waiting: row.waiting,
        }
    }

    fn facts<K: BookingAggregate>(&self, booking: &Booking<K>, attempt: &Attempt) -> CallFacts {
        if !attempt.outcome.is_unresolved() {
            return CallFacts::default();
        }
        if attempt.call.step == DECIDE_REFUND_STEP {
            return CallFacts {
                seen_state: decidable_state(booking),
                choices: vec![OpenChoice {
                    choice: SettlementChoice::Refund,
                    needs_reference: false,
                    consequence: None,
                }],
                ..CallFacts::default()
            };
        }
        let selector = CallSelector::Attempt(&attempt.call.id);
        let selected = select_call(booking, selector, |key| {
            key.matches(attempt).then_some(attempt)
        });
        // The record may be older than the state of the booking.
        let Ok(Some(call)) = selected else {
            return CallFacts::default();
        };
        let (lookups, next_lookup_at) = remote_call(&call, booking).map_or_else(
            || {
                (
                    0,
                    booking.absence_recheck().and_then(|absence| absence.due_at),
                )
            },
            lookups,
        );
        CallFacts {
            seen_state: decidable_state(booking),
            known_reference: call.known_reference(booking),
            lookups,
            next_lookup_at,
            choices: self.choices(booking, attempt),
        }
    }

    /// Returns the decisions that fit a call, with what each does.
    fn choices<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        attempt: &Attempt,
    ) -> Vec<OpenChoice> {
        let preview = |resolution| consequence(&self.base, booking, attempt, resolution);
        let done = |reference| preview(Resolution::Done { reference });
        let (needs_reference, done) = match done(None) {
            Err(ResolveError::ReferenceRequired) => (true, done(Some(ANY_REFERENCE.to_owned()))),
            result => (false, result),
        };
        let not_done = preview(Resolution::NotDone);
        let choice = |choice, needs_reference, consequence: Result<Consequence, ResolveError>| {
            Some(OpenChoice {
                choice,
                needs_reference,
                consequence: Some(consequence.ok()?),
            })
        };
        let done = choice(SettlementChoice::Done, needs_reference, done);
        let not_done = choice(SettlementChoice::NotDone, false, not_done);
        done.into_iter().chain(not_done).collect()
    }
}

#[derive(Default)]
struct CallFacts {
    seen_state: String,
    known_reference: Option<String>,
    lookups: u32,
    next_lookup_at: Option<Timestamp>,
    choices: Vec<OpenChoice>,
}

/// Returns a call as its booking has it. An orphan has none.
fn remote_call<'a, K: BookingAggregate>(
    call: &UnresolvedCall<'_, K::Step>,
    booking: &'a Booking<K>,
) -> Option<&'a RemoteCall> {
    match call {
        UnresolvedCall::Supplier(BookingStep::RecheckAbsence) => None,
        UnresolvedCall::Supplier(BookingStep::Kind(_)) => {
            K::unresolved_kind_call(booking).map(|(_, call)| call)
        }
        UnresolvedCall::Supplier(_) => booking.active_call(),
        UnresolvedCall::Processor(payment, PaymentOperation::Refund(id)) => {
            let payment = booking.payment(&payment.id)?;
            let refund = payment.refunds.iter().find(|refund| refund.id == *id)?;
            refund.call.as_ref()
        }
        UnresolvedCall::Processor(payment, _) => booking.payment(&payment.id)?.state.call(),
    }
}

/// Returns the number of lookups of a call and the time of the next one.
fn lookups(call: &RemoteCall) -> (u32, Option<Timestamp>) {
    match call {
        RemoteCall::Pending { .. } => (0, None),
        RemoteCall::Sent {
            response_lost_at,
            reconcile_count,
            reconcile_at,
            ..
        } => {
            // The end of the call without a response counts too.
            let ended = u32::from(response_lost_at.is_some());
            (reconcile_count.saturating_sub(ended), Some(*reconcile_at))
        }
        RemoteCall::Accepted {
            reconcile_count,
            reconcile_at,
            ..
        } => (*reconcile_count, Some(*reconcile_at)),
    }
}
