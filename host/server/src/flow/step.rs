//! One step: store the intent, act, store the outcome. Every store is one
//! transaction with the booking, its history, what subscribers are told and
//! the lease of the work.

use crate::app::App;
use crate::flow::failpoint::{self, Phase};
use crate::flow::judge::Judgement;
use crate::render;
use host_domain::hotel::booking::{Booking, Conflict, Event, Moved};
use host_domain::id::{AttemptId, BookingId, EventId};
use host_domain::supplier::SupplierId;
use host_storage::{
    AttemptOutcome, BookingEvent, CommitError, DatabaseError, NewAttempt, OutboxEvent, Product,
    Write,
};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// The kind of background work that drives hotel bookings.
pub(crate) const HOTEL_BOOKING_JOB: &str = "hotel_booking";

/// How often an outcome is stored again against a booking that moved meanwhile.
const CONFLICT_RETRIES_MAX: usize = 8;

/// Who walks the steps, and on whose behalf.
#[derive(Debug, Clone)]
pub(crate) struct Walker {
    /// The claim on the booking's work; lost when another process took it.
    pub(crate) lease_token: String,
    /// The request that caused it, or the worker's own id.
    pub(crate) request_id: String,
    /// Until when calls may take.
    pub(crate) deadline: Instant,
}

/// Why a flow stopped before its end. What is stored stays true: the worker goes on from there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlowError {
    /// The database.
    #[error("the state of the booking could not be stored or read")]
    Database(#[from] DatabaseError),
    /// Somebody else walks the steps of this booking now.
    #[error("the lease on booking {0} is lost")]
    LeaseLost(BookingId),
    /// The event does not fit; somebody else moved the booking.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// A booking, or a part of one, that was there is gone.
    #[error("booking {0} or a part of it is gone")]
    Gone(BookingId),
    /// The booking kept moving under the flow.
    #[error("booking {0} moves too fast to be stored")]
    Contended(BookingId),
    /// The walk ended without a word.
    #[error("the walk was stopped")]
    Stopped,
}

/// An outward call about to be made.
pub(crate) struct Attempt<'a> {
    /// The step's name.
    pub(crate) step: &'static str,
    /// Supplier or processor.
    pub(crate) target: &'a SupplierId,
    /// Our reference there.
    pub(crate) client_reference: String,
    /// Digest of what is asked for.
    pub(crate) request_digest: String,
}

/// What was asked for, as evidence: it holds names, so only its digest is kept.
pub(crate) fn request_digest(request: &impl std::fmt::Debug) -> String {
    hex::encode(Sha256::digest(format!("{request:?}")))
}

impl App {
    /// Stores a move of a booking that needs no outward call.
    pub(crate) async fn move_booking(
        &self,
        booking: Booking,
        step: &str,
        event: Event,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        self.reach(step, Phase::Chosen);
        let moved = self
            .store_move(booking, &event, None, walker, |_| {})
            .await?;
        self.reach(step, Phase::Recorded);
        Ok(moved)
    }

    /// Stores the intent of an outward call: the booking's mark and the attempt.
    pub(crate) async fn mark(
        &self,
        booking: Booking,
        mark: Event,
        attempt: Attempt<'_>,
        walker: &Walker,
    ) -> Result<(Booking, AttemptId), FlowError> {
        self.reach(attempt.step, Phase::Chosen);
        let id = AttemptId::from_bits(self.ids.bits());
        let row = NewAttempt {
            id: id.clone(),
            booking_id: booking.id.clone(),
            operation: attempt.step.to_owned(),
            target: attempt.target.clone(),
            client_reference: attempt.client_reference,
            plugin_digest: self
                .runtime
                .supplier(attempt.target)
                .map_or_else(String::new, |supplier| supplier.info().digest.clone()),
            request_digest: attempt.request_digest,
        };
        let tenant = booking.owner.tenant.clone();
        let send = |write: &mut Write| {
            write.send_attempt(&tenant, &row);
        };
        let booking = self.store_move(booking, &mark, None, walker, send).await?;
        self.reach(attempt.step, Phase::Marked);
        Ok((booking, id))
    }

