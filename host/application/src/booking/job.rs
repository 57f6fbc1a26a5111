//! Resumes the workflow of a booking: after a crash, an unknown outcome, an accepted cancellation,
//! an expired offer, a due capture or refund, or a change that the supplier reported.

use crate::application::Application;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::execution::{ExecutionContext, WorkflowError};
use host_domain::id::BookingId;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of the calls of one run; shorter than the lease.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

pub async fn run<B: BookingAggregate>(
    app: &Application,
    subject: &str,
    token: &str,
) -> Result<(), WorkflowError> {
    let Ok(id) = BookingId::parse(subject) else {
        tracing::error!(subject, "a booking job has a subject that is no booking id");
        return Ok(());
    };
    let Some(booking) = B::load(&app.store, &id).await? else {
        tracing::error!(subject, "a booking job names a booking that does not exist");
        return Ok(());
    };
    let execution = ExecutionContext {
        lease_token: token.to_owned(),
        request_id: format!("job_{:032x}", app.ids.generate()),
        deadline: Instant::now() + RUN_TIMEOUT,
        instrument: None,
    };
    match app.resume(booking, &execution).await {
        // Another process holds the lease, so nothing is left to do here.
        Err(WorkflowError::LeaseLost(_)) => Ok(()),
        ended => ended.map(|_| ()),
    }
}
