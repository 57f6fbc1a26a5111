//! Buying what an armed watch waits for. The first transaction holds everything that
//! makes it one purchase: the booking begins, the mandate is used up, the watch knows
//! its booking. From there on the booking is bound, paid and booked as a caller's
//! would be, and the watch follows what becomes of it.

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::complete::{Complete, CompleteError};
use crate::flow::failpoint::Phase;
use crate::flow::hotel::prebook::{OfferTerms, Prebook};
use crate::flow::prebook::{PrebookError, Prebound};
use crate::mandate::MandateError;
use crate::offer_reference;
use crate::query::QueryError;
use crate::render::watch::Told;
use crate::watch::judge::{self, Left};
use crate::watch::{PURCHASE_JOB, check};
use host_domain::booking::InvalidTransition;
use host_domain::hotel::Booking;
use host_domain::id::{BookingId, HotelId, MandateId, WatchId};
use host_domain::mandate::{MandateScope, MandateUsage};
use host_domain::watch::{AutoBook, Event, PurchaseFailureReason, State, WatchTarget, Watch};
use host_storage::{CommitError, DatabaseError, StoredWatch, UnitOfWork};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long one run may take; shorter than the claim on its work.
const RUN_MAX: Duration = Duration::from_secs(45);

/// Of it, to ask for the price.
const ASK_MAX: Duration = Duration::from_secs(15);

