//! Completes a booking: takes the caller's payment choice, commits the intent, executes the steps,
//! and returns the outcome.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::WorkflowEngine;
use crate::booking::execution::{NotSentCause, RunFindings, WorkflowError};
use crate::booking::lease::wait_for_next_poll;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::payment_instrument::{InstrumentError, PaymentInstrumentService};
use crate::sealer::SealError;
use host_domain::booking::{Booking, BookingEvent, BookingPhase, PaymentCollector};
use host_domain::id::{BookingId, InstrumentId, PaymentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::payment::{DeclineReason, Instrument, Payment, PaymentMethod, PaymentState};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_storage::UnitOfWork;
use std::sync::Arc;
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct CompleteBookingCommand {
    pub owner: Owner,
    pub booking: BookingId,
    /// The stored instrument to pay with. `None` if browser or supplier collected the payment.
    pub instrument: Option<InstrumentId>,
    /// The key to claim for the outcome. `None` if there is none or it is already claimed.
    pub key: Option<IdempotentRequest>,
    /// Whether the same request was made before. For a repeat, an instrument that was declined is
    /// not tried again, and a completed booking is returned as confirmed even if it was cancelled
    /// since. `None` means not looked up yet; this is done only when it matters.
    pub is_repeat: Option<bool>,
    pub request_id: String,
    pub deadline: Instant,
}

impl CompleteBookingCommand {
    /// Returns how the request's instrument was declined so far.
    fn declines_of_instrument<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
    ) -> Vec<DeclineReason> {
        let by_it = |payment: &&Payment| match &payment.method {
            PaymentMethod::Instrument { id } => self.instrument.as_ref() == Some(id),
            PaymentMethod::Sdk | PaymentMethod::Supplier => false,
        };
        let tried = booking.payments.iter().filter(by_it);
        tried.filter_map(|payment| payment.decline_reason).collect()
    }
}

#[derive(Debug)]
pub enum CompletionOutcome<K: BookingAggregate> {
    /// The booking is confirmed, now or before.
    Confirmed(Box<Booking<K>>),
    /// The booking was confirmed before, and is cancelled or being cancelled since.
    CanceledMeanwhile(Box<Booking<K>>),
    /// The supplier accepted the request and decides later.
    InProgress(Box<Booking<K>>),
    /// The payment was declined or is not completed; another instrument may be tried.
    PaymentFailed {
        booking: Box<Booking<K>>,
        requires_action: bool,
    },
    /// The supplier was not called; the same request may be tried again.
    NotSent {
        booking: Box<Booking<K>>,
        cause: NotSentCause,
    },
    Rejected(Box<Booking<K>>),
    Unknown(Box<Booking<K>>),
}

