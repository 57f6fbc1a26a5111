//! The purchase of an armed watch. One transaction makes the purchase unique: it creates the
//! booking, consumes the mandate and links the booking to the watch. After that the booking is
//! bound, paid and booked like a caller's booking, and the watch follows its outcome.

use crate::base::Base;
use crate::booking::completion::{
    CompleteBookingCommand, CompleteBookingError, CompletionOutcome, CompletionService,
};
use crate::booking::execution::WorkflowError;
use crate::booking::hotel_prebook::PrebookHotelCommand;
use crate::booking::prebook::{PrebookError, PrebookOutcome, PrebookService};
use crate::booking::prebook_call::PrebookParameters;
use crate::config::JobsConfig;
use crate::failpoint::{self, FailpointPhase};
use crate::jobs::worker::{JobError, JobHandler};
use crate::mandate::service::{MandateError, MandateService};
use crate::offers::service::OfferService;
use crate::offers::terms::HotelOfferTerms;
use crate::supplier::query_error::QueryError;
use crate::watch::policy::{self, PurchaseOutcome};
use crate::watch::price_check::{self, PriceChecker};
use crate::watch::service::{PURCHASE_JOB_KIND, WatchService};
use futures::FutureExt;
use futures::future::BoxFuture;
use host_domain::booking::BookingPhase;
use host_domain::booking::InvalidTransition;
use host_domain::hotel::{HotelBooking, HotelBookingDetails};
use host_domain::id::{BookingId, HotelId, MandateId, WatchId};
use host_domain::mandate::{MandateScope, MandateUsage};
use host_domain::watch::{
    AutoBook, PurchaseFailureReason, Watch, WatchState, WatchTarget, WatchTransitionEvent,
};
use host_resources::watch_event::WatchEventDetails;
use host_storage::{CommitError, DatabaseError, StoredWatch, UnitOfWork};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Time limit of one run; shorter than the lease on its job.
const RUN_TIMEOUT: Duration = Duration::from_secs(45);

const PRICING_TIMEOUT: Duration = Duration::from_secs(15);