/// Why a run did not come to its end. It is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PurchaseError {
    #[error("the booking cannot be prebooked")]
    Prebook(#[source] PrebookError),
    #[error("the booking cannot be completed")]
    Complete(#[source] CompleteError),
    #[error("the mandate cannot be used")]
    Mandate(#[source] MandateError),
    #[error("the watch cannot be moved")]
    Watch(#[from] InvalidTransition),
    #[error("the purchase is not stored")]
    Commit(#[from] CommitError),
    #[error("the purchase cannot be read")]
    Database(#[from] DatabaseError),
    #[error("the watch's booking {0} is not there")]
    Gone(BookingId),
    #[error("the watch {0} cannot buy")]
    Unarmed(WatchId),
}

/// One run.
struct Purchase<'a> {
    app: &'a Arc<App>,
    stored: StoredWatch,
    hotel: HotelId,
    auto_book: AutoBook,
    mandate: MandateId,
    request_id: String,
    deadline: Instant,
}

/// Goes on with the purchase of a watch, as far as it comes.
pub(crate) async fn run(app: &Arc<App>, subject: &str, token: &str) -> Result<(), PurchaseError> {
    let stored = match WatchId::parse(subject) {
        Ok(id) => app.store.watch_unscoped(&id).await?,
        Err(_) => None,
    };
    let Some(stored) = stored else {
        tracing::error!(subject, "a purchase for a watch that is not there");
        return finish(app, subject, token).await;
    };
    let State::Purchasing { booking } = stored.watch.state.clone() else {
        return finish(app, subject, token).await;
    };
    let purchase = Purchase::of(app, stored)?;
    app.reach(PURCHASE_JOB, Phase::Chosen);
    let left = match booking {
        None => purchase.begin(token).await?,
        Some(booking) => purchase.follow(&booking).await?,
    };
    app.reach(PURCHASE_JOB, Phase::Answered);
    purchase.end(left, token).await?;
    app.reach(PURCHASE_JOB, Phase::Recorded);
    Ok(())
}

async fn finish(app: &App, subject: &str, token: &str) -> Result<(), PurchaseError> {
    let mut write = UnitOfWork::new(app.clock.now());
    write.complete_job(PURCHASE_JOB, subject, token);
    Ok(app.store.commit(write).await?)
}

impl<'a> Purchase<'a> {
    fn of(app: &'a Arc<App>, stored: StoredWatch) -> Result<Self, PurchaseError> {
        let watch = &stored.watch;
        let (WatchTarget::Hotel { hotel_id }, Some(auto_book), Some(mandate)) =
            (&watch.query.target, &watch.auto_book, &watch.mandate_id)
        else {
            return Err(PurchaseError::Unarmed(watch.id.clone()));
        };
        let (hotel, auto_book, mandate) = (hotel_id.clone(), auto_book.clone(), mandate.clone());
        Ok(Self {
            app,
            stored,
            hotel,
            auto_book,
            mandate,
            request_id: format!("job_{:032x}", app.ids.bits()),
            deadline: Instant::now() + RUN_MAX,
        })
    }

    const fn watch(&self) -> &Watch {
        &self.stored.watch
    }

    /// Asks for the price once more, and begins to buy if it is still what was waited for.
    async fn begin(&self, token: &str) -> Result<Left, PurchaseError> {
        let watch = self.watch();
        let offer = match self.cheapest_offer().await {
            Ok(offer) => offer,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::info!(watch = %watch.id, error, "no fresh price to buy at");
                None
            }
        };
        let offer = offer.filter(|offer| judge::is_bought_at(watch, offer.total));
        let Some(offer) = offer else {
            return Ok(Left::Released);
        };
        let id = BookingId::from_bits(self.app.ids.bits());
        let mut along = UnitOfWork::new(self.app.clock.now());
        let usage = self.usage(&offer, &id);
        match (self.app.consume_mandate(&mut along, &self.mandate, usage)).await {
            Ok(_) => {}
            Err(MandateError::Invalid(refusal)) => return Ok(judge::of_mandate(refusal)),
            Err(MandateError::NotFound) => {
                return Ok(Left::Failed(PurchaseFailureReason::MandateInvalid));
            }
            Err(error) => return Err(PurchaseError::Mandate(error)),
        }
        let began = Event::PurchaseStarted {
            booking: id.clone(),
        };
        self.app
            .move_watch(&mut along, &self.stored, began, &Told::Nothing)?;
        // Whoever holds the work by then may have begun as well.
        let (subject, lease_ms) = (watch.id.as_str(), self.app.lease_ms());
        along.renew_job_lease(PURCHASE_JOB, subject, token, lease_ms);
        let bound = self
            .app
            .prebook_hotel_along(self.wish(offer, &id), id.clone(), along)
            .await;
        match bound {
            Ok(Prebound::Fresh { booking, .. } | Prebound::Existing(booking)) => {
                self.pay(booking.id()).await
            }
            Err(error) => judge::of_prebook(&error).ok_or(PurchaseError::Prebook(error)),
        }
    }

    /// What is to be had now, asked of whom the checks ask.
    async fn cheapest_offer(&self) -> Result<Option<OfferTerms>, QueryError> {
        let tenant = &self.watch().owner.tenant;
        let caller = check::caller(tenant, &self.stored.price_check_id(), ASK_MAX);
        let stay = &self.watch().query.stay;
        let hotels = self.app.offers_of(&caller, &self.hotel, None, stay).await?;
        let offers = hotels.into_iter().flat_map(|hotel| hotel.offers);
        let cheapest = offers.min_by_key(|priced| priced.offer.total.minor);
        Ok(cheapest
            .and_then(|priced| offer_reference::read(&self.app.sealer, tenant, &priced.reference)))
    }

    fn usage(&self, offer: &OfferTerms, booking: &BookingId) -> MandateUsage {
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

    fn wish(&self, offer: OfferTerms, booking: &BookingId) -> Prebook {
        Prebook {
            owner: self.watch().owner.clone(),
            // Nobody else uses this key: the booking is new.
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

    /// What has become of the booking, as of now; paid where that is what it waits for.
    async fn follow(&self, id: &BookingId) -> Result<Left, PurchaseError> {
        let booking = self.booking(id).await?;
        let refused = match booking.stage() {
            Stage::Failed { bound: false } => {
                let (owner, key) = (&self.watch().owner, id.as_str());
                self.app.hotel_prebook_refusal(owner, key).await?
            }
            _ => None,
        };
        match judge::of_booking(booking.stage(), is_declined(&booking), refused.as_ref()) {
            Some(left) => Ok(left),
            None => self.pay(id).await,
        }
    }

    async fn booking(&self, id: &BookingId) -> Result<Booking, PurchaseError> {
        let found = Booking::load(&self.app.store, id).await?;
        found.ok_or_else(|| PurchaseError::Gone(id.clone()))
    }

    async fn pay(&self, booking: &BookingId) -> Result<Left, PurchaseError> {
        let wish = Complete {
            owner: self.watch().owner.clone(),
            booking: booking.clone(),
            instrument: Some(self.auto_book.payment_instrument_id.clone()),
            key: None,
            repeated: None,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        };
        Ok(match self.app.complete_hotel(wish).await {
            Ok(completion) => {
                let booking = completion.into_booking();
                let left = judge::of_booking(booking.stage(), is_declined(&booking), None);
                // What was not sent is sent by the next run.
                left.unwrap_or(Left::Open)
            }
            Err(error) => judge::of_complete(&error).ok_or(PurchaseError::Complete(error))?,
        })
    }

    /// Stores how the run ended, with what is told of it.
    async fn end(&self, left: Left, token: &str) -> Result<(), PurchaseError> {
        let app = self.app;
        let now = app.clock.now();
        let mut write = UnitOfWork::new(now);
        let id = &self.watch().id;
        let Some(event) = left.event() else {
            let due = judge::look_again(self.watch().updated_at, now);
            write.release_job(PURCHASE_JOB, id.as_str(), token, due);
            return Ok(app.store.commit(write).await?);
        };
        if left == Left::Released {
            let tenant = &self.watch().owner.tenant;
            let released = app.release_mandate(&mut write, tenant, &self.mandate).await;
            match released {
                // Revoked or expired meanwhile: the next purchase will say so.
                Ok(()) | Err(MandateError::Invalid(_)) => {}
                Err(error) => return Err(PurchaseError::Mandate(error)),
            }
        }
        // The watch as the run has left it.
        let stored = app.store.watch_unscoped(id).await?;
        let stored = stored.ok_or_else(|| PurchaseError::Unarmed(id.clone()))?;
        let told = match (left, stored.watch.booking_id()) {
            (Left::Bought, Some(booking)) => Told::Booking(Box::new(self.booking(booking).await?)),
            _ => Told::Nothing,
        };
        app.move_watch(&mut write, &stored, event, &told)?;
        write.complete_job(PURCHASE_JOB, id.as_str(), token);
        Ok(app.store.commit(write).await?)
    }
}

fn is_declined(booking: &Booking) -> bool {
    let last = booking.payments.last();
    last.is_some_and(|payment| payment.decline_reason.is_some())
}