    /// Stores the outcome of an outward call. Of a read-back, the attempt that
    /// it settles is looked up by the step that made it.
    pub(crate) async fn record(
        &self,
        booking: Booking,
        step: &'static str,
        attempt: Option<AttemptId>,
        judgement: Judgement,
        walker: &Walker,
    ) -> Result<Booking, FlowError> {
        self.reach(step, Phase::Answered);
        let Judgement {
            event,
            outcome,
            evidence,
            reference,
        } = judgement;
        let tenant = booking.owner.tenant.clone();
        tracing::info!(booking = %booking.id, step, outcome = outcome.as_str(), evidence, request_id = walker.request_id, "step");
        let finish = |write: &mut Write| {
            if let Some(id) = &attempt {
                write.finish_attempt(
                    &tenant,
                    id,
                    outcome.into(),
                    reference.as_deref(),
                    Some(&evidence),
                );
            }
        };
        let stored = self
            .store_move(booking, &event, Some(&evidence), walker, finish)
            .await?;
        self.reach(step, Phase::Recorded);
        Ok(stored)
    }

    /// The call of a step whose outcome is not known, if there is one.
    pub(crate) async fn open_attempt(
        &self,
        booking: &Booking,
        step: &str,
    ) -> Result<Option<AttemptId>, FlowError> {
        let attempts = self
            .store
            .attempts(&booking.owner.tenant, &booking.id)
            .await?;
        let open = attempts.into_iter().rev().find(|attempt| {
            attempt.call.operation == step
                && matches!(
                    attempt.outcome,
                    AttemptOutcome::Sent | AttemptOutcome::Unknown
                )
        });
        Ok(open.map(|attempt| attempt.call.id))
    }

    /// Applies and stores an event; when the booking moved meanwhile, applies
    /// it to what the booking has become.
    async fn store_move(
        &self,
        mut booking: Booking,
        event: &Event,
        why: Option<&str>,
        walker: &Walker,
        more: impl Fn(&mut Write),
    ) -> Result<Booking, FlowError> {
        let id = booking.id.clone();
        for _ in 0..CONFLICT_RETRIES_MAX {
            let moved = booking.apply(event.clone(), self.clock.now())?;
            let mut write = self.write_of(&moved, why, &walker.request_id);
            write.keep_job_lease(
                HOTEL_BOOKING_JOB,
                id.as_str(),
                &walker.lease_token,
                self.lease_ms(),
            );
            more(&mut write);
            match self.store.commit(write).await {
                Ok(()) => return Ok(moved.booking),
                Err(CommitError::Conflict(host_storage::Conflict::LeaseLost)) => {
                    return Err(FlowError::LeaseLost(id));
                }
                Err(CommitError::Conflict(conflict)) => {
                    tracing::debug!(booking = %id, %conflict, "the booking moved meanwhile");
                    booking = self
                        .store
                        .load_hotel_booking(&id)
                        .await?
                        .ok_or_else(|| FlowError::Gone(id.clone()))?;
                }
                Err(CommitError::Database(error)) => return Err(error.into()),
            }
        }
        Err(FlowError::Contended(id))
    }

    /// The rows that every move of a booking writes.
    pub(crate) fn write_of(&self, moved: &Moved, why: Option<&str>, request_id: &str) -> Write {
        let booking = &moved.booking;
        let tenant = &booking.owner.tenant;
        let mut write = Write::new(booking.updated_at);
        write.update_hotel_booking(booking).record_booking_event(
            tenant,
            &BookingEvent {
                booking_id: booking.id.clone(),
                sequence: booking.version,
                event: moved.event.to_owned(),
                from: Some(moved.from.as_str().to_owned()),
                to: booking.status().as_str().to_owned(),
                why: why.map(str::to_owned),
                request_id: Some(request_id.to_owned()),
                at: booking.updated_at,
            },
        );
        for notice in &moved.publish {
            let id = EventId::from_bits(self.ids.bits());
            let payload = render::event_payload(&id, notice, booking);
            write.publish(
                tenant,
                &OutboxEvent {
                    id,
                    event_type: notice.event_type.as_str().to_owned(),
                    product: Product::Hotel,
                    booking_id: Some(booking.id.clone()),
                    payload,
                    created_at: booking.updated_at,
                },
            );
        }
        write
    }

    fn reach(&self, step: &str, phase: Phase) {
        failpoint::reach(&self.config.jobs.abort_at, step, phase);
    }
}

impl From<crate::flow::judge::Outcome> for AttemptOutcome {
    fn from(outcome: crate::flow::judge::Outcome) -> Self {
        use crate::flow::judge::Outcome;
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Refused => Self::Refused,
            Outcome::NotSent => Self::NotSent,
            Outcome::Unknown => Self::Unknown,
        }
    }
}
