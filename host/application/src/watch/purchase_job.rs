//! The purchase of an armed watch. One transaction makes the purchase unique: it creates the
//! booking, consumes the mandate and links the booking to the watch. After that the booking is
//! bound, paid and booked like a caller's booking, and the watch follows its outcome.

use crate::application::Application;
use crate::booking::aggregate::{BookingAggregate, BookingPhase};
use crate::booking::completion::{CompleteBookingCommand, CompleteBookingError};
use crate::booking::hotel_prebook::PrebookHotelCommand;
use crate::booking::prebook::{PrebookError, PrebookOutcome};
use crate::failpoint::FailpointPhase;
use crate::mandate::service::MandateError;
use crate::offers::terms::HotelOfferTerms;
use crate::supplier::query_error::QueryError;
use crate::watch::policy::{self, PurchaseOutcome};
use crate::watch::price_check;
use crate::watch::service::PURCHASE_JOB_KIND;
use host_domain::booking::InvalidTransition;
use host_domain::hotel::Booking;
use host_domain::id::{BookingId, HotelId, MandateId, WatchId};
use host_domain::mandate::{MandateScope, MandateUsage};
use host_domain::watch::{AutoBook, Event, PurchaseFailureReason, State, Watch, WatchTarget};
use host_resources::watch_event::WatchEventDetails;
use host_storage::{CommitError, DatabaseError, StoredWatch, UnitOfWork};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of one run; shorter than the lease on its job.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

/// Time limit of the price query within a run.
const PRICING_TIMEOUT: Duration = Duration::from_secs(15);

