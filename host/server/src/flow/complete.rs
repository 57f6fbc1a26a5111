//! Completing a booking: take the caller's choice of payment, store the
//! intent, walk the steps, and tell what came of it.

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::step::FlowError;
use crate::idempotency::{KeyError, RequestKey, take};
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
pub(crate) struct Complete {
    pub(crate) owner: Owner,
    pub(crate) booking: BookingId,
    /// None: the browser or the supplier has taken the payment.
    pub(crate) instrument: Option<InstrumentId>,
    /// To be taken for what comes of it; none: there is none, or it is taken.
    pub(crate) key: Option<RequestKey>,
    /// Whether the same request was made before: then a card that was declined is not tried
    /// again, and what was booked is told of also once it is given back. None: nobody has
    /// asked yet, which is not done before it matters.
    pub(crate) repeated: Option<bool>,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

impl Complete {
    /// How its instrument was declined so far.
    fn declines<B: Bookable>(&self, booking: &B) -> Vec<DeclineReason> {
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
pub(crate) enum Completion<B> {
    /// Booked, now or before.
    Confirmed(Box<B>),
    /// Booked before, and given back since, or being so.
    Left(Box<B>),
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
    Refused(Box<B>),
    /// Nobody knows yet.
    Unknown(Box<B>),
}

/// Why it was not begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteError {
    #[error(transparent)]
    Flow(FlowError),
    #[error("no such booking")]
    NotFound,
    #[error("the booking is {0}")]
    State(&'static str),
    #[error("the payment instrument is not good")]
    InstrumentInvalid,
    #[error("the payment instrument cannot be opened")]
    InstrumentSealed(#[source] SealError),
    #[error("this booking is paid with a stored instrument")]
    InstrumentMissing,
    #[error("this booking is not paid with a stored instrument")]
    InstrumentNotWanted,
    #[error(transparent)]
    Key(KeyError),
}

impl<E: Into<FlowError>> From<E> for CompleteError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl CompleteError {
    fn under_way(self) -> Self {
        match self {
            Self::Flow(error) => Self::Flow(error.under_way()),
            other => other,
        }
    }
}

impl App {
    /// Completes a booking, once, however often and by however many it is asked.
    pub(crate) async fn complete_hotel(
        self: &Arc<Self>,
        wish: Complete,
    ) -> Result<Completion<hotel::Booking>, CompleteError> {
        self.complete(wish).await
    }

    /// The same of flights.
    pub(crate) async fn complete_flight(
        self: &Arc<Self>,
        wish: Complete,
    ) -> Result<Completion<flight::Booking>, CompleteError> {
        self.complete(wish).await
    }

    async fn complete<B: Bookable>(
        self: &Arc<Self>,
        mut wish: Complete,
    ) -> Result<Completion<B>, CompleteError> {
        let ended = self.begin_or_await(&mut wish).await;
        match &ended {
            Ok(_) | Err(CompleteError::Flow(_) | CompleteError::Key(_)) => {}
            // That the key stands for another request is told before why this one fails.
            Err(_) => self.look_up_key(&mut wish).await?,
        }
        let completion = ended?;
        // What another call made of it is what this key stands for from now on.
        if let Some(key) = &wish.key
            && completion.stands()
        {
            let used = self.use_key(key, wish.booking.as_str()).await;
            used.map_err(CompleteError::Key)?;
        }
        Ok(completion)
    }

    /// Leaves no key in the wish when it took it.
    async fn begin_or_await<B: Bookable>(
        self: &Arc<Self>,
        wish: &mut Complete,
    ) -> Result<Completion<B>, CompleteError> {
        let mut declines_known = None;
        loop {
            let booking = self.booking_to_complete::<B>(wish).await?;
            let is_untouched =
                matches!(booking.stage(), Stage::Ready) && booking.payments().is_empty();
            if !is_untouched {
                self.look_up_key(wish).await?;
            }
            let repeated = wish.repeated == Some(true);
            let declines = wish.declines(&booking);
            // Of this card, since it was asked, or before where it was asked before.
            let known = *declines_known.get_or_insert(match repeated {
                true => 0,
                false => declines.len(),
            });
            match booking.stage() {
                Stage::Ready if declines.len() > known => {
                    return Ok(Completion::PaymentFailed {
                        requires_action: declines.last() == Some(&DeclineReason::RequiresAction),
                        booking: Box::new(booking),
                    });
                }
                Stage::Ready => {
                    if let Some(completion) = self.begin(booking, wish).await? {
                        return Ok(completion);
                    }
                    // It may have been taken by the same request: this one repeats it then.
                    wish.repeated = None;
                    self.look_up_key(wish).await?;
                    if wish.repeated == Some(true) {
                        declines_known = None;
                    }
                }
                Stage::Completing(_) => {
                    if !self.is_being_walked(B::JOB, booking.id()).await? {
                        // Whoever worked on it may have ended since it was read.
                        let left = self.booking_to_complete::<B>(wish).await?;
                        if left.version() == booking.version() {
                            return Ok(Completion::of(left));
                        }
                        continue;
                    }
                }
                Stage::Early | Stage::Expired | Stage::Failed { bound: false } => {
                    return Err(CompleteError::State(booking.status_name()));
                }
                Stage::Failed { bound: true } => {
                    return Ok(Completion::Refused(Box::new(booking)));
                }
                Stage::Confirmed => return Ok(Completion::Confirmed(Box::new(booking))),
                Stage::Leaving if repeated => {
                    return Ok(Completion::Confirmed(Box::new(booking)));
                }
                Stage::Leaving => return Ok(Completion::Left(Box::new(booking))),
            }
            // Somebody else is at it: their outcome is the caller's outcome.
            if !self.wait_a_little(wish.deadline).await {
                let booking = self.booking_to_complete(wish).await?;
                return Ok(Completion::in_time(booking));
            }
        }
    }

    /// Leaves no key in the wish of a request that was made before.
    async fn look_up_key(&self, wish: &mut Complete) -> Result<(), CompleteError> {
        if wish.repeated.is_none() {
            let made = self.made_before(wish.key.as_ref()).await;
            let repeated = made.map_err(CompleteError::Key)?.is_some();
            wish.key.take_if(|_| repeated);
            wish.repeated = Some(repeated);
        }
        Ok(())
    }

    async fn booking_to_complete<B: Bookable>(&self, wish: &Complete) -> Result<B, CompleteError> {
        let found = B::find(&self.store, &wish.owner, &wish.booking).await?;
        found.ok_or(CompleteError::NotFound)
    }

    /// Stores the intent, with the key, and walks; none when somebody else moved the
    /// booking first, or took the key.
    async fn begin<B: Bookable>(
        self: &Arc<Self>,
        booking: B,
        wish: &mut Complete,
    ) -> Result<Option<Completion<B>>, CompleteError> {
        let mut walker = self.walker(&wish.request_id, wish.deadline);
        let expired = booking.expires_at() <= self.clock.now();
        let event = if expired {
            B::lapsed(Expiry::Offer)
        } else {
            walker.instrument = self.instrument_for(&booking, wish).await?;
            let hold = |instrument| self.hold(booking.price(), instrument);
            B::book_started(walker.instrument.as_ref().map(hold))
        };
        let take_key = |write: &mut UnitOfWork| {
            if !expired {
                take(write, wish.key.as_ref(), wish.booking.as_str());
            }
        };
        let Some((booking, then)) = self.start(booking, event, &walker, take_key).await? else {
            return Ok(None);
        };
        wish.key = None;
        let app = Arc::clone(self);
        let run = async move { app.go_on(booking, then, &walker).await };
        let walk = self.run_to_end(run.boxed());
        let Ok(walked) = tokio::time::timeout_at(wish.deadline, walk).await else {
            // The walk goes on; the caller's time is over.
            let read = self.booking_to_complete(wish).await;
            let booking = read.map_err(CompleteError::under_way)?;
            return Ok(Some(Completion::in_time(booking)));
        };
        let booking = walked??;
        if expired {
            Err(CompleteError::State(booking.status_name()))
        } else {
            Ok(Some(Completion::of(booking)))
        }
    }

    /// What is to pay; none: it is, or will be, paid without one.
    async fn instrument_for<B: Bookable>(
        &self,
        booking: &B,
        wish: &Complete,
    ) -> Result<Option<Instrument>, CompleteError> {
        let by_instrument =
            booking.settlement() == PaymentCollector::Gateway && !booking.use_payment_sdk();
        let id = match (&wish.instrument, by_instrument) {
            (Some(id), true) => id,
            (None, false) => return Ok(None),
            (None, true) => return Err(CompleteError::InstrumentMissing),
            (Some(_), false) => return Err(CompleteError::InstrumentNotWanted),
        };
        let opened = self.open_instrument(&wish.owner, id).await;
        match opened.map_err(|error| match error {
            InstrumentError::Database(error) => error.into(),
            InstrumentError::Sealed(error) => CompleteError::InstrumentSealed(error),
        })? {
            Some(instrument) => Ok(Some(instrument)),
            None => Err(CompleteError::InstrumentInvalid),
        }
    }

    /// A hold to ask for with a stored instrument.
    pub(crate) fn hold(&self, amount: Money, instrument: &Instrument) -> Payment {
        Payment::new_authorization(
            PaymentId::from_bits(self.ids.bits()),
            amount,
            instrument.processor.clone(),
            instrument,
            self.clock.now(),
        )
    }
}

impl<B> Completion<B> {
    /// The booking, whatever came of it.
    pub(crate) fn into_booking(self) -> Box<B> {
        match self {
            Self::Confirmed(booking)
            | Self::Left(booking)
            | Self::InProgress(booking)
            | Self::PaymentFailed { booking, .. }
            | Self::NotSent(booking)
            | Self::Refused(booking)
            | Self::Unknown(booking) => booking,
        }
    }

    /// Whether a repeat of the call is to be told of it, and not to try again.
    pub(crate) const fn stands(&self) -> bool {
        match self {
            Self::Confirmed(_)
            | Self::InProgress(_)
            | Self::PaymentFailed { .. }
            | Self::Refused(_)
            | Self::Unknown(_) => true,
            Self::Left(_) | Self::NotSent(_) => false,
        }
    }
}

impl<B: Bookable> Completion<B> {
    /// What a booking says that nobody is working on.
    fn of(booking: B) -> Self {
        let booking = Box::new(booking);
        match booking.stage() {
            Stage::Completing(RemoteCall::Accepted { .. }) => Self::InProgress(booking),
            Stage::Completing(_) => Self::Unknown(booking),
            Stage::Ready => Self::of_payment(booking),
            Stage::Failed { .. } | Stage::Expired | Stage::Early => Self::Refused(booking),
            Stage::Confirmed | Stage::Leaving => Self::Confirmed(booking),
        }
    }

    /// What a booking says whose walk goes on after the caller's time: what was
    /// sent and not answered by now is unknown, what was not is still to come.
    fn in_time(booking: B) -> Self {
        match booking.stage() {
            Stage::Completing(RemoteCall::Pending { .. }) => Self::InProgress(Box::new(booking)),
            _ => Self::of(booking),
        }
    }

    fn of_payment(booking: Box<B>) -> Self {
        let last = booking.payments().last();
        let decline = last.and_then(|payment| payment.decline_reason);
        let browser = last.is_some_and(|payment| payment.state == PaymentState::RequiresAction);
        let requires_action = browser || decline == Some(DeclineReason::RequiresAction);
        let supplier_takes_it = booking.settlement() == PaymentCollector::Supplier;
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