#[derive(Debug, thiserror::Error)]
pub enum CompleteBookingError {
    #[error(transparent)]
    Workflow(WorkflowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    InvalidState(&'static str),
    #[error("the payment instrument does not exist or cannot be used")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be decrypted")]
    InstrumentUnreadable(#[source] SealError),
    #[error("this booking is paid with a stored instrument, and the request names none")]
    InstrumentMissing,
    #[error("this booking is not paid with a stored instrument, but the request names one")]
    InstrumentNotAllowed,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
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

pub struct CompletionService {
    pub(crate) base: Base,
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) instruments: Arc<PaymentInstrumentService>,
}

impl CompletionService {
    /// Completes a booking. It is booked only once, however many requests there are. The key is
    /// claimed with the first step and released if the request had no effect.
    pub async fn complete<K: BookingAggregate>(
        &self,
        mut command: CompleteBookingCommand,
    ) -> Result<CompletionOutcome<K>, CompleteBookingError> {
        let key = command.key.clone();
        let outcome = self.complete_under_key(&mut command).await?;
        if let Some(key) = &key
            && !outcome.is_final()
        {
            self.base.release_idempotency_key(key).await;
        }
        Ok(outcome)
    }

    async fn complete_under_key<K: BookingAggregate>(
        &self,
        command: &mut CompleteBookingCommand,
    ) -> Result<CompletionOutcome<K>, CompleteBookingError> {
        let result = self.start_or_wait(command).await;
        match &result {
            Ok(_)
            | Err(CompleteBookingError::Workflow(_) | CompleteBookingError::Idempotency(_)) => {}
            // A key that was used for another request is reported before the reason why this
            // request fails.
            Err(_) => self.resolve_idempotency(command).await?,
        }
        let outcome = result?;
        // The key then stands for the outcome that another call produced.
        if let Some(key) = &command.key
            && outcome.is_final()
        {
            let id = command.booking.as_str();
            self.base.claim_idempotency_key(key, id).await?;
        }
        Ok(outcome)
    }

    /// Starts the completion or waits for the current one. Removes the key once it is claimed.
    async fn start_or_wait<K: BookingAggregate>(
        &self,
        command: &mut CompleteBookingCommand,
    ) -> Result<CompletionOutcome<K>, CompleteBookingError> {
        let mut declines_known = None;
        // Whether another worker completes the booking while this request waits. Its outcome is also
        // the outcome of this request.
        let mut has_waited = false;
        loop {
            let booking = self.find_booking_to_complete::<K>(command).await?;
            let is_untouched = matches!(booking.phase(), BookingPhase::ReadyToComplete)
                && booking.payments.is_empty();
            if !is_untouched {
                self.resolve_idempotency(command).await?;
            }
            let is_repeat = command.is_repeat == Some(true);
            let declines = command.declines_of_instrument(&booking);
            // Number of declines of this instrument that do not count: those before this request,
            // or none if the request is a repeat.
            let known = *declines_known.get_or_insert(match is_repeat {
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
                    if let Some(outcome) = self.start_completion(booking, command).await? {
                        return Ok(outcome);
                    }
                    // The same request may have taken the booking. In that case this one is a
                    // repeat.
                    command.is_repeat = None;
                    self.resolve_idempotency(command).await?;
                    if command.is_repeat == Some(true) {
                        declines_known = None;
                    }
                }
                BookingPhase::Completing(_) => {
                    let leases = self.engine.leases();
                    if !leases.is_held(K::JOB_KIND, &booking.id).await? {
                        // The worker may have finished since the booking was read.
                        let current = self.find_booking_to_complete::<K>(command).await?;
                        if current.version == booking.version {
                            let findings = RunFindings::default();
                            return Ok(CompletionOutcome::from_booking(current, &findings));
                        }
                        continue;
                    }
                }
                BookingPhase::Prebooking
                | BookingPhase::Expired
                | BookingPhase::Failed { .. }
                | BookingPhase::Confirmed
                | BookingPhase::Canceling => {
                    return completed_outcome(booking, is_repeat || has_waited);
                }
            }
            has_waited = true;
            if !wait_for_next_poll(command.deadline).await {
                let booking = self.find_booking_to_complete(command).await?;
                let findings = RunFindings::default();
                return Ok(CompletionOutcome::at_deadline(booking, &findings));
            }
        }
    }

    /// Looks up whether the request was made before. Removes the key of a repeated request.
    async fn resolve_idempotency(
        &self,
        command: &mut CompleteBookingCommand,
    ) -> Result<(), CompleteBookingError> {
        if command.is_repeat.is_none() {
            let key = command.key.as_ref();
            let is_repeat = self.base.find_idempotent_result(key).await?.is_some();
            command.key.take_if(|_| is_repeat);
            command.is_repeat = Some(is_repeat);
        }
        Ok(())
    }

    async fn find_booking_to_complete<K: BookingAggregate>(
        &self,
        command: &CompleteBookingCommand,
    ) -> Result<Booking<K>, CompleteBookingError> {
        let store = &self.base.store;
        let found = store.booking(&command.owner, &command.booking).await?;
        found.ok_or(CompleteBookingError::NotFound)
    }

    /// Commits intent and key and executes the steps. Returns `None` if another process was faster.
    async fn start_completion<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        command: &mut CompleteBookingCommand,
    ) -> Result<Option<CompletionOutcome<K>>, CompleteBookingError> {
        let engine = &self.engine;
        let mut execution = engine.execution_context(&command.request_id, command.deadline);
        let is_expired = booking.offer_expires_at <= self.base.now();
        let event = if is_expired {
            BookingEvent::OfferExpired
        } else {
            execution.instrument = self.instrument_for(&booking, command).await?;
            let (price, instrument) = (booking.details.booked_price(), &execution.instrument);
            let (id, now) = (booking.next_payment_id(), self.base.now());
            let to_payment = |instrument| new_authorization(id, price, instrument, now);
            BookingEvent::BookStarted {
                payment: instrument.as_ref().map(to_payment),
            }
        };
        let claim_key = |write: &mut UnitOfWork| {
            if !is_expired {
                claim_in(write, command.key.as_ref(), command.booking.as_str());
            }
        };
        let started = engine.start(booking, event, &execution, claim_key);
        let Some((booking, next)) = started.await? else {
            return Ok(None);
        };
        command.key = None;
        let findings = execution.findings.clone();
        let run = engine.run_steps_to_completion(booking, next, execution);
        let Ok(result) = tokio::time::timeout_at(command.deadline, run).await else {
            // The workflow continues after the caller's deadline.
            let read = self.find_booking_to_complete(command).await;
            let booking = read.map_err(CompleteBookingError::after_send)?;
            return Ok(Some(CompletionOutcome::at_deadline(booking, &findings)));
        };
        let booking = result?;
        if is_expired {
            Err(invalid_state(&booking))
        } else {
            Ok(Some(CompletionOutcome::from_booking(booking, &findings)))
        }
    }

    /// Ends a booking that waits to be paid for as expired, so that nobody can pay for it any more.
    /// `write` is stored in the same transaction. Returns `false` and stores nothing if another
    /// process changed the booking or works on it. Then executes the steps that follow. If one
    /// fails, the booking's own job resumes them.
    ///
    /// # Errors
    /// Fails if the booking does not wait to be paid for, or the database does not answer.
    pub async fn expire_offer<K: BookingAggregate>(
        &self,
        booking: Booking<K>,
        write: UnitOfWork,
        request_id: &str,
        deadline: Instant,
    ) -> Result<bool, WorkflowError> {
        let execution = self.engine.execution_context(request_id, deadline);
        let expired = BookingEvent::OfferExpired;
        let append = |all: &mut UnitOfWork| {
            all.append(write);
        };
        let started = self.engine.start(booking, expired, &execution, append);
        let Some((booking, next)) = started.await? else {
            return Ok(false);
        };
        let id = booking.id.clone();
        let run = self
            .engine
            .run_steps_to_completion(booking, next, execution);
        if let Err(error) = run.await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(booking = %id, error, "a step of an expired booking failed; the booking's job resumes it");
        }
        Ok(true)
    }

    /// Returns the instrument to pay with. `None` if the booking is paid without a stored one.
    async fn instrument_for<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        command: &CompleteBookingCommand,
    ) -> Result<Option<Instrument>, CompleteBookingError> {
        let by_instrument =
            booking.payment_collector == PaymentCollector::Gateway && !booking.use_payment_sdk;
        let id = match (&command.instrument, by_instrument) {
            (Some(id), true) => id,
            (None, false) => return Ok(None),
            (None, true) => return Err(CompleteBookingError::InstrumentMissing),
            (Some(_), false) => return Err(CompleteBookingError::InstrumentNotAllowed),
        };
        let opened = self.instruments.open(&command.owner, id).await;
        let opened = opened.map_err(|error| match error {
            InstrumentError::Database(error) => error.into(),
            InstrumentError::Seal(error) => CompleteBookingError::InstrumentUnreadable(error),
        })?;
        let instrument = opened.ok_or(CompleteBookingError::InstrumentInvalid)?;
        Ok(Some(instrument))
    }
}

