//! What an operator decides about an outcome that nobody could find out. The
//! operator asked the supplier by other means; the gateway believes, writes it
//! down as such, and goes on from there.

use crate::app::App;
use crate::flow::bookable::Bookable;
use crate::flow::judge::{Judgement, Outcome};
use crate::flow::step::FlowError;
use crate::flow::walk::{DECIDE_REFUND, Told};
use futures::FutureExt;
use host_domain::id::BookingId;
use host_domain::leg::Leg;
use host_domain::money::Money;
use host_domain::{flight, hotel};
use host_storage::{CommitError, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the calls that follow a decision may take.
const FOLLOW_UP: Duration = Duration::from_secs(30);

/// What the supplier says that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was done, under this reference.
    Done {
        /// The supplier's id of the booking; needed for a booking that has none yet.
        supplier_reference: Option<String>,
    },
    /// It was not done, and will not be.
    NotDone,
    /// A cancellation that is done gives this much back, which nobody could tell.
    Refund(Money),
}

/// Why it is not settled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettleError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("nothing about a booking that is {0} is unknown")]
    NothingUnknown(&'static str),
    #[error("the gateway is reading it back at this moment")]
    Busy,
    #[error("the supplier's reference of the booking is needed")]
    ReferenceNeeded,
    #[error("this is no part of what was paid")]
    RefundUnfit,
}

impl<E: Into<FlowError>> From<E> for SettleError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl App {
    /// Settles the unknown outcome of a call about a booking; its status afterwards.
    pub(crate) async fn settle(
        self: &Arc<Self>,
        id: &BookingId,
        verdict: Verdict,
        request_id: &str,
    ) -> Result<&'static str, SettleError> {
        if let Some(booking) = hotel::Booking::load(&self.store, id).await? {
            return self.settle_booking(booking, verdict, request_id).await;
        }
        if let Some(booking) = flight::Booking::load(&self.store, id).await? {
            return self.settle_booking(booking, verdict, request_id).await;
        }
        Err(SettleError::NotFound)
    }

    async fn settle_booking<B: Bookable>(
        self: &Arc<Self>,
        booking: B,
        verdict: Verdict,
        request_id: &str,
    ) -> Result<&'static str, SettleError> {
        let (step, judgement) = self.settlement(&booking, verdict)?;
        let walker = self.walker(request_id, Instant::now() + FOLLOW_UP);
        let mut claim = Write::new(self.clock.now());
        claim.insert_claimed_job(
            B::JOB,
            booking.id().as_str(),
            &walker.lease_token,
            self.lease_ms(),
        );
        match self.store.commit(claim).await {
            Ok(()) => {}
            Err(CommitError::Conflict(_)) => return Err(SettleError::Busy),
            Err(CommitError::Database(error)) => return Err(error.into()),
        }
        let app = Arc::clone(self);
        let run = async move {
            let told = Told {
                step,
                attempt: app.open_attempt(&booking, step).await?,
                judgement,
            };
            app.drive_on(booking, told, &walker).await
        };
        let settled: B = self.run_to_end(run.boxed()).await??;
        Ok(settled.status_name())
    }

    fn settlement<B: Bookable>(
        &self,
        booking: &B,
        verdict: Verdict,
    ) -> Result<(&'static str, Judgement<B::Event>), SettleError> {
        let nothing = || SettleError::NothingUnknown(booking.status_name());
        let open = booking.open_call();
        let open = open.filter(|(_, leg)| !matches!(leg, Leg::Due { .. }));
        let open = open.map(|(step, _)| step);
        let (step, event, outcome, reference) = match verdict {
            Verdict::Done { supplier_reference } => {
                let step = open.ok_or_else(nothing)?;
                let known = booking.supplier_reference().map(str::to_owned);
                let reference = supplier_reference.or(known);
                let reference = reference.ok_or(SettleError::ReferenceNeeded)?;
                let event = booking.settled(step, Some(&reference), &*self.ids);
                (step, event, Outcome::Done, Some(reference))
            }
            Verdict::NotDone => {
                let step = open.ok_or_else(nothing)?;
                let event = booking.settled(step, None, &*self.ids);
                (step, event, Outcome::Refused, None)
            }
            Verdict::Refund(refund) => {
                let event = booking.held_refund().ok_or_else(nothing)?(refund);
                let moved = booking.clone().apply(event.clone(), self.clock.now());
                moved.map_err(|_| SettleError::RefundUnfit)?;
                (DECIDE_REFUND, event, Outcome::Done, None)
            }
        };
        let judgement = Judgement {
            event,
            outcome,
            evidence: "settled by an operator".to_owned(),
            reference,
        };
        Ok((step, judgement))
    }
}
