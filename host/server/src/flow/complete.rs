//! Completing a booking: take the caller's choice of payment, store the
//! intent, walk the steps, and tell what came of it.

use crate::app::App;
use crate::flow::step::{FlowError, HOTEL_BOOKING_JOB};
use crate::instrument::InstrumentError;
use crate::seal::SealError;
use futures::FutureExt;
use host_domain::hotel::booking::{Booking, Event, Settlement, State, Status};
use host_domain::id::{BookingId, InstrumentId, PaymentId};
use host_domain::leg::Leg;
use host_domain::owner::Owner;
use host_domain::payment::{Decline, Payment, PaymentState};
use host_storage::CommitError;
use std::sync::Arc;
use tokio::time::Instant;

/// A caller's wish to complete.
#[derive(Debug, Clone)]
pub(crate) struct Complete {
    pub(crate) owner: Owner,
    pub(crate) booking: BookingId,
    /// None: the browser or the supplier has taken the payment.
    pub(crate) instrument: Option<InstrumentId>,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Completion {
    /// Booked, now or before.
    Confirmed(Box<Booking>),
    /// The supplier accepted, and decides later.
    InProgress(Box<Booking>),
    /// The payment was declined or is not completed; another may be tried.
    PaymentFailed {
        booking: Box<Booking>,
        requires_action: bool,
    },
    /// Nothing was sent; the same may be tried again.
    NotSent(Box<Booking>),
    /// The supplier said no.
    Refused(Box<Booking>),
    /// Nobody knows yet.
    Unknown(Box<Booking>),
}

/// Why it was not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {}", .0.as_str())]
    State(Status),
    #[error("the payment instrument is not good")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be opened")]
    InstrumentSealed(#[source] SealError),
    #[error("this booking is paid with a stored instrument")]
    InstrumentMissing,
    #[error("this booking is not paid with a stored instrument")]
    InstrumentNotWanted,
}

impl<E: Into<FlowError>> From<E> for CompleteError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl App {
    /// Completes a booking, once, however often and by however many it is asked.
    pub(crate) async fn complete_hotel(
        self: &Arc<Self>,
        wish: Complete,
    ) -> Result<Completion, CompleteError> {
        loop {
            let booking = self.store.hotel_booking(&wish.owner, &wish.booking).await?;
            let booking = booking.ok_or(CompleteError::NotFound)?;
            match &booking.state {
                State::ReadyForComplete => {
                    if let Some(completion) = self.begin(booking, &wish).await? {
                        return Ok(completion);
                    }
                }
                State::CompleteInProgress { .. } => {
                    let running = self.is_being_walked(&booking.id).await?;
                    if !running {
                        return Ok(Completion::of(booking));
                    }
                }
                State::Created | State::PrebookInProgress { .. } | State::Expired => {
                    return Err(CompleteError::State(booking.status()));
                }
                State::Failed if booking.supplier_prebook.is_none() => {
                    return Err(CompleteError::State(Status::Failed));
                }
                State::Failed => return Ok(Completion::Refused(Box::new(booking))),
                State::Confirmed => return Ok(Completion::Confirmed(Box::new(booking))),
                State::CancelInProgress { .. } | State::PartiallyCanceled | State::Canceled => {
                    return Err(CompleteError::State(booking.status()));
                }
            }
            // Somebody else is at it: their outcome is the caller's outcome.
            if !self.wait_a_little(wish.deadline).await {
                let booking = self.store.hotel_booking(&wish.owner, &wish.booking).await?;
                return Ok(Completion::in_time(booking.ok_or(CompleteError::NotFound)?));
            }
        }
    }

