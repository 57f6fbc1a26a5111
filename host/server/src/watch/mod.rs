//! Waiting for prices: what callers do to watches, and how a watch moves. Checking
//! is background work: one question at a time, however many watches ask it.

mod check;
pub(crate) mod judge;
pub(crate) mod purchase;
pub(crate) mod worker;

use crate::api::caller::RequestContext;
use crate::app::Application;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::mandate::{MandateError, NewMandate};
use crate::query::QueryError;
use crate::render::watch::{self as render, WatchEventDetails};
use host_domain::booking;
use host_domain::event::Product;
use host_domain::id::{EventId, WatchId};
use host_domain::mandate::MandateEvent;
use host_domain::owner::Owner;
use host_domain::watch::{AutoBook, Event, Transition, PriceQuery, Trigger, Watch};
use host_storage::{CommitError, Conflict, DatabaseError, OutboxEvent, StoredWatch, UnitOfWork};

/// The job that buys for a watch; its subject is the watch's id. It is made in the
/// transaction that makes the watch `purchasing`.
pub(crate) const PURCHASE_JOB_KIND: &str = "watch_purchase";

/// How often a change is tried again that somebody else was faster with.
const CONFLICT_RETRIES_MAX: usize = 8;

/// Why something about a watch was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WatchError {
    /// Not this owner's.
    #[error("the watch does not exist")]
    NotFound,
    /// It does not fit where the watch is.
    #[error(transparent)]
    InvalidTransition(#[from] booking::InvalidTransition),
    /// It is not to buy.
    #[error("the watch has no auto_book")]
    NoAutoBook,
    /// What is watched cannot be asked for.
    #[error("nobody can be asked for what is watched")]
    Query(#[from] QueryError),
    /// The instrument is not the owner's, or deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    /// The mandate was not sealed.
    #[error("the mandate could not be sealed")]
    Mandate(#[source] MandateError),
    /// Others change it all the time.
    #[error("it is being changed by others")]
    TooManyConflicts,
    /// The idempotency key.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database.
    #[error("watches could not be read or stored")]
    Storage(#[from] CommitError),
}

impl From<DatabaseError> for WatchError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<MandateError> for WatchError {
    fn from(error: MandateError) -> Self {
        match error {
            MandateError::InstrumentNotFound => Self::InstrumentNotFound,
            other => Self::Mandate(other),
        }
    }
}

/// What a caller waits for.
#[derive(Debug)]
pub(crate) struct NewWatch {
    /// What is asked.
    pub(crate) query: PriceQuery,
    /// What is waited for.
    pub(crate) trigger: Trigger,
    /// How to buy.
    pub(crate) auto_book: Option<AutoBook>,
}

/// A watch that is stored.
#[derive(Debug)]
pub(crate) enum Created {
    /// Now.
    New(StoredWatch),
    /// By an earlier call with the same key.
    Existing(StoredWatch),
}

impl Application {
    /// Makes a watch, once for each key. What it waits for must exist, and somebody
    /// must be there who can be asked.
    pub(crate) async fn create_watch(
        &self,
        caller: &RequestContext,
        new: NewWatch,
        key: Option<&IdempotentRequest>,
    ) -> Result<Created, WatchError> {
        let owner = &caller.owner;
        if let Some(made) = self.find_existing(owner, key).await? {
            return Ok(Created::Existing(made));
        }
        self.validate_query(caller, &new.query).await?;
        if let Some(auto_book) = &new.auto_book {
            let id = &auto_book.payment_instrument_id;
            let instrument = self.store.instrument(owner, id).await?;
            instrument.ok_or(WatchError::InstrumentNotFound)?;
        }
        let now = self.clock.now();
        let id = WatchId::from_bits(self.ids.generate());
        let NewWatch {
            query: question,
            trigger,
            auto_book,
        } = new;
        let watch = Watch::new(id, owner.clone(), question, trigger, auto_book, now);
        let mut write = UnitOfWork::new(now);
        claim_in(&mut write, key, watch.id.as_str());
        write.insert_watch(&watch);
        match self.store.commit(write).await {
            Ok(()) => Ok(Created::New(StoredWatch { watch, last_observed: None })),
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {
                let made = self.find_existing(owner, key).await?;
                made.map(Created::Existing).ok_or(WatchError::TooManyConflicts)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// An owner's watch.
    pub(crate) async fn find_watch(
        &self,
        owner: &Owner,
        id: &WatchId,
    ) -> Result<StoredWatch, WatchError> {
        let found = self.store.watch(owner, id).await?;
        found.ok_or(WatchError::NotFound)
    }

    /// Ends a watch, and takes its mandate back.
    pub(crate) async fn cancel_watch(&self, owner: &Owner, id: &WatchId) -> Result<(), WatchError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find_watch(owner, id).await?;
            let now = self.clock.now();
            let mut write = UnitOfWork::new(now);
            self.apply_event_in(&mut write, &stored, Event::Canceled, &WatchEventDetails::None)?;
            if let Some(id) = &stored.watch.mandate_id
                && let Some(mandate) = self.store.mandate(&owner.tenant, id).await?
            {
                let read_version = mandate.version;
                // One that is over is as good as one that is taken back.
                if let Ok(Some(revoked)) = mandate.apply(MandateEvent::Revoked, now) {
                    write.update_mandate(&revoked, read_version);
                }
            }
            match self.store.commit(write).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(WatchError::TooManyConflicts)
    }

    /// Seals the draft of a watch's mandate, so that it buys; once for each key. One
    /// that is armed stays as it is.
    pub(crate) async fn confirm_purchase(
        &self,
        owner: &Owner,
        id: &WatchId,
        key: Option<&IdempotentRequest>,
    ) -> Result<StoredWatch, WatchError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find_watch(owner, id).await?;
            if self.find_result(key).await?.is_some() {
                return Ok(stored);
            }
            let mut write = UnitOfWork::new(self.clock.now());
            claim_in(&mut write, key, id.as_str());
            let is_armed = stored.watch.is_armed() && stored.watch.status().is_open();
            let confirmed = if is_armed {
                stored
            } else {
                self.arm(&mut write, stored).await?
            };
            match self.store.commit(write).await {
                Ok(()) => return Ok(confirmed),
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(WatchError::TooManyConflicts)
    }

    async fn arm(&self, write: &mut UnitOfWork, stored: StoredWatch) -> Result<StoredWatch, WatchError> {
        let new = mandate_for(&stored.watch)?;
        let mandate = self.sign_in(write, &stored.watch.owner, new).await?;
        let event = Event::Armed {
            mandate: mandate.terms.id,
        };
        let moved = self.apply_event_in(write, &stored, event, &WatchEventDetails::None)?;
        Ok(moved.unwrap_or(stored))
    }

    /// Moves a watch, and adds to `write` all that comes of it: the watch as it is then,
    /// what its organization is told, and the purchase that is to begin. None: nothing.
    pub(crate) fn apply_event_in(
        &self,
        write: &mut UnitOfWork,
        stored: &StoredWatch,
        event: Event,
        told: &WatchEventDetails,
    ) -> Result<Option<StoredWatch>, booking::InvalidTransition> {
        let now = self.clock.now();
        let Some(moved) = stored.watch.clone().apply(event, now)? else {
            return Ok(None);
        };
        let Transition {
            watch,
            notification: tells,
            is_purchase_due: buys,
            is_check_due: asks,
        } = moved;
        write.update_watch(&watch, stored.watch.version);
        if asks {
            write.schedule_price_check(&watch);
        }
        if buys {
            write.schedule_job(PURCHASE_JOB_KIND, watch.id.as_str(), now);
        }
        let moved = StoredWatch {
            watch,
            last_observed: stored.last_observed,
        };
        if let Some(event_type) = tells {
            let id = EventId::from_bits(self.ids.generate());
            let event = OutboxEvent {
                payload: render::watch_event_payload(&id, event_type, now, &moved, told),
                id,
                event_type: event_type.as_str().to_owned(),
                product: Product::Watch,
                booking_id: moved.watch.booking_id().cloned(),
                created_at: now,
            };
            write.publish(&moved.watch.owner.tenant, &event);
        }
        Ok(Some(moved))
    }

    /// What the same request made before, if it did.
    async fn find_existing(
        &self,
        owner: &Owner,
        key: Option<&IdempotentRequest>,
    ) -> Result<Option<StoredWatch>, WatchError> {
        let Some(made) = self.find_result(key).await? else {
            return Ok(None);
        };
        let id = WatchId::parse(&made).map_err(|_| WatchError::NotFound)?;
        self.find_watch(owner, &id).await.map(Some)
    }
}

/// What the purchase of a watch is bound to.
pub(crate) fn mandate_for(watch: &Watch) -> Result<NewMandate, WatchError> {
    if !watch.status().is_open() {
        let (status, event) = (watch.status().as_str(), "armed");
        return Err(booking::InvalidTransition { status, event }.into());
    }
    let (Some(scope), Some(auto_book)) = (watch.mandate_scope(), &watch.auto_book) else {
        return Err(WatchError::NoAutoBook);
    };
    Ok(NewMandate {
        amount: watch.trigger.amount(),
        instrument: auto_book.payment_instrument_id.clone(),
        scope,
        expires_at: watch.expires_at,
    })
}
