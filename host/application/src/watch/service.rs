//! Price watches: the operations of callers on watches, and the transitions of a watch. Checking
//! prices is background work: one query at a time, however many watches share it.

use crate::audit::record::audit_in;
use crate::base::Base;
use crate::context::RequestContext;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::mandate::audited;
use crate::mandate::service::{MandateError, MandateService, NewMandate};
use crate::supplier::query_error::QueryError;
use crate::watch::audited::audited_watch;
use crate::watch::price_check::PriceChecker;
use host_domain::audit::{Actor, AuditAction};
use host_domain::booking;
use host_domain::event::Product;
use host_domain::id::{EventId, WatchId};
use host_domain::mandate::MandateEvent;
use host_domain::owner::{Owner, Tenant};
use host_domain::page::{Page, PageRequest};
use host_domain::watch::list::WatchFilter;
use host_domain::watch::{AutoBook, PriceQuery, Trigger, Watch, WatchTransitionEvent};
use host_resources::watch_event::{WatchEventDetails, watch_event_payload};
use host_storage::{
    CommitError, Conflict, DatabaseError, OutboxEvent, StoredWatch, UnitOfWork, WatchLogEntry,
};
use std::sync::Arc;

/// The kind of the job that buys for a watch. Its subject is the watch's id. It is created in the
/// transaction that makes the watch `purchasing`.
pub const PURCHASE_JOB_KIND: &str = "watch_purchase";

