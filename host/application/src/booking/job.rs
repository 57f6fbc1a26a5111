//! Resumes the workflow of a booking: after a crash, an unknown outcome, an accepted cancellation,
//! an expired offer, a due capture or refund, or a change that the supplier reported.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::WorkflowEngine;
use crate::booking::execution::{ExecutionContext, RunFindings, WorkflowError};
use crate::jobs::worker::{JobError, JobHandler};
use futures::FutureExt;
use futures::future::BoxFuture;
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
            tracing::error!(subject, "a booking job has a subject that is no booking id");
            return Ok(());
        };
        let Some(booking) = self.base.store.booking_unscoped::<K>(&id).await? else {
            tracing::error!(subject, "a booking job names a booking that does not exist");
            return Ok(());
        };
        let execution = ExecutionContext {
            lease_token: lease_token.to_owned(),
            request_id: format!("job_{:032x}", self.base.ids.generate()),
            deadline: Instant::now() + RUN_TIMEOUT,
            instrument: None,
            findings: RunFindings::default(),
        };
        match self.engine.resume(booking, &execution).await {
            // Another process holds the lease, so nothing is left to do here.
            Err(WorkflowError::LeaseLost(_)) => Ok(()),
            result => result.map(|_| ()),
        }
    }
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
