//! Price watches: the operations of callers on watches, and the transitions of a watch. Checking
//! prices is background work: one query at a time, however many watches share it.

use crate::application::Application;
use crate::context::RequestContext;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::mandate::service::{MandateError, NewMandate};
use crate::supplier::query_error::QueryError;
use host_domain::booking;
use host_domain::event::Product;
use host_domain::id::{EventId, WatchId};
use host_domain::mandate::MandateEvent;
use host_domain::owner::Owner;
use host_domain::watch::{AutoBook, Event, PriceQuery, Transition, Trigger, Watch};
use host_resources::watch_event as render;
use host_resources::watch_event::WatchEventDetails;
use host_storage::{CommitError, Conflict, DatabaseError, OutboxEvent, StoredWatch, UnitOfWork};

/// The kind of the job that buys for a watch. Its subject is the watch's id. It is created in the
/// transaction that makes the watch `purchasing`.
pub const PURCHASE_JOB_KIND: &str = "watch_purchase";

/// Maximum number of attempts to change a watch if another call changes it first.
const CONFLICT_RETRIES_MAX: usize = 8;

/// Reasons why an operation on a watch failed.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The watch does not exist or belongs to another owner.
    #[error("the watch does not exist")]
    NotFound,
    /// The event does not apply to the watch's state.
    #[error(transparent)]
    InvalidTransition(#[from] booking::InvalidTransition),
    /// The watch has no instructions to buy.
    #[error("the watch has no auto_book")]
    NoAutoBook,
    /// No supplier can be queried for the watched price.
    #[error("no supplier can be queried for the watched price")]
    Query(#[from] QueryError),
    /// The payment instrument does not belong to the owner or was deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    /// The mandate was not signed.
    #[error("the mandate could not be signed")]
    Mandate(#[source] MandateError),
    /// Concurrent calls kept changing the watch.
    #[error("the watch was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    /// The idempotency key could not be used.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database failed.
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

/// A caller's request for a new watch.
#[derive(Debug)]
pub struct NewWatch {
    /// The price query.
    pub query: PriceQuery,
    /// The condition that triggers the watch.
    pub trigger: Trigger,
    /// Instructions to buy, if the watch buys.
    pub auto_book: Option<AutoBook>,
}

/// A stored watch.
#[derive(Debug)]
pub enum Created {
    /// The watch was created now.
    New(StoredWatch),
    /// The watch was created by an earlier call with the same key.
    Existing(StoredWatch),
}

impl Application {
    /// Creates a watch, once for each key. What it watches must exist, and a supplier must be able
    /// to price it.
    pub async fn create_watch(
        &self,
        context: &RequestContext,
        new: NewWatch,
        key: Option<&IdempotentRequest>,
    ) -> Result<Created, WatchError> {
        let owner = &context.owner;
        if let Some(made) = self.find_existing_watch(owner, key).await? {
            return Ok(Created::Existing(made));
        }
        self.price_checker
            .validate_query(context, &new.query)
            .await?;
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
            Ok(()) => Ok(Created::New(StoredWatch {
                watch,
                last_observed: None,
            })),
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {
                let made = self.find_existing_watch(owner, key).await?;
                made.map(Created::Existing)
                    .ok_or(WatchError::TooManyConflicts)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns an owner's watch.
    pub async fn find_watch(&self, owner: &Owner, id: &WatchId) -> Result<StoredWatch, WatchError> {
        let found = self.store.watch(owner, id).await?;
        found.ok_or(WatchError::NotFound)
    }

    /// Ends a watch and revokes its mandate.
    pub async fn cancel_watch(&self, owner: &Owner, id: &WatchId) -> Result<(), WatchError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find_watch(owner, id).await?;
            let now = self.clock.now();
            let mut write = UnitOfWork::new(now);
            self.apply_event_in(
                &mut write,
                &stored,
                Event::Canceled,
                &WatchEventDetails::None,
            )?;
            if let Some(id) = &stored.watch.mandate_id
                && let Some(mandate) = self.store.mandate(&owner.tenant, id).await?
            {
                let read_version = mandate.version;
                // A mandate that has already ended needs no revocation.
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

    /// Signs the mandate of a watch, so that the watch buys; once for each key. A watch that is
    /// already armed stays unchanged.
    pub async fn confirm_purchase(
        &self,
        owner: &Owner,
        id: &WatchId,
        key: Option<&IdempotentRequest>,
    ) -> Result<StoredWatch, WatchError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find_watch(owner, id).await?;
            if self.idempotency.find_result(key).await?.is_some() {
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

    async fn arm(
        &self,
        write: &mut UnitOfWork,
        stored: StoredWatch,
    ) -> Result<StoredWatch, WatchError> {
        let new = mandate_for(&stored.watch)?;
        let mandate = self.sign_in(write, &stored.watch.owner, new).await?;
        let event = Event::Armed {
            mandate: mandate.terms.id,
        };
        let moved = self.apply_event_in(write, &stored, event, &WatchEventDetails::None)?;
        Ok(moved.unwrap_or(stored))
    }

    /// Applies an event to a watch and adds all consequences to `write`: the changed watch, the
    /// event for its organization, and the purchase that is due. Returns `None` if nothing changes.
    pub fn apply_event_in(
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
                payload: render::watch_event_payload(
                    &id,
                    event_type,
                    now,
                    &moved.watch,
                    moved.last_observed,
                    told,
                ),
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

    /// Returns the watch that the same request created before, if it did.
    async fn find_existing_watch(
        &self,
        owner: &Owner,
        key: Option<&IdempotentRequest>,
    ) -> Result<Option<StoredWatch>, WatchError> {
        let Some(made) = self.idempotency.find_result(key).await? else {
            return Ok(None);
        };
        let id = WatchId::parse(&made).map_err(|_| WatchError::NotFound)?;
        self.find_watch(owner, &id).await.map(Some)
    }
}

/// Returns the terms of the mandate for a watch's purchase.
pub fn mandate_for(watch: &Watch) -> Result<NewMandate, WatchError> {
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