const CONFLICT_RETRIES_MAX: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The watch does not exist or belongs to another owner.
    #[error("the watch does not exist")]
    NotFound,
    #[error("the event log does not contain the event")]
    EventNotFound,
    #[error(transparent)]
    InvalidTransition(#[from] booking::InvalidTransition),
    #[error("the watch has no auto_book")]
    NoAutoBook,
    #[error("no supplier can be queried for the watched price")]
    Query(#[from] QueryError),
    /// The payment instrument does not belong to the owner or was deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    #[error("the mandate could not be signed")]
    Mandate(#[source] MandateError),
    #[error("the watch was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
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

#[derive(Debug)]
pub struct NewWatch {
    pub query: PriceQuery,
    pub trigger: Trigger,
    /// Instructions to buy, if the watch buys.
    pub auto_book: Option<AutoBook>,
}

#[derive(Debug)]
pub enum Created {
    New(StoredWatch),
    /// The watch was created by an earlier call with the same key.
    Existing(StoredWatch),
}

pub struct WatchService {
    pub(crate) base: Base,
    pub(crate) price_checker: Arc<PriceChecker>,
    pub(crate) mandates: Arc<MandateService>,
}

impl WatchService {
    /// Creates a watch, once for each key. A supplier must be able to price what it watches.
    pub async fn create(
        &self,
        context: &RequestContext,
        new: NewWatch,
        key: Option<&IdempotentRequest>,
    ) -> Result<Created, WatchError> {
        let owner = &context.owner;
        if let Some(stored) = self.find_existing(owner, key).await? {
            return Ok(Created::Existing(stored));
        }
        let checker = &self.price_checker;
        checker.validate_query(context, &new.query).await?;
        if let Some(auto_book) = &new.auto_book {
            let id = &auto_book.payment_instrument_id;
            let instrument = self.base.store.instrument(owner, id).await?;
            instrument.ok_or(WatchError::InstrumentNotFound)?;
        }
        let now = self.base.now();
        let id = WatchId::from_bits(self.base.ids.generate());
        let (trigger, auto_book) = (new.trigger, new.auto_book);
        let watch = Watch::new(id, owner.clone(), new.query, trigger, auto_book, now);
        let mut write = UnitOfWork::new(now);
        claim_in(&mut write, key, watch.id.as_str());
        write.insert_watch(&watch);
        let change = audited_watch(AuditAction::WatchCreated, None, &watch);
        audit_in(&mut write, &self.base, &context.actor, change);
        let conflict = Conflict::IdempotencyKeyExists;
        if !self.base.commit_unless(conflict, write).await? {
            let stored = self.find_existing(owner, key).await?;
            let stored = stored.ok_or(WatchError::TooManyConflicts)?;
            return Ok(Created::Existing(stored));
        }
        let last_observed = None;
        let stored = StoredWatch {
            watch,
            last_observed,
        };
        Ok(Created::New(stored))
    }

    /// Returns an owner's watch.
    ///
    /// # Errors
    /// [`WatchError::NotFound`] or [`WatchError::Storage`].
    pub async fn find(&self, owner: &Owner, id: &WatchId) -> Result<StoredWatch, WatchError> {
        let stored = self.base.store.watch(owner, id).await?;
        stored.ok_or(WatchError::NotFound)
    }

    /// Lists an owner's watches, newest first, with the number of all watches that match the filter.
    pub async fn list(
        &self,
        owner: &Owner,
        filter: WatchFilter,
        page: PageRequest,
    ) -> Result<(Page<StoredWatch>, u64), WatchError> {
        let watches = self.base.store.watches(owner, filter, page).await?;
        let total = self.base.store.count_watches(owner, filter).await?;
        Ok((watches, total))
    }

    /// Lists the events of an organization's watches after an event, oldest first.
    ///
    /// # Errors
    /// [`WatchError::EventNotFound`] if the log does not contain `after`, or
    /// [`WatchError::Storage`].
    pub async fn list_events(
        &self,
        tenant: &Tenant,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Vec<WatchLogEntry>, WatchError> {
        let store = &self.base.store;
        let entries = store.watch_log_entries(tenant, after, limit).await?;
        entries.ok_or(WatchError::EventNotFound)
    }

    /// Ends a watch and revokes its mandate.
    ///
    /// # Errors
    /// [`WatchError::NotFound`], [`WatchError::InvalidTransition`] or a storage error.
    pub async fn cancel(&self, context: &RequestContext, id: &WatchId) -> Result<(), WatchError> {
        let owner = &context.owner;
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find(owner, id).await?;
            let now = self.base.now();
            let mut write = UnitOfWork::new(now);
            let event = WatchTransitionEvent::Canceled;
            let details = WatchEventDetails::None;
            if let Some(canceled) = self.apply_event_in(&mut write, &stored, event, &details)? {
                let action = AuditAction::WatchCanceled;
                let change = audited_watch(action, Some(&stored.watch), &canceled.watch);
                audit_in(&mut write, &self.base, &context.actor, change);
            }
            if let Some(id) = &stored.watch.mandate_id
                && let Some(mandate) = self.base.store.mandate(&owner.tenant, id).await?
            {
                // A mandate that has already ended needs no revocation.
                if let Ok(Some(revoked)) = mandate.clone().apply(MandateEvent::Revoked, now) {
                    write.update_mandate(&revoked, mandate.version);
                    let change = audited::revoked(&mandate, &revoked, now);
                    audit_in(&mut write, &self.base, &context.actor, change);
                }
            }
            if self.base.try_commit(write).await? {
                return Ok(());
            }
        }
        Err(WatchError::TooManyConflicts)
    }

    /// Signs the mandate of a watch that is not armed, so that it buys; once for each key.
    pub async fn confirm_purchase(
        &self,
        context: &RequestContext,
        id: &WatchId,
        key: Option<&IdempotentRequest>,
    ) -> Result<StoredWatch, WatchError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let stored = self.find(&context.owner, id).await?;
            if self.base.find_idempotent_result(key).await?.is_some() {
                return Ok(stored);
            }
            let mut write = UnitOfWork::new(self.base.now());
            claim_in(&mut write, key, id.as_str());
            let is_armed = stored.watch.is_armed() && stored.watch.status().is_open();
            let confirmed = if is_armed {
                stored
            } else {
                self.arm(&mut write, &context.actor, stored).await?
            };
            if self.base.try_commit(write).await? {
                return Ok(confirmed);
            }
        }
        Err(WatchError::TooManyConflicts)
    }

    /// Signs the mandate of a watch and adds it and the armed watch to `write`.
    async fn arm(
        &self,
        write: &mut UnitOfWork,
        actor: &Actor,
        stored: StoredWatch,
    ) -> Result<StoredWatch, WatchError> {
        let new = mandate_for(&stored.watch)?;
        let owner = &stored.watch.owner;
        let mandate = self.mandates.sign_in(write, owner, new).await?;
        audit_in(write, &self.base, actor, audited::issued(&mandate));
        let event = WatchTransitionEvent::Armed {
            mandate: mandate.terms.id,
        };
        let armed = self.apply_event_in(write, &stored, event, &WatchEventDetails::None)?;
        let Some(armed) = armed else {
            return Ok(stored);
        };
        let action = AuditAction::WatchConfirmed;
        let change = audited_watch(action, Some(&stored.watch), &armed.watch);
        audit_in(write, &self.base, actor, change);
        Ok(armed)
    }

    /// Applies an event to a watch and adds all consequences to `write`: the changed watch, the
    /// event for its organization, and the purchase that is due. Returns `None` if nothing changes.
    ///
    /// # Errors
    /// The event does not apply to the watch's state.
    pub fn apply_event_in(
        &self,
        write: &mut UnitOfWork,
        stored: &StoredWatch,
        event: WatchTransitionEvent,
        details: &WatchEventDetails,
    ) -> Result<Option<StoredWatch>, booking::InvalidTransition> {
        let now = self.base.now();
        let Some(transition) = stored.watch.clone().apply(event, now)? else {
            return Ok(None);
        };
        let (watch, last_observed) = (transition.watch, stored.last_observed);
        write.update_watch(&watch, stored.watch.version);
        if transition.is_check_due {
            write.schedule_price_check(&watch);
        }
        if transition.is_purchase_due {
            write.schedule_job(PURCHASE_JOB_KIND, watch.id.as_str(), now);
        }
        if let Some(kind) = transition.notification {
            let id = EventId::from_bits(self.base.ids.generate());
            let event = OutboxEvent {
                payload: watch_event_payload(&id, kind, now, &watch, last_observed, details),
                id,
                event_type: kind.as_str().to_owned(),
                product: Product::Watch,
                booking_id: watch.booking_id().cloned(),
                created_at: now,
            };
            write.publish(&watch.owner.tenant, &event);
        }
        Ok(Some(StoredWatch {
            watch,
            last_observed,
        }))
    }

    /// Returns the watch that the same request created before, if it did.
    async fn find_existing(
        &self,
        owner: &Owner,
        key: Option<&IdempotentRequest>,
    ) -> Result<Option<StoredWatch>, WatchError> {
        let Some(watch_id) = self.base.find_idempotent_result(key).await? else {
            return Ok(None);
        };
        let id = WatchId::parse(&watch_id).map_err(|_| WatchError::NotFound)?;
        self.find(owner, &id).await.map(Some)
    }
}

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
        expires_at: Some(watch.expires_at),
    })
}