/// Reasons why a run failed. The job is retried.
#[derive(Debug, thiserror::Error)]
pub enum WatchPurchaseError {
    #[error("the watch's booking could not be prebooked")]
    Prebook(#[source] PrebookError),
    #[error("the watch's booking could not be completed")]
    Complete(#[source] CompleteBookingError),
    #[error("the watch's booking could not be expired")]
    Expire(#[source] WorkflowError),
    #[error("another process changed the watch's booking {0} meanwhile")]
    BookingChanged(BookingId),
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

pub struct PurchaseJob {
    pub(crate) base: Base,
    pub(crate) prebooks: Arc<PrebookService>,
    pub(crate) completions: Arc<CompletionService>,
    pub(crate) price_checker: Arc<PriceChecker>,
    pub(crate) offers: Arc<OfferService>,
    pub(crate) mandates: Arc<MandateService>,
    pub(crate) watches: Arc<WatchService>,
    pub(crate) jobs_config: JobsConfig,
}

struct PurchaseRun<'a> {
    job: &'a PurchaseJob,
    stored: StoredWatch,
    hotel: HotelId,
    auto_book: AutoBook,
    mandate: MandateId,
    request_id: String,
    deadline: Instant,
}

impl PurchaseJob {
    /// Continues the purchase of a watch as far as possible.
    async fn purchase(&self, subject: &str, token: &str) -> Result<(), WatchPurchaseError> {
        let stored = match WatchId::parse(subject) {
            Ok(id) => self.base.store.watch_unscoped(&id).await?,
            Err(_) => None,
        };
        let Some(stored) = stored else {
            tracing::error!(
                subject,
                "a purchase job names a watch that does not exist; the job is finished"
            );
            return self.finish(subject, token).await;
        };
        let WatchState::Purchasing { booking } = stored.watch.state.clone() else {
            return self.finish(subject, token).await;
        };
        let purchase = PurchaseRun::new(self, stored)?;
        self.hit_failpoint(FailpointPhase::StepPlanned);
        let outcome = match booking {
            None => purchase.start(token).await?,
            Some(booking) => purchase.check_booking(&booking).await?,
        };
        self.hit_failpoint(FailpointPhase::ResponseReceived);
        purchase.commit_outcome(outcome, token).await?;
        self.hit_failpoint(FailpointPhase::OutcomeCommitted);
        Ok(())
    }

    async fn finish(&self, subject: &str, token: &str) -> Result<(), WatchPurchaseError> {
        let mut write = self.base.unit_of_work();
        write.complete_job(PURCHASE_JOB_KIND, subject, token);
        Ok(self.base.store.commit(write).await?)
    }

    fn hit_failpoint(&self, phase: FailpointPhase) {
        failpoint::hit(&self.jobs_config.abort_at, PURCHASE_JOB_KIND, phase);
    }
}

impl JobHandler for PurchaseJob {
    fn kind(&self) -> &'static str {
        PURCHASE_JOB_KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move { Ok(self.purchase(subject, lease_token).await?) }.boxed()
    }
}

impl<'a> PurchaseRun<'a> {
    fn new(job: &'a PurchaseJob, stored: StoredWatch) -> Result<Self, WatchPurchaseError> {
        let watch = &stored.watch;
        let (WatchTarget::Hotel { hotel_id }, Some(auto_book), Some(mandate)) =
            (&watch.query.target, &watch.auto_book, &watch.mandate_id)
        else {
            return Err(WatchPurchaseError::NotArmed(watch.id.clone()));
        };
        let (hotel, auto_book, mandate) = (hotel_id.clone(), auto_book.clone(), mandate.clone());
        Ok(Self {
            job,
            stored,
            hotel,
            auto_book,
            mandate,
            request_id: format!("job_{:032x}", job.base.ids.generate()),
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
        let id = BookingId::from_bits(self.job.base.ids.generate());
        let mut write = UnitOfWork::new(self.job.base.now());
        let usage = self.usage(&offer, &id);
        let mandates = &self.job.mandates;
        let consumed = mandates.consume_in(&mut write, &self.mandate, usage);
        match consumed.await {
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
        let started = WatchTransitionEvent::PurchaseStarted {
            booking: id.clone(),
        };
        let (watches, no_details) = (&self.job.watches, &WatchEventDetails::None);
        watches.apply_event_in(&mut write, &self.stored, started, no_details)?;
        // If the lease is lost by then, its new holder may have started the purchase as well, and
        // this commit fails.
        let (subject, lease_ms) = (watch.id.as_str(), self.job.jobs_config.lease_ms());
        write.renew_job_lease(PURCHASE_JOB_KIND, subject, token, lease_ms);
        let (prebooks, command) = (&self.job.prebooks, self.prebook_command(offer, &id));
        match prebooks.prebook_hotel_with(command, id, write).await {
            Ok(PrebookOutcome::Created { booking, .. } | PrebookOutcome::Existing(booking)) => {
                self.complete_booking(&booking.id).await
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
        let price_checker = &self.job.price_checker;
        let hotels = price_checker.fetch_offers(&context, &self.hotel, stay);
        let offers = hotels.await?.into_iter().flat_map(|hotel| hotel.offers);
        let cheapest = offers.min_by_key(|priced| priced.offer.total.minor);
        Ok(cheapest.and_then(|priced| self.job.offers.open_hotel_offer(tenant, &priced.reference)))
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
            parameters: PrebookParameters {
                owner: self.watch().owner.clone(),
                // The booking is new, so no other request uses this key.
                key: booking.to_string(),
                fingerprint: String::new(),
                reference_id: Some(self.watch().id.to_string()),
                use_payment_sdk: false,
                request_id: self.request_id.clone(),
                deadline: self.deadline,
            },
            offer,
            contact: self.auto_book.contact.clone(),
            rooms: self.auto_book.rooms.clone(),
        }
    }

    /// Returns the outcome of the booking so far. Pays for it if it is ready to be completed.
    async fn check_booking(&self, id: &BookingId) -> Result<PurchaseOutcome, WatchPurchaseError> {
        let booking = self.booking(id).await?;
        let refused = match booking.phase() {
            BookingPhase::Failed {
                was_prebooked: false,
            } => {
                let (owner, key) = (&self.watch().owner, id.as_str());
                self.job.prebooks.find_prebook_refusal(owner, key).await?
            }
            _ => None,
        };
        match policy::from_booking_phase(booking.phase(), is_declined(&booking), refused.as_ref()) {
            Some(outcome) => Ok(outcome),
            None => self.complete_booking(id).await,
        }
    }

    async fn booking(&self, id: &BookingId) -> Result<HotelBooking, WatchPurchaseError> {
        let found = self.job.base.store.booking_unscoped(id).await?;
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
        let completion = self
            .job
            .completions
            .complete::<HotelBookingDetails>(command);
        match completion.await {
            Ok(CompletionOutcome::NotSent { cause, .. }) => Ok(PurchaseOutcome::NotSent(cause)),
            Ok(completion) => {
                let booking = completion.into_booking();
                let outcome =
                    policy::from_booking_phase(booking.phase(), is_declined(&booking), None);
                Ok(outcome.unwrap_or(PurchaseOutcome::Undecided))
            }
            Err(error) => {
                policy::from_complete_error(&error).ok_or(WatchPurchaseError::Complete(error))
            }
        }
    }

    async fn commit_outcome(
        &self,
        outcome: PurchaseOutcome,
        token: &str,
    ) -> Result<(), WatchPurchaseError> {
        let job = self.job;
        let now = job.base.now();
        let mut write = UnitOfWork::new(now);
        let id = &self.watch().id;
        let Some(event) = outcome.event() else {
            let due = policy::next_run_at(outcome, self.watch().updated_at, now);
            write.release_job(PURCHASE_JOB_KIND, id.as_str(), token, due);
            return Ok(job.base.store.commit(write).await?);
        };
        // The watch is loaded again, because the run has changed it.
        let stored = job.base.store.watch_unscoped(id).await?;
        let stored = stored.ok_or_else(|| WatchPurchaseError::NotArmed(id.clone()))?;
        let booking = match stored.watch.booking_id() {
            Some(booking) => Some(self.booking(booking).await?),
            None => None,
        };
        let details = match (outcome, &booking) {
            (PurchaseOutcome::Purchased, Some(booking)) => {
                WatchEventDetails::Booking(Box::new(booking.clone()))
            }
            (PurchaseOutcome::Purchased, None)
            | (
                PurchaseOutcome::Released
                | PurchaseOutcome::Failed(_)
                | PurchaseOutcome::Undecided
                | PurchaseOutcome::NotSent(_),
                _,
            ) => WatchEventDetails::None,
        };
        job.watches
            .apply_event_in(&mut write, &stored, event, &details)?;
        write.complete_job(PURCHASE_JOB_KIND, id.as_str(), token);
        match outcome {
            PurchaseOutcome::Released => {
                self.release_mandate(&mut write).await?;
                if let Some(booking) = &booking {
                    self.delete_if_never_prebooked(&mut write, booking);
                }
            }
            // The booking expires, so that no other card pays for it.
            PurchaseOutcome::Failed(_) => {
                if let Some(booking) = booking.filter(waits_for_payment) {
                    return self.expire_booking(booking, write).await;
                }
            }
            PurchaseOutcome::Purchased
            | PurchaseOutcome::Undecided
            | PurchaseOutcome::NotSent(_) => {}
        }
        Ok(job.base.store.commit(write).await?)
    }

    async fn release_mandate(&self, write: &mut UnitOfWork) -> Result<(), WatchPurchaseError> {
        let tenant = &self.watch().owner.tenant;
        let mandates = &self.job.mandates;
        match mandates.release_in(write, tenant, &self.mandate).await {
            // The mandate was revoked or has expired meanwhile; the next purchase reports it.
            Ok(()) | Err(MandateError::Invalid(_)) => Ok(()),
            Err(error) => Err(WatchPurchaseError::Mandate(error)),
        }
    }

    /// Deletes the booking of an attempt that the supplier did not prebook. It was never announced,
    /// and each further attempt would leave one more.
    fn delete_if_never_prebooked(&self, write: &mut UnitOfWork, booking: &HotelBooking) {
        let BookingPhase::Failed {
            was_prebooked: false,
        } = booking.phase()
        else {
            return;
        };
        let watch = &self.watch().id;
        tracing::info!(booking = %booking.id, %watch, "the purchase of a watch ended without a commitment; its booking is deleted");
        write.delete_booking(booking);
        let (prebooks, owner) = (&self.job.prebooks, &self.watch().owner);
        prebooks.forget_prebook_in(write, owner, booking.id.as_str());
    }

    /// Expires a booking in the transaction of `write`, which ends the purchase.
    async fn expire_booking(
        &self,
        booking: HotelBooking,
        write: UnitOfWork,
    ) -> Result<(), WatchPurchaseError> {
        let id = booking.id.clone();
        let (request_id, deadline) = (&self.request_id, self.deadline);
        let completions = &self.job.completions;
        let expired = completions.expire_offer(booking, write, request_id, deadline);
        match expired.await.map_err(WatchPurchaseError::Expire)? {
            true => Ok(()),
            // The next run reads the booking again.
            false => Err(WatchPurchaseError::BookingChanged(id)),
        }
    }
}

/// Returns whether a client could still pay for the booking.
fn waits_for_payment(booking: &HotelBooking) -> bool {
    matches!(booking.phase(), BookingPhase::ReadyToComplete)
}

fn is_declined(booking: &HotelBooking) -> bool {
    let last = booking.payments.last();
    last.is_some_and(|payment| payment.decline_reason.is_some())
}