    /// Stores the intent and walks; none when somebody else moved the booking first.
    async fn begin(
        self: &Arc<Self>,
        booking: Booking,
        wish: &Complete,
    ) -> Result<Option<Completion>, CompleteError> {
        let walker = self.walker(&wish.request_id, wish.deadline);
        let expired = booking.offer_expires_at <= self.clock.now();
        let event = if expired {
            Event::OfferExpired
        } else {
            Event::BookStarted {
                payment: self.payment_for(&booking, wish).await?,
            }
        };
        let moved = booking.apply(event, self.clock.now())?;
        let mut write = self.write_of(&moved, None, &wish.request_id);
        write.insert_claimed_job(
            HOTEL_BOOKING_JOB,
            moved.booking.id.as_str(),
            &walker.lease_token,
            self.lease_ms(),
        );
        match self.store.commit(write).await {
            Ok(()) => {}
            Err(CommitError::Conflict(_)) => return Ok(None),
            Err(CommitError::Database(error)) => return Err(error.into()),
        }
        let app = Arc::clone(self);
        let run = async move { app.drive_hotel(moved.booking, &walker).await };
        let walk = self.run_to_end(run.boxed());
        let Ok(walked) = tokio::time::timeout_at(wish.deadline, walk).await else {
            // The walk goes on; the caller's time is over.
            let booking = self.store.hotel_booking(&wish.owner, &wish.booking).await?;
            return Ok(Some(Completion::in_time(
                booking.ok_or(CompleteError::NotFound)?,
            )));
        };
        let booking = walked??;
        if expired {
            Err(CompleteError::State(booking.status()))
        } else {
            Ok(Some(Completion::of(booking)))
        }
    }

    async fn payment_for(
        &self,
        booking: &Booking,
        wish: &Complete,
    ) -> Result<Option<Payment>, CompleteError> {
        let by_instrument = booking.settlement == Settlement::Gateway && !booking.use_payment_sdk;
        let id = match (&wish.instrument, by_instrument) {
            (Some(id), true) => id,
            (None, false) => return Ok(None),
            (None, true) => return Err(CompleteError::InstrumentMissing),
            (Some(_), false) => return Err(CompleteError::InstrumentNotWanted),
        };
        let instrument =
            self.open_instrument(&wish.owner, id)
                .await
                .map_err(|error| match error {
                    InstrumentError::Database(error) => error.into(),
                    InstrumentError::Sealed(error) => CompleteError::InstrumentSealed(error),
                })?;
        let instrument = instrument.ok_or(CompleteError::InstrumentInvalid)?;
        let processor = instrument.processor.clone();
        let payment = Payment::to_authorize(
            PaymentId::from_bits(self.ids.bits()),
            booking.total,
            processor,
            &instrument,
            self.clock.now(),
        );
        Ok(Some(payment))
    }
}

impl Completion {
    /// What a booking says that nobody is working on.
    fn of(booking: Booking) -> Self {
        let booking = Box::new(booking);
        match &booking.state {
            State::CompleteInProgress {
                book: Leg::Pending { .. },
            } => Self::InProgress(booking),
            State::CompleteInProgress { .. } => Self::Unknown(booking),
            State::ReadyForComplete => Self::of_payment(booking),
            State::Failed | State::Expired | State::Created | State::PrebookInProgress { .. } => {
                Self::Refused(booking)
            }
            State::Confirmed
            | State::CancelInProgress { .. }
            | State::PartiallyCanceled
            | State::Canceled => Self::Confirmed(booking),
        }
    }

    /// What a booking says whose walk goes on after the caller's time: what was
    /// sent and not answered by now is unknown, what was not is still to come.
    fn in_time(booking: Booking) -> Self {
        match booking.state {
            State::CompleteInProgress {
                book: Leg::Due { .. },
            } => Self::InProgress(Box::new(booking)),
            _ => Self::of(booking),
        }
    }

    fn of_payment(booking: Box<Booking>) -> Self {
        let last = booking.payments.last();
        let decline = last.and_then(|payment| payment.decline);
        let browser = last.is_some_and(|payment| payment.state == PaymentState::RequiresAction);
        let requires_action = browser || decline == Some(Decline::RequiresAction);
        let supplier_takes_it = booking.settlement == Settlement::Supplier;
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