pub fn new_authorization(
    id: PaymentId,
    amount: Money,
    instrument: &Instrument,
    now: Timestamp,
) -> Payment {
    let processor = instrument.processor.clone();
    Payment::new_authorization(id, amount, processor, instrument, now)
}

fn invalid_state<K: BookingAggregate>(booking: &Booking<K>) -> CompleteBookingError {
    CompleteBookingError::InvalidState(booking.status().as_str())
}

impl<K: BookingAggregate> CompletionOutcome<K> {
    pub fn into_booking(self) -> Box<Booking<K>> {
        match self {
            Self::Confirmed(booking)
            | Self::CanceledMeanwhile(booking)
            | Self::InProgress(booking)
            | Self::PaymentFailed { booking, .. }
            | Self::NotSent { booking, .. }
            | Self::Rejected(booking)
            | Self::Unknown(booking) => booking,
        }
    }

    /// Returns the supplier or processor whose call decided the outcome of a booking that is not
    /// completed: the processor if the last payment is not authorized.
    pub fn decided_by(booking: &Booking<K>) -> &SupplierId {
        let Some(payment) = booking.payments.last() else {
            return &booking.supplier;
        };
        match payment.state {
            PaymentState::RequiresAction | PaymentState::Authorizing(_) | PaymentState::Failed => {
                &payment.processor
            }
            PaymentState::Authorized
            | PaymentState::Capturing(_)
            | PaymentState::Captured
            | PaymentState::Voiding(_)
            | PaymentState::Voided => &booking.supplier,
        }
    }

