//! Completing a booking: take the caller's choice of payment, store the
//! intent, walk the steps, and tell what came of it.

use crate::app::Application;
use crate::flow::bookable::{BookingAggregate, BookingPhase};
use crate::flow::step::WorkflowError;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::instrument::InstrumentError;
use crate::seal::SealError;
use futures::FutureExt;
use host_domain::booking::{Expiry, PaymentCollector};
use host_domain::flight;
use host_domain::hotel;
use host_domain::id::{BookingId, InstrumentId, PaymentId};
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{DeclineReason, Instrument, PaymentMethod, Payment, PaymentState};
use host_storage::UnitOfWork;
use std::sync::Arc;
use tokio::time::Instant;

/// A caller's wish to complete.
#[derive(Debug, Clone)]
pub(crate) struct CompleteBookingCommand {
    pub(crate) owner: Owner,
    pub(crate) booking: BookingId,
    /// None: the browser or the supplier has taken the payment.
    pub(crate) instrument: Option<InstrumentId>,
    /// To be taken for what comes of it; none: there is none, or it is taken.
    pub(crate) key: Option<IdempotentRequest>,
    /// Whether the same request was made before: then a card that was declined is not tried
    /// again, and what was booked is told of also once it is given back. None: nobody has
    /// asked yet, which is not done before it matters.
    pub(crate) is_repeat: Option<bool>,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

impl CompleteBookingCommand {
    /// How its instrument was declined so far.
    fn declines_of_instrument<B: BookingAggregate>(&self, booking: &B) -> Vec<DeclineReason> {
        let by_it = |payment: &&Payment| match &payment.method {
            PaymentMethod::Instrument { id } => self.instrument.as_ref() == Some(id),
            PaymentMethod::Sdk | PaymentMethod::Supplier => false,
        };
        let tried = booking.payments().iter().filter(by_it);
        tried.filter_map(|payment| payment.decline_reason).collect()
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum CompletionOutcome<B> {
    /// Booked, now or before.
    Confirmed(Box<B>),
    /// Booked before, and given back since, or being so.
    CanceledMeanwhile(Box<B>),
    /// The supplier accepted, and decides later.
    InProgress(Box<B>),
    /// The payment was declined or is not completed; another may be tried.
    PaymentFailed {
        booking: Box<B>,
        requires_action: bool,
    },
    /// Nothing was sent; the same may be tried again.
    NotSent(Box<B>),
    /// The supplier said no.
    Rejected(Box<B>),
    /// Nobody knows yet.
    Unknown(Box<B>),
}

/// Why it was not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteBookingError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the payment instrument is not good")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be opened")]
    InstrumentUnreadable(#[source] SealError),
    #[error("this booking is paid with a stored instrument")]
    InstrumentMissing,
    #[error("this booking is not paid with a stored instrument")]
    InstrumentNotAllowed,
    #[error(transparent)]
    Idempotency(IdempotencyError),
}

impl<E: Into<WorkflowError>> From<E> for CompleteBookingError {
    fn from(error: E) -> Self {
        Self::Workflow(error.into())
    }
}

impl CompleteBookingError {
    fn after_send(self) -> Self {
        match self {
            Self::Workflow(error) => Self::Workflow(error.after_send()),
            other => other,
        }
    }
}

impl Application {
    /// Completes a booking, once, however often and by however many it is asked.
    pub(crate) async fn complete_hotel(
        self: &Arc<Self>,
        wish: CompleteBookingCommand,
    ) -> Result<CompletionOutcome<hotel::Booking>, CompleteBookingError> {
        self.complete(wish).await
    }

    /// The same of flights.
    pub(crate) async fn complete_flight(
        self: &Arc<Self>,
        wish: CompleteBookingCommand,
    ) -> Result<CompletionOutcome<flight::Booking>, CompleteBookingError> {
        self.complete(wish).await
    }

    async fn complete<B: BookingAggregate>(
        self: &Arc<Self>,
        mut wish: CompleteBookingCommand,
    ) -> Result<CompletionOutcome<B>, CompleteBookingError> {
        let ended = self.start_or_wait(&mut wish).await;
        match &ended {
            Ok(_) | Err(CompleteBookingError::Workflow(_) | CompleteBookingError::Idempotency(_)) => {}
            // That the key stands for another request is told before why this one fails.
            Err(_) => self.resolve_idempotency(&mut wish).await?,
        }
        let completion = ended?;
        // What another call made of it is what this key stands for from now on.
        if let Some(key) = &wish.key
            && completion.is_final()
        {
            let used = self.claim(key, wish.booking.as_str()).await;
            used.map_err(CompleteBookingError::Idempotency)?;
        }
        Ok(completion)
    }

    /// Leaves no key in the wish when it took it.
    async fn start_or_wait<B: BookingAggregate>(
        self: &Arc<Self>,
        wish: &mut CompleteBookingCommand,
    ) -> Result<CompletionOutcome<B>, CompleteBookingError> {
        let mut declines_known = None;
        loop {
            let booking = self.find_booking::<B>(wish).await?;
            let is_untouched =
                matches!(booking.phase(), BookingPhase::ReadyToComplete) && booking.payments().is_empty();
            if !is_untouched {
                self.resolve_idempotency(wish).await?;
            }
            let repeated = wish.is_repeat == Some(true);
            let declines = wish.declines_of_instrument(&booking);
            // Of this card, since it was asked, or before where it was asked before.
            let known = *declines_known.get_or_insert(match repeated {
                true => 0,
                false => declines.len(),
            });
            match booking.phase() {
                BookingPhase::ReadyToComplete if declines.len() > known => {
                    return Ok(CompletionOutcome::PaymentFailed {
                        requires_action: declines.last() == Some(&DeclineReason::RequiresAction),
                        booking: Box::new(booking),
                    });
                }
                BookingPhase::ReadyToComplete => {
                    if let Some(completion) = self.start_completion(booking, wish).await? {
                        return Ok(completion);
                    }
                    // It may have been taken by the same request: this one repeats it then.
                    wish.is_repeat = None;
                    self.resolve_idempotency(wish).await?;
                    if wish.is_repeat == Some(true) {
                        declines_known = None;
                    }
                }
                BookingPhase::Completing(_) => {
                    if !self.is_lease_held(B::JOB_KIND, booking.id()).await? {
                        // Whoever worked on it may have ended since it was read.
                        let left = self.find_booking::<B>(wish).await?;
                        if left.version() == booking.version() {
                            return Ok(CompletionOutcome::from_booking(left));
                        }
                        continue;
                    }
                }
                BookingPhase::Prebooking | BookingPhase::Expired | BookingPhase::Failed { was_bound: false } => {
                    return Err(CompleteBookingError::InvalidState(booking.status_str()));
                }
                BookingPhase::Failed { was_bound: true } => {
                    return Ok(CompletionOutcome::Rejected(Box::new(booking)));
                }
                BookingPhase::Confirmed => return Ok(CompletionOutcome::Confirmed(Box::new(booking))),
                BookingPhase::Canceling if repeated => {
                    return Ok(CompletionOutcome::Confirmed(Box::new(booking)));
                }
                BookingPhase::Canceling => return Ok(CompletionOutcome::CanceledMeanwhile(Box::new(booking))),
            }
            // Somebody else is at it: their outcome is the caller's outcome.
            if !self.wait_for_next_poll(wish.deadline).await {
                let booking = self.find_booking(wish).await?;
                return Ok(CompletionOutcome::at_deadline(booking));
            }
        }
    }

    /// Leaves no key in the wish of a request that was made before.
    async fn resolve_idempotency(&self, wish: &mut CompleteBookingCommand) -> Result<(), CompleteBookingError> {
        if wish.is_repeat.is_none() {
            let made = self.find_result(wish.key.as_ref()).await;
            let repeated = made.map_err(CompleteBookingError::Idempotency)?.is_some();
            wish.key.take_if(|_| repeated);
            wish.is_repeat = Some(repeated);
        }
        Ok(())
    }

    async fn find_booking<B: BookingAggregate>(&self, wish: &CompleteBookingCommand) -> Result<B, CompleteBookingError> {
        let found = B::find_owned(&self.store, &wish.owner, &wish.booking).await?;
        found.ok_or(CompleteBookingError::NotFound)
    }

    /// Stores the intent, with the key, and walks; none when somebody else moved the
    /// booking first, or took the key.
    async fn start_completion<B: BookingAggregate>(
        self: &Arc<Self>,
        booking: B,
        wish: &mut CompleteBookingCommand,
    ) -> Result<Option<CompletionOutcome<B>>, CompleteBookingError> {
        let mut walker = self.execution_context(&wish.request_id, wish.deadline);
        let expired = booking.expires_at() <= self.clock.now();
        let event = if expired {
            B::expired_event(Expiry::Offer)
        } else {
            walker.instrument = self.instrument_for(&booking, wish).await?;
            let hold = |instrument| self.new_authorization(booking.total(), instrument);
            B::book_started_event(walker.instrument.as_ref().map(hold))
        };
        let take_key = |write: &mut UnitOfWork| {
            if !expired {
                claim_in(write, wish.key.as_ref(), wish.booking.as_str());
            }
        };
        let Some((booking, then)) = self.start(booking, event, &walker, take_key).await? else {
            return Ok(None);
        };
        wish.key = None;
        let app = Arc::clone(self);
        let run = async move { app.run_steps(booking, then, &walker).await };
        let walk = self.run_to_completion(run.boxed());
        let Ok(walked) = tokio::time::timeout_at(wish.deadline, walk).await else {
            // The walk goes on; the caller's time is over.
            let read = self.find_booking(wish).await;
            let booking = read.map_err(CompleteBookingError::after_send)?;
            return Ok(Some(CompletionOutcome::at_deadline(booking)));
        };
        let booking = walked??;
        if expired {
            Err(CompleteBookingError::InvalidState(booking.status_str()))
        } else {
            Ok(Some(CompletionOutcome::from_booking(booking)))
        }
    }

    /// What is to pay; none: it is, or will be, paid without one.
    async fn instrument_for<B: BookingAggregate>(
        &self,
        booking: &B,
        wish: &CompleteBookingCommand,
    ) -> Result<Option<Instrument>, CompleteBookingError> {
        let by_instrument =
            booking.payment_collector() == PaymentCollector::Gateway && !booking.uses_payment_sdk();
        let id = match (&wish.instrument, by_instrument) {
            (Some(id), true) => id,
            (None, false) => return Ok(None),
            (None, true) => return Err(CompleteBookingError::InstrumentMissing),
            (Some(_), false) => return Err(CompleteBookingError::InstrumentNotAllowed),
        };
        let opened = self.open_instrument(&wish.owner, id).await;
        match opened.map_err(|error| match error {
            InstrumentError::Database(error) => error.into(),
            InstrumentError::Seal(error) => CompleteBookingError::InstrumentUnreadable(error),
        })? {
            Some(instrument) => Ok(Some(instrument)),
            None => Err(CompleteBookingError::InstrumentInvalid),
        }
    }

    /// A hold to ask for with a stored instrument.
    pub(crate) fn new_authorization(&self, amount: Money, instrument: &Instrument) -> Payment {
        Payment::new_authorization(
            PaymentId::from_bits(self.ids.generate()),
            amount,
            instrument.processor.clone(),
            instrument,
            self.clock.now(),
        )
    }
}

impl<B> CompletionOutcome<B> {
    /// The booking, whatever came of it.
    pub(crate) fn into_booking(self) -> Box<B> {
        match self {
            Self::Confirmed(booking)
            | Self::CanceledMeanwhile(booking)
            | Self::InProgress(booking)
            | Self::PaymentFailed { booking, .. }
            | Self::NotSent(booking)
            | Self::Rejected(booking)
            | Self::Unknown(booking) => booking,
        }
    }

    /// Whether a repeat of the call is to be told of it, and not to try again.
    pub(crate) const fn is_final(&self) -> bool {
        match self {
            Self::Confirmed(_)
            | Self::InProgress(_)
            | Self::PaymentFailed { .. }
            | Self::Rejected(_)
            | Self::Unknown(_) => true,
            Self::CanceledMeanwhile(_) | Self::NotSent(_) => false,
        }
    }
}

impl<B: BookingAggregate> CompletionOutcome<B> {
    /// What a booking says that nobody is working on.
    fn from_booking(booking: B) -> Self {
        let booking = Box::new(booking);
        match booking.phase() {
            BookingPhase::Completing(RemoteCall::Accepted { .. }) => Self::InProgress(booking),
            BookingPhase::Completing(_) => Self::Unknown(booking),
            BookingPhase::ReadyToComplete => Self::from_payment(booking),
            BookingPhase::Failed { .. } | BookingPhase::Expired | BookingPhase::Prebooking => Self::Rejected(booking),
            BookingPhase::Confirmed | BookingPhase::Canceling => Self::Confirmed(booking),
        }
    }

    /// What a booking says whose walk goes on after the caller's time: what was
    /// sent and not answered by now is unknown, what was not is still to come.
    fn at_deadline(booking: B) -> Self {
        match booking.phase() {
            BookingPhase::Completing(RemoteCall::Pending { .. }) => Self::InProgress(Box::new(booking)),
            _ => Self::from_booking(booking),
        }
    }

    fn from_payment(booking: Box<B>) -> Self {
        let last = booking.payments().last();
        let decline = last.and_then(|payment| payment.decline_reason);
        let browser = last.is_some_and(|payment| payment.state == PaymentState::RequiresAction);
        let requires_action = browser || decline == Some(DeclineReason::RequiresAction);
        let supplier_takes_it = booking.payment_collector() == PaymentCollector::Supplier;
        if requires_action || decline.is_some() || supplier_takes_it {
            Self::PaymentFailed {
                booking,
                requires_action,
            }
        } else {
            Self::NotSent(booking)
        }
    }
}
