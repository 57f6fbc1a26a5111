//! Buying what an armed watch waits for. The first transaction holds everything that
//! makes it one purchase: the booking begins, the mandate is used up, the watch knows
//! its booking. From there on the booking is bound, paid and booked as a caller's
//! would be, and the watch follows what becomes of it.

use crate::app::App;
use crate::flow::bookable::{Bookable, Stage};
use crate::flow::complete::{Complete, CompleteError, Completion};
use crate::flow::failpoint::Phase;
use crate::flow::hotel::prebook::{OfferTerms, Prebook};
use crate::flow::prebook::{PrebookError, Prebound};
use crate::flow::refusal::Decision;
use crate::mandate::MandateError;
use crate::offer_reference;
use crate::query::QueryError;
use crate::render::watch::Told;
use crate::watch::{PURCHASE_JOB, check};
use host_domain::booking::Conflict;
use host_domain::hotel::Booking;
use host_domain::id::{BookingId, HotelId, MandateId, WatchId};
use host_domain::mandate::{MandateRefusal, MandateScope, MandateUse};
use host_domain::time::Timestamp;
use host_domain::watch::{AutoBook, Event, PurchaseFailure, State, Target, Watch};
use host_storage::{CommitError, DatabaseError, StoredWatch, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long one run may take; shorter than the claim on its work.
const RUN_MAX: Duration = Duration::from_secs(45);

/// Of it, to ask for the price.
const ASK_MAX: Duration = Duration::from_secs(15);

/// A booking that is not decided is looked at again after as long as it has been
/// waited for, within these bounds.
const LOOK_AGAIN_MS: (i64, i64) = (1_000, 300_000);

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
    Watch(#[from] Conflict),
    #[error("the purchase is not stored")]
    Commit(#[from] CommitError),
    #[error("the purchase cannot be read")]
    Database(#[from] DatabaseError),
    #[error("the watch's booking {0} is not there")]
    Gone(BookingId),
    #[error("the watch {0} cannot buy")]
    Unarmed(WatchId),
}

/// What a run leaves behind.
enum Left {
    /// Nothing was promised to anybody: the watch waits again.
    Released,
    /// It was bought.
    Bought(Box<Booking>),
    /// It could not be.
    Failed(PurchaseFailure),
    /// The booking is not decided.
    Open,
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
        Ok(id) => app.store.load_watch(&id).await?,
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
        None => purchase.begin().await?,
        Some(booking) => purchase.follow(&booking).await?,
    };
    app.reach(PURCHASE_JOB, Phase::Answered);
    purchase.end(left, token).await?;
    app.reach(PURCHASE_JOB, Phase::Recorded);
    Ok(())
}

async fn finish(app: &App, subject: &str, token: &str) -> Result<(), PurchaseError> {
    let mut write = Write::new(app.clock.now());
    write.finish_job(PURCHASE_JOB, subject, token);
    Ok(app.store.commit(write).await?)
}

impl<'a> Purchase<'a> {
    fn of(app: &'a Arc<App>, stored: StoredWatch) -> Result<Self, PurchaseError> {
        let watch = &stored.watch;
        let (Target::Hotel { hotel_id }, Some(auto_book), Some(mandate)) =
            (&watch.question.target, &watch.auto_book, &watch.mandate_id)
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
    async fn begin(&self) -> Result<Left, PurchaseError> {
        let watch = self.watch();
        let offer = match self.cheapest_offer().await {
            Ok(offer) => offer,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::info!(watch = %watch.id, error, "no fresh price to buy at");
                None
            }
        };
        let offer = offer.filter(|offer| watch.trigger.is_met_by(offer.total));
        let Some(offer) = offer else {
            return Ok(Left::Released);
        };
        let id = BookingId::from_bits(self.app.ids.bits());
        let mut along = Write::new(self.app.clock.now());
        let usage = self.usage(&offer, &id);
        match (self.app.consume_mandate(&mut along, &self.mandate, usage)).await {
            Ok(_) => {}
            Err(MandateError::Invalid(refusal)) => return Ok(Left::Failed(reason(refusal))),
            Err(MandateError::NotFound) => {
                return Ok(Left::Failed(PurchaseFailure::MandateInvalid));
            }
            Err(error) => return Err(PurchaseError::Mandate(error)),
        }
        let began = Event::PurchaseBegan {
            booking: id.clone(),
        };
        self.app
            .move_watch(&mut along, &self.stored, began, &Told::Nothing)?;
        let bound = self
            .app
            .prebook_hotel_along(self.wish(offer, &id), id.clone(), along)
            .await;
        match bound {
            Ok(Prebound::Fresh { booking, .. } | Prebound::Existing(booking)) => {
                self.pay(booking.id()).await
            }
            Err(error) => unbound(error),
        }
    }

    /// What is to be had now, asked of whom the checks ask.
    async fn cheapest_offer(&self) -> Result<Option<OfferTerms>, QueryError> {
        let tenant = &self.watch().owner.tenant;
        let caller = check::caller(tenant, &self.stored.ask_id(), ASK_MAX);
        let stay = &self.watch().question.stay;
        let hotels = self.app.offers_of(&caller, &self.hotel, None, stay).await?;
        let offers = hotels.into_iter().flat_map(|hotel| hotel.offers);
        let cheapest = offers.min_by_key(|priced| priced.offer.total.minor);
        Ok(cheapest
            .and_then(|priced| offer_reference::read(&self.app.sealer, tenant, &priced.reference)))
    }

    fn usage(&self, offer: &OfferTerms, booking: &BookingId) -> MandateUse {
        MandateUse {
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
        let found = Booking::load(&self.app.store, id).await?;
        let booking = found.ok_or_else(|| PurchaseError::Gone(id.clone()))?;
        Ok(match booking.stage() {
            Stage::Early | Stage::Completing(_) => Left::Open,
            // A card that was declined once is not tried again.
            Stage::Ready if is_declined(&booking) => Left::Failed(PurchaseFailure::PaymentFailed),
            Stage::Ready => return self.pay(id).await,
            Stage::Confirmed | Stage::Leaving => Left::Bought(Box::new(booking)),
            Stage::Failed { bound: true } => Left::Failed(PurchaseFailure::SupplierRejected),
            Stage::Failed { bound: false } | Stage::Expired => Left::Released,
        })
    }

    async fn pay(&self, booking: &BookingId) -> Result<Left, PurchaseError> {
        let wish = Complete {
            owner: self.watch().owner.clone(),
            booking: booking.clone(),
            instrument: Some(self.auto_book.payment_instrument_id.clone()),
            repeated: false,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        };
        Ok(match self.app.complete_hotel(wish).await {
            Ok(Completion::Confirmed(booking) | Completion::Left(booking)) => Left::Bought(booking),
            Ok(Completion::InProgress(_) | Completion::Unknown(_) | Completion::NotSent(_)) => {
                Left::Open
            }
            Ok(Completion::PaymentFailed { .. }) => Left::Failed(PurchaseFailure::PaymentFailed),
            Ok(Completion::Refused(_)) => Left::Failed(PurchaseFailure::SupplierRejected),
            Err(CompleteError::InstrumentInvalid | CompleteError::InstrumentNotWanted) => {
                Left::Failed(PurchaseFailure::PaymentInstrumentInvalid)
            }
            // It has expired meanwhile, or somebody else was faster: the next run sees.
            Err(CompleteError::State(_)) => Left::Open,
            Err(
                error @ (CompleteError::Flow(_)
                | CompleteError::NotFound
                | CompleteError::InstrumentSealed(_)
                | CompleteError::InstrumentMissing),
            ) => return Err(PurchaseError::Complete(error)),
        })
    }

    /// Stores how the run ended, with what is told of it.
    async fn end(&self, left: Left, token: &str) -> Result<(), PurchaseError> {
        let app = self.app;
        let now = app.clock.now();
        let mut write = Write::new(now);
        let id = &self.watch().id;
        let (event, told) = match left {
            Left::Open => {
                let due = look_again(self.watch().updated_at, now);
                write.release_job(PURCHASE_JOB, id.as_str(), token, due);
                return Ok(app.store.commit(write).await?);
            }
            Left::Released => {
                let tenant = &self.watch().owner.tenant;
                let released = app.release_mandate(&mut write, tenant, &self.mandate).await;
                match released {
                    // Revoked or expired meanwhile: the next purchase will say so.
                    Ok(()) | Err(MandateError::Invalid(_)) => {}
                    Err(error) => return Err(PurchaseError::Mandate(error)),
                }
                (Event::PurchaseReleased, Told::Nothing)
            }
            Left::Bought(booking) => (Event::Purchased, Told::Booking(booking)),
            Left::Failed(reason) => (Event::PurchaseFailed { reason }, Told::Nothing),
        };
        // The watch as the run has left it.
        let stored = app.store.load_watch(id).await?;
        let stored = stored.ok_or_else(|| PurchaseError::Unarmed(id.clone()))?;
        app.move_watch(&mut write, &stored, event, &told)?;
        write.finish_job(PURCHASE_JOB, id.as_str(), token);
        Ok(app.store.commit(write).await?)
    }
}

/// What a booking that was not bound means for the watch.
fn unbound(error: PrebookError) -> Result<Left, PurchaseError> {
    match error {
        PrebookError::Decided(Decision::Rejected) => {
            Ok(Left::Failed(PurchaseFailure::SupplierRejected))
        }
        PrebookError::Decided(
            Decision::PriceChanged { .. } | Decision::Unavailable | Decision::Expired,
        )
        | PrebookError::OfferInUse
        | PrebookError::NotSent { .. }
        | PrebookError::RateLimited { .. }
        | PrebookError::Account
        | PrebookError::Unsupported => Ok(Left::Released),
        // It may have been bound; the booking's own timer decides.
        PrebookError::NoAnswer { .. } => Ok(Left::Open),
        PrebookError::Flow(_)
        | PrebookError::KeyReused
        | PrebookError::InProgress
        | PrebookError::Sealed(_) => Err(PurchaseError::Prebook(error)),
    }
}

fn is_declined(booking: &Booking) -> bool {
    let last = booking.payments.last();
    last.is_some_and(|payment| payment.decline.is_some())
}

const fn reason(refusal: MandateRefusal) -> PurchaseFailure {
    match refusal {
        MandateRefusal::Revoked => PurchaseFailure::MandateRevoked,
        MandateRefusal::Expired => PurchaseFailure::MandateExpired,
        MandateRefusal::Consumed
        | MandateRefusal::CapExceeded
        | MandateRefusal::OtherCurrency
        | MandateRefusal::OtherUser
        | MandateRefusal::OtherInstrument
        | MandateRefusal::OtherScope
        | MandateRefusal::BadSignature => PurchaseFailure::MandateInvalid,
    }
}

fn look_again(since: Timestamp, now: Timestamp) -> Timestamp {
    let (soonest, latest) = LOOK_AGAIN_MS;
    now.plus_ms(now.since(since).clamp(soonest, latest))
}
