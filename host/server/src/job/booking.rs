//! Goes on with a booking: after a crash, an unknown outcome, an accepted
//! cancellation, an offer that runs out, money to take or to give back, a hint
//! from the supplier.

use crate::app::Application;
use crate::flow::bookable::BookingAggregate;
use crate::flow::step::{WorkflowError, ExecutionContext};
use host_domain::id::BookingId;
use std::time::Duration;
use tokio::time::Instant;

/// How long the calls of one run may take; shorter than the lease.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

pub(crate) async fn run<B: BookingAggregate>(
    app: &Application,
    subject: &str,
    token: &str,
) -> Result<(), WorkflowError> {
    let Ok(id) = BookingId::parse(subject) else {
        tracing::error!(subject, "work for something that is no booking");
        return Ok(());
    };
    let Some(booking) = B::load(&app.store, &id).await? else {
        tracing::error!(subject, "work for a booking that is not there");
        return Ok(());
    };
    let walker = ExecutionContext {
        lease_token: token.to_owned(),
        request_id: format!("job_{:032x}", app.ids.generate()),
        deadline: Instant::now() + RUN_TIMEOUT,
        instrument: None,
    };
    match app.resume(booking, &walker).await {
        // Somebody else has it; nothing is left to do here.
        Err(WorkflowError::LeaseLost(_)) => Ok(()),
        ended => ended.map(|_| ()),
    }
}
