//! What an operator decides about an outcome that nobody could find out. The
//! operator asked the supplier by other means; the gateway believes, writes it
//! down as such, and goes on from there.

use crate::app::App;
use crate::flow::judge::{Judgement, Outcome};
use crate::flow::step::{FlowError, HOTEL_BOOKING_JOB};
use futures::FutureExt;
use host_domain::hotel::booking::{Booking, Event, Failure, State, Status};
use host_domain::hotel::supply::BookingState;
use host_domain::id::{BookingId, RefundId};
use host_domain::leg::Leg;
use host_domain::supplier::BookingStatus;
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
}

/// Why it is not settled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettleError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("nothing about a booking that is {} is unknown", .0.as_str())]
    NothingUnknown(Status),
    #[error("the gateway is reading it back at this moment")]
    Busy,
    #[error("the supplier's reference of the booking is needed")]
    ReferenceNeeded,
}

impl<E: Into<FlowError>> From<E> for SettleError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl App {
    /// Settles the unknown outcome of a booking or a cancellation.
    pub(crate) async fn settle_hotel(
        self: &Arc<Self>,
        id: &BookingId,
        verdict: Verdict,
        request_id: &str,
    ) -> Result<Booking, SettleError> {
        let booking = self
            .store
            .load_hotel_booking(id)
            .await?
            .ok_or(SettleError::NotFound)?;
        let (step, judgement) = self.settlement(&booking, verdict)?;
        let walker = self.walker(request_id, Instant::now() + FOLLOW_UP);
        let mut claim = Write::new(self.clock.now());
        claim.insert_claimed_job(
            HOTEL_BOOKING_JOB,
            id.as_str(),
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
            let attempt = app.open_attempt(&booking, step).await?;
            let booking = app
                .record(booking, step, attempt, judgement, &walker)
                .await?;
            app.drive_hotel(booking, &walker).await
        };
        Ok(self.run_to_end(run.boxed()).await??)
    }

    fn settlement(
        &self,
        booking: &Booking,
        verdict: Verdict,
    ) -> Result<(&'static str, Judgement), SettleError> {
        let (step, leg) = match &booking.state {
            State::CompleteInProgress { book } => ("book", book),
            State::CancelInProgress { cancel, .. } => ("cancel", cancel),
            _ => return Err(SettleError::NothingUnknown(booking.status())),
        };
        if matches!(leg, Leg::Due { .. }) {
            return Err(SettleError::NothingUnknown(booking.status()));
        }
        let (event, outcome, reference) = match verdict {
            Verdict::Done { supplier_reference } => {
                let known = supplier_reference.or_else(|| booking.supplier_reference.clone());
                let reference = known.ok_or(SettleError::ReferenceNeeded)?;
                (
                    self.done(booking, step, &reference),
                    Outcome::Done,
                    Some(reference),
                )
            }
            Verdict::NotDone => (not_done(step), Outcome::Refused, None),
        };
        let evidence = "settled by an operator".to_owned();
        Ok((
            step,
            Judgement {
                event,
                outcome,
                evidence,
                reference,
            },
        ))
    }

    fn done(&self, booking: &Booking, step: &str, reference: &str) -> Event {
        if step == "book" {
            return Event::BookConfirmed(Box::new(believed(
                booking,
                reference,
                BookingStatus::Confirmed,
            )));
        }
        let state = Box::new(believed(booking, reference, BookingStatus::Canceled));
        Event::CancelDone {
            state,
            refund: RefundId::from_bits(self.ids.bits()),
        }
    }
}

fn not_done(step: &str) -> Event {
    if step == "book" {
        return Event::BookRefused(failure("book_failed", "The supplier has no such booking."));
    }
    Event::CancelRefused(failure(
        "cancel_refused",
        "The supplier refused the cancellation.",
    ))
}

fn failure(code: &str, description: &str) -> Failure {
    Failure {
        code: code.to_owned(),
        description: description.to_owned(),
    }
}

/// The booking as the operator says that the supplier has it.
fn believed(booking: &Booking, supplier_reference: &str, status: BookingStatus) -> BookingState {
    BookingState {
        status,
        supplier_reference: supplier_reference.to_owned(),
        client_reference: Some(booking.id.to_string()),
        total: booking.total,
        hotel_confirmation_code: booking.hotel_confirmation_code.clone(),
        remarks: booking.hotel_remarks.clone(),
        rooms: Vec::new(),
        policy: booking.policy.clone(),
        cancellation: None,
    }
}
