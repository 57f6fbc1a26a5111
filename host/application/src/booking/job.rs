//! Resumes the workflow of a booking: after a crash, an unknown outcome, an accepted cancellation,
//! an expired offer, a due capture or refund, or a change that the supplier reported.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::{StepOutcome, WorkflowEngine};
use crate::booking::execution::{ExecutionContext, RunFindings, WorkflowError};
use crate::booking::interpret::Interpretation;
use crate::booking::prebook::STEP_NAME as PREBOOK_STEP;
use crate::jobs::worker::{JobError, JobHandler};
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::{Booking, BookingEvent, BookingPhase, PaymentCollector};
use host_domain::id::BookingId;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of the calls of one run; shorter than the lease.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

/// Handler of the jobs that resume bookings of one kind.
pub struct BookingJob<K> {
    base: Base,
    engine: Arc<WorkflowEngine>,
    kind: PhantomData<fn() -> K>,
}

impl<K: BookingAggregate> BookingJob<K> {
    pub const fn new(base: Base, engine: Arc<WorkflowEngine>) -> Self {
        Self {
            base,
            engine,
            kind: PhantomData,
        }
    }

    async fn resume(&self, subject: &str, lease_token: &str) -> Result<(), WorkflowError> {
        let Ok(id) = BookingId::parse(subject) else {
            tracing::error!(
                subject,
                "a booking job has a subject that is no booking id, so it can resume no booking; \
                 the gateway writes no such job: find out who changed the table of jobs, and delete it"
            );
            return Ok(());
        };
        let Some(booking) = self.base.store.booking_unscoped::<K>(&id).await? else {
            tracing::error!(
                subject,
                "a booking job names a booking that does not exist, so it can resume none; \
                 bookings are never deleted with an open job: restore the booking from a backup"
            );
            return Ok(());
        };
        let execution = ExecutionContext {
            lease_token: lease_token.to_owned(),
            request_id: format!("job_{:032x}", self.base.ids.generate()),
            deadline: Instant::now() + RUN_TIMEOUT,
            instrument: None,
            findings: RunFindings::default(),
        };
        let resumed = match is_abandoned_prebook(&booking) {
            true => {
                let outcome = StepOutcome {
                    step: PREBOOK_STEP,
                    attempt: None,
                    interpretation: Interpretation::unknown(
                        BookingEvent::PrebookTimedOut,
                        "the process that prebooked has ended without a result",
                    ),
                };
                let ended = self
                    .engine
                    .resume_with_outcome(booking, outcome, &execution);
                ended.await
            }
            false => self.engine.resume(booking, &execution).await,
        };
        match resumed {
            // Another process holds the lease, so nothing is left to do here.
            Err(WorkflowError::LeaseLost(_)) => Ok(()),
            result => result.map(|_| ()),
        }
    }
}

/// Returns whether a booking is left over by a prebook that nobody executes. A worker gets its job
/// once the lease of the prebook has expired. A checkout at the supplier may be paid, so such a
/// booking waits for its timer.
fn is_abandoned_prebook<K: BookingAggregate>(booking: &Booking<K>) -> bool {
    matches!(booking.phase(), BookingPhase::Prebooking)
        && booking.payment_collector == PaymentCollector::Gateway
}

impl<K: BookingAggregate> JobHandler for BookingJob<K> {
    fn kind(&self) -> &'static str {
        K::JOB_KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move { Ok(self.resume(subject, lease_token).await?) }.boxed()
    }
}