/// Reasons why a run failed. The job is retried.
#[derive(Debug, thiserror::Error)]
pub enum WatchPurchaseError {
    #[error("the watch's booking could not be prebooked")]
    Prebook(#[source] PrebookError),
    #[error("the watch's booking could not be completed")]
    Complete(#[source] CompleteBookingError),
    #[error("the mandate cannot be used")]
    Mandate(#[source] MandateError),
    #[error("the watch could not be updated")]
    Watch(#[from] InvalidTransition),
    #[error("the state of the purchase could not be stored")]
    Commit(#[from] CommitError),
    #[error("the state of the purchase could not be read")]
    Database(#[from] DatabaseError),
    #[error("the watch's booking {0} does not exist")]
    BookingMissing(BookingId),
    #[error("the watch {0} is not armed to buy")]
    NotArmed(WatchId),
}

/// One run of a purchase.
struct PurchaseRun<'a> {
    app: &'a Arc<Application>,
    stored: StoredWatch,
    hotel: HotelId,
    auto_book: AutoBook,
    mandate: MandateId,
    request_id: String,
    deadline: Instant,
}

/// Continues the purchase of a watch as far as possible.
pub async fn run(
    app: &Arc<Application>,
    subject: &str,
    token: &str,
) -> Result<(), WatchPurchaseError> {
    let stored = match WatchId::parse(subject) {
        Ok(id) => app.store.watch_unscoped(&id).await?,
        Err(_) => None,
    };
    let Some(stored) = stored else {
        tracing::error!(
            subject,
            "a purchase job names a watch that does not exist; the job is finished"
        );
        return finish(app, subject, token).await;
    };
    let State::Purchasing { booking } = stored.watch.state.clone() else {
        return finish(app, subject, token).await;
    };
    let purchase = PurchaseRun::new(app, stored)?;
    app.failpoint(PURCHASE_JOB_KIND, FailpointPhase::StepPlanned);
    let left = match booking {
        None => purchase.start(token).await?,
        Some(booking) => purchase.check_booking(&booking).await?,
    };
    app.failpoint(PURCHASE_JOB_KIND, FailpointPhase::ResponseReceived);
    purchase.commit_outcome(left, token).await?;
    app.failpoint(PURCHASE_JOB_KIND, FailpointPhase::OutcomeCommitted);
    Ok(())
}

async fn finish(app: &Application, subject: &str, token: &str) -> Result<(), WatchPurchaseError> {
    let mut write = UnitOfWork::new(app.clock.now());
    write.complete_job(PURCHASE_JOB_KIND, subject, token);
    Ok(app.store.commit(write).await?)
}

impl<'a> PurchaseRun<'a> {
    fn new(app: &'a Arc<Application>, stored: StoredWatch) -> Result<Self, WatchPurchaseError> {
        let watch = &stored.watch;
        let (WatchTarget::Hotel { hotel_id }, Some(auto_book), Some(mandate)) =
            (&watch.query.target, &watch.auto_book, &watch.mandate_id)
        else {
            return Err(WatchPurchaseError::NotArmed(watch.id.clone()));
        };
        let (hotel, auto_book, mandate) = (hotel_id.clone(), auto_book.clone(), mandate.clone());
        Ok(Self {
            app,
            stored,
            hotel,
            auto_book,
            mandate,
            request_id: format!("job_{:032x}", app.ids.generate()),
            deadline: Instant::now() + RUN_TIMEOUT,
        })
    }

    const fn watch(&self) -> &Watch {
        &self.stored.watch
    }

    /// Queries the price again, and starts the purchase if it still meets the trigger.
    async fn start(&self, token: &str) -> Result<PurchaseOutcome, WatchPurchaseError> {
        let watch = self.watch();
        let offer = match self.cheapest_offer().await {
            Ok(offer) => offer,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::info!(watch = %watch.id, error, "the price could not be queried again; the purchase is aborted and the watch waits again");
                None
            }
        };
        let offer = offer.filter(|offer| policy::is_price_acceptable(watch, offer.total));
        let Some(offer) = offer else {
            return Ok(PurchaseOutcome::Released);
        };
        let id = BookingId::from_bits(self.app.ids.generate());
        let mut along = UnitOfWork::new(self.app.clock.now());
        let usage = self.usage(&offer, &id);
        match (self
            .app
            .mandates
            .consume_in(&mut along, &self.mandate, usage))
        .await
        {
            Ok(_) => {}
            Err(MandateError::Invalid(refusal)) => {
                return Ok(policy::from_mandate_refusal(refusal));
            }
            Err(MandateError::NotFound) => {
                return Ok(PurchaseOutcome::Failed(
                    PurchaseFailureReason::MandateInvalid,
                ));
            }
            Err(error) => return Err(WatchPurchaseError::Mandate(error)),
        }
        let began = Event::PurchaseStarted {
            booking: id.clone(),
        };
        self.app.watches.apply_event_in(
            &mut along,
            &self.stored,
            began,
            &WatchEventDetails::None,
        )?;
        // If the lease is lost by then, its new holder may have started the purchase as well, and
        // this commit fails.
        let (subject, lease_ms) = (watch.id.as_str(), self.app.lease_ms());
        along.renew_job_lease(PURCHASE_JOB_KIND, subject, token, lease_ms);
        let bound = self
            .app
            .prebooks
            .prebook_hotel_with(self.prebook_command(offer, &id), id.clone(), along)
            .await;
        match bound {
            Ok(PrebookOutcome::Created { booking, .. } | PrebookOutcome::Existing(booking)) => {
                self.complete_booking(booking.id()).await
            }
            Err(error) => {
                policy::from_prebook_error(&error).ok_or(WatchPurchaseError::Prebook(error))
            }
        }
    }

    /// Returns the cheapest offer at the moment, from the supplier that the checks use.
    async fn cheapest_offer(&self) -> Result<Option<HotelOfferTerms>, QueryError> {
        let tenant = &self.watch().owner.tenant;
        let context =
            price_check::background_context(tenant, &self.stored.price_check_id(), PRICING_TIMEOUT);
        let stay = &self.watch().query.stay;
        let hotels = self
            .app
            .price_checker
            .fetch_offers(&context, &self.hotel, None, stay)
            .await?;
        let offers = hotels.into_iter().flat_map(|hotel| hotel.offers);
        let cheapest = offers.min_by_key(|priced| priced.offer.total.minor);
        Ok(cheapest.and_then(|priced| self.app.offers.open_hotel_offer(tenant, &priced.reference)))
    }

    fn usage(&self, offer: &HotelOfferTerms, booking: &BookingId) -> MandateUsage {
        MandateUsage {
            owner: self.watch().owner.clone(),
            amount: offer.total,
            instrument: self.auto_book.payment_instrument_id.clone(),
            scope: MandateScope::HotelWatch {
                watch_id: self.watch().id.clone(),
                hotel_id: self.hotel.clone(),
                check_in: offer.stay.check_in,
                check_out: offer.stay.check_out,
            },
            booking: booking.clone(),
        }
    }

    fn prebook_command(&self, offer: HotelOfferTerms, booking: &BookingId) -> PrebookHotelCommand {
        PrebookHotelCommand {
            owner: self.watch().owner.clone(),
            // The booking is new, so no other request uses this key.
            key: booking.to_string(),
            fingerprint: String::new(),
            offer,
            reference_id: Some(self.watch().id.to_string()),
            contact: self.auto_book.contact.clone(),
            rooms: self.auto_book.rooms.clone(),
            use_payment_sdk: false,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        }
    }

    /// Returns the outcome of the booking so far. Pays for it if it is ready to be completed.
    async fn check_booking(&self, id: &BookingId) -> Result<PurchaseOutcome, WatchPurchaseError> {
        let booking = self.booking(id).await?;
        let refused = match booking.phase() {
            BookingPhase::Failed { was_bound: false } => {
                let (owner, key) = (&self.watch().owner, id.as_str());
                self.app.prebooks.find_prebook_refusal(owner, key).await?
            }
            _ => None,
        };
        match policy::from_booking_phase(booking.phase(), is_declined(&booking), refused.as_ref()) {
            Some(left) => Ok(left),
            None => self.complete_booking(id).await,
        }
    }

    async fn booking(&self, id: &BookingId) -> Result<Booking, WatchPurchaseError> {
        let found = Booking::load(&self.app.store, id).await?;
        found.ok_or_else(|| WatchPurchaseError::BookingMissing(id.clone()))
    }

    async fn complete_booking(
        &self,
        booking: &BookingId,
    ) -> Result<PurchaseOutcome, WatchPurchaseError> {
        let command = CompleteBookingCommand {
            owner: self.watch().owner.clone(),
            booking: booking.clone(),
            instrument: Some(self.auto_book.payment_instrument_id.clone()),
            key: None,
            is_repeat: None,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        };
        Ok(
            match self.app.completions.complete::<Booking>(command).await {
                Ok(completion) => {
                    let booking = completion.into_booking();
                    let left =
                        policy::from_booking_phase(booking.phase(), is_declined(&booking), None);
                    // A call that was not sent is sent by the next run.
                    left.unwrap_or(PurchaseOutcome::Undecided)
                }
                Err(error) => policy::from_complete_error(&error)
                    .ok_or(WatchPurchaseError::Complete(error))?,
            },
        )
    }

    /// Commits the outcome of the run with its event.
    async fn commit_outcome(
        &self,
        left: PurchaseOutcome,
        token: &str,
    ) -> Result<(), WatchPurchaseError> {
        let app = self.app;
        let now = app.clock.now();
        let mut write = UnitOfWork::new(now);
        let id = &self.watch().id;
        let Some(event) = left.event() else {
            let due = policy::next_poll_at(self.watch().updated_at, now);
            write.release_job(PURCHASE_JOB_KIND, id.as_str(), token, due);
            return Ok(app.store.commit(write).await?);
        };
        if left == PurchaseOutcome::Released {
            let tenant = &self.watch().owner.tenant;
            let released = app
                .mandates
                .release_in(&mut write, tenant, &self.mandate)
                .await;
            match released {
                // The mandate was revoked or has expired meanwhile; the next purchase reports it.
                Ok(()) | Err(MandateError::Invalid(_)) => {}
                Err(error) => return Err(WatchPurchaseError::Mandate(error)),
            }
        }
        // The watch is loaded again, because the run has changed it.
        let stored = app.store.watch_unscoped(id).await?;
        let stored = stored.ok_or_else(|| WatchPurchaseError::NotArmed(id.clone()))?;
        let told = match (left, stored.watch.booking_id()) {
            (PurchaseOutcome::Purchased, Some(booking)) => {
                WatchEventDetails::Booking(Box::new(self.booking(booking).await?))
            }
            _ => WatchEventDetails::None,
        };
        app.watches
            .apply_event_in(&mut write, &stored, event, &told)?;
        write.complete_job(PURCHASE_JOB_KIND, id.as_str(), token);
        Ok(app.store.commit(write).await?)
    }
}

fn is_declined(booking: &Booking) -> bool {
    let last = booking.payments.last();
    last.is_some_and(|payment| payment.decline_reason.is_some())
}