    /// Returns whether the outcome is final, so that a repeat of the request is not tried again.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::CanceledMeanwhile(_) | Self::NotSent { .. })
    }
}

/// Returns the outcome for a booking that cannot be completed any more.
///
/// # Errors
/// [`CompleteBookingError::InvalidState`] if it was never ready to be completed, or expired.
fn completed_outcome<K: BookingAggregate>(
    booking: Booking<K>,
    is_repeat: bool,
) -> Result<CompletionOutcome<K>, CompleteBookingError> {
    let booking = Box::new(booking);
    match booking.phase() {
        BookingPhase::Failed {
            was_prebooked: true,
        } => Ok(CompletionOutcome::Rejected(booking)),
        BookingPhase::Canceling if !is_repeat => Ok(CompletionOutcome::CanceledMeanwhile(booking)),
        BookingPhase::Confirmed | BookingPhase::Canceling => {
            Ok(CompletionOutcome::Confirmed(booking))
        }
        BookingPhase::Prebooking
        | BookingPhase::ReadyToComplete
        | BookingPhase::Completing(_)
        | BookingPhase::Failed { .. }
        | BookingPhase::Expired => Err(invalid_state(&booking)),
    }
}

impl<K: BookingAggregate> CompletionOutcome<K> {
    /// Derives the outcome from a booking whose workflow is not being executed, and from what its
    /// last run found out. The findings of another process's run are not known.
    fn from_booking(booking: Booking<K>, findings: &RunFindings) -> Self {
        let booking = Box::new(booking);
        match booking.phase() {
            BookingPhase::Completing(RemoteCall::Accepted { .. }) => Self::InProgress(booking),
            BookingPhase::Completing(_) => Self::Unknown(booking),
            BookingPhase::ReadyToComplete => Self::from_payment(booking, findings),
            BookingPhase::Failed { .. } | BookingPhase::Expired | BookingPhase::Prebooking => {
                Self::Rejected(booking)
            }
            BookingPhase::Confirmed | BookingPhase::Canceling => Self::Confirmed(booking),
        }
    }

    /// Derives the outcome from a booking whose workflow continues after the caller's deadline. A
    /// call that was sent without a response so far is unknown; a call that was not sent is still
    /// to come.
    fn at_deadline(booking: Booking<K>, findings: &RunFindings) -> Self {
        match booking.phase() {
            BookingPhase::Completing(RemoteCall::Pending { .. }) => {
                Self::InProgress(Box::new(booking))
            }
            _ => Self::from_booking(booking, findings),
        }
    }

    /// Derives the outcome from a booking that returned to the payer. If the supplier collects the
    /// payment, it says whether it was paid: a booking that was not sent may be paid for.
    fn from_payment(booking: Box<Booking<K>>, findings: &RunFindings) -> Self {
        let last = booking.payments.last();
        let decline = last.and_then(|payment| payment.decline_reason);
        let browser = last.is_some_and(|payment| payment.state == PaymentState::RequiresAction);
        let requires_action = browser || decline == Some(DeclineReason::RequiresAction);
        let is_unpaid_at_supplier = booking.payment_collector == PaymentCollector::Supplier
            && findings.is_checkout_incomplete();
        if requires_action || decline.is_some() || is_unpaid_at_supplier {
            Self::PaymentFailed {
                booking,
                requires_action,
            }
        } else {
            Self::NotSent {
                booking,
                cause: findings.not_sent_cause(),
            }
        }
    }
}

#[cfg(test)]
mod tests;
