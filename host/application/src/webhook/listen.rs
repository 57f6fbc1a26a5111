//! Programs that fetch the events of their organization, because they have no public address.

use crate::base::Base;
use crate::context::RequestContext;
use crate::storage_failure::StorageFailure;
use crate::webhook::ping::ping_event;
use host_domain::event::{EventType, Product};
use host_domain::id::{EventId, ListenSessionId, SubscriptionId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::ListenSession;
use host_storage::{CommitError, Conflict, DatabaseError, OutboxEvent, UnitOfWork, WorkQueue};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Time after which a session that is not renewed ends.
const SESSION_S: i64 = 60;
/// Maximum number of sessions of a tenant.
const SESSIONS_MAX: u32 = 10;
/// Maximum time that a call waits for an event.
const WAIT_MAX: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time by which an event may be stored later than one with a higher id. Events of this time are
/// returned again, and callers drop those that they know.
const OVERLAP_MS: i64 = 10 * 1000;
/// Age of the oldest position from which a call reads on.
const POSITION_AGE_MAX_S: i64 = 24 * 60 * 60;
const BATCH_SIZE: u32 = 200;
/// Ids begin with their time: 48 of 128 bits, which are 12 hexadecimal digits.
const TIME_SHIFT: u32 = 80;
const TIME_DIGITS: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The session has ended or never existed.
    #[error("the session does not exist")]
    NotFound,
    #[error("the organization has {SESSIONS_MAX} sessions already")]
    TooManySessions,
    /// A session has one call at a time on each process.
    #[error("another call of the session waits for events")]
    CallInProgress,
    #[error("the session could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for ListenError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for ListenError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Conflict(Conflict::ListenSessionNotFound) => Self::NotFound,
            CommitError::Conflict(Conflict::ListenSessionLimit) => Self::TooManySessions,
            error => Self::Storage(error.into()),
        }
    }
}

/// An event as a program receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenedEvent {
    pub id: EventId,
    /// Name of the type.
    pub event_type: String,
    /// The body, byte for byte as it is signed.
    pub payload: String,
}

/// Events in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenedEvents {
    /// Some may have been returned before.
    pub events: Vec<ListenedEvent>,
    /// The position after which the next call continues.
    pub next: EventId,
}

/// Lets programs fetch events.
pub struct ListenService {
    base: Base,
    /// Sessions with a call in progress.
    calls: Arc<Mutex<HashSet<ListenSessionId>>>,
}

/// A call in progress.
struct CallSlot {
    calls: Arc<Mutex<HashSet<ListenSessionId>>>,
    id: ListenSessionId,
}

impl CallSlot {
    /// Returns `None` if the session has a call in progress.
    fn take(calls: &Arc<Mutex<HashSet<ListenSessionId>>>, id: &ListenSessionId) -> Option<Self> {
        let mut open = calls.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(id.clone()).then(|| Self {
            calls: Arc::clone(calls),
            id: id.clone(),
        })
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        let mut open = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&self.id);
    }
}

impl ListenService {
    pub(crate) fn new(base: Base) -> Self {
        Self {
            base,
            calls: Arc::default(),
        }
    }

    /// Begins a session, which receives events of these types, or of all if there are none. Returns
    /// it with the position after which its events begin.
    ///
    /// # Errors
    /// [`ListenError::TooManySessions`], [`ListenError::Storage`].
    pub async fn begin(
        &self,
        context: &RequestContext,
        event_types: Vec<EventType>,
    ) -> Result<(ListenSession, EventId), ListenError> {
        let now = self.base.now();
        let session = ListenSession {
            id: ListenSessionId::from_bits(self.base.ids.generate()),
            tenant: context.owner.tenant.clone(),
            event_types,
            created_at: now,
            expires_at: now.plus_s(SESSION_S),
        };
        let mut write = UnitOfWork::new(now);
        write.insert_listen_session(&session, SESSIONS_MAX);
        self.base.store.commit(write).await?;
        Ok((session, first_id_at(now)))
    }

    /// Renews a session, waits up to `wait` for an event after `after`, and returns the events that
    /// follow. A position that is older than a day counts as one day old, and one without a time as
    /// the beginning of the session.
    ///
    /// # Errors
    /// [`ListenError`].
    pub async fn fetch(
        &self,
        context: &RequestContext,
        id: &ListenSessionId,
        after: &EventId,
        wait: Duration,
    ) -> Result<ListenedEvents, ListenError> {
        let (store, tenant) = (&self.base.store, &context.owner.tenant);
        let session = store.listen_session(tenant, id).await?;
        let session = session.ok_or(ListenError::NotFound)?;
        let _slot = CallSlot::take(&self.calls, id).ok_or(ListenError::CallInProgress)?;
        self.renew(&session).await?;
        let after = &known_position(after, session.created_at, self.base.now());
        let begin = overlap_before(after, session.created_at);
        let end = Instant::now() + wait.min(WAIT_MAX).min(context.deadline.remaining() / 2);
        // Each event that is stored wakes the workers that send deliveries.
        let mut wakeups = store.subscribe_wakeups(WorkQueue::Deliveries);
        loop {
            let fresh = store.outbox_events_after(tenant, after, BATCH_SIZE).await?;
            if !fresh.is_empty() || Instant::now() >= end {
                let last = fresh.last().map(|event| event.id.clone());
                let mut found = self.events_until(tenant, begin, after).await?;
                found.extend(fresh);
                return Ok(ListenedEvents {
                    next: last.unwrap_or_else(|| after.clone()),
                    events: received(&session, found),
                });
            }
            wakeups.wait(POLL_INTERVAL).await;
        }
    }

    /// Renews a session if less than half of its time is left.
    async fn renew(&self, session: &ListenSession) -> Result<(), ListenError> {
        let now = self.base.now();
        if session.expires_at > now.plus_s(SESSION_S / 2) {
            return Ok(());
        }
        let mut write = UnitOfWork::new(now);
        write.renew_listen_session(&session.tenant, &session.id, now.plus_s(SESSION_S));
        Ok(self.base.store.commit(write).await?)
    }

    /// Returns the events whose ids follow `after`, up to `last`.
    async fn events_until(
        &self,
        tenant: &Tenant,
        mut after: EventId,
        last: &EventId,
    ) -> Result<Vec<OutboxEvent>, ListenError> {
        let mut found = Vec::new();
        loop {
            let store = &self.base.store;
            let batch = store
                .outbox_events_after(tenant, &after, BATCH_SIZE)
                .await?;
            let next = batch.last().map(|event| event.id.clone());
            found.extend(batch.into_iter().filter(|event| event.id <= *last));
            match next {
                Some(next) if next < *last => after = next,
                Some(_) | None => return Ok(found),
            }
        }
    }

    /// Makes a `ping` for the tenant's sessions only, and returns its id. No subscription receives it:
    /// one that is paused would send it when it is resumed.
    ///
    /// # Errors
    /// [`ListenError::Storage`].
    pub async fn ping(&self, context: &RequestContext) -> Result<EventId, ListenError> {
        // The schema of the event requires an id. No subscription has this one.
        let nobody = SubscriptionId::from_bits(self.base.ids.generate());
        let event = ping_event(&self.base, Product::Hotel, &nobody);
        let mut write = UnitOfWork::new(event.created_at);
        write.publish_to_sessions(&context.owner.tenant, &event);
        self.base.store.commit(write).await?;
        Ok(event.id)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// [`ListenError`].
    pub async fn end(
        &self,
        context: &RequestContext,
        id: &ListenSessionId,
    ) -> Result<(), ListenError> {
        let mut write = self.base.unit_of_work();
        write.delete_listen_session(&context.owner.tenant, id);
        Ok(self.base.store.commit(write).await?)
    }
}

/// Returns the events that a session receives.
fn received(session: &ListenSession, events: Vec<OutboxEvent>) -> Vec<ListenedEvent> {
    let events = events.into_iter();
    let received = events.filter(|event| session.receives(&event.event_type));
    let listened = received.map(|event| ListenedEvent {
        id: event.id,
        event_type: event.event_type,
        payload: event.payload,
    });
    listened.collect()
}

/// Returns the lowest id of an event of a time.
fn first_id_at(at: Timestamp) -> EventId {
    EventId::from_bits(u128::try_from(at.0).unwrap_or(0) << TIME_SHIFT)
}

/// Returns the time with which an id begins, or `None` if it does not begin with one.
fn time_of(id: &EventId) -> Option<Timestamp> {
    let (_, rest) = id.as_str().split_once('_')?;
    let digits = rest.get(..TIME_DIGITS)?;
    // Only lower-case digits have the order of their times.
    let is_time = digits
        .bytes()
        .all(|byte| b"0123456789abcdef".contains(&byte));
    let time = i64::from_str_radix(digits, 16).ok().filter(|_| is_time);
    time.map(Timestamp)
}

/// Returns `after` if it has a time of the last 24 hours, or else the position that it stands for.
/// The whole log is thus not readable through a session.
fn known_position(after: &EventId, session_begin: Timestamp, now: Timestamp) -> EventId {
    let earliest = first_id_at(now.plus_s(-POSITION_AGE_MAX_S));
    match time_of(after) {
        Some(_) => after.clone().max(earliest),
        None => first_id_at(session_begin).max(earliest),
    }
}

/// Returns the position from which events are read again: that of an earlier time than `after`,
/// but not before the beginning of the session unless `after` is.
fn overlap_before(after: &EventId, session_begin: Timestamp) -> EventId {
    let time = time_of(after).unwrap_or(session_begin);
    let earlier = time.plus_ms(-OVERLAP_MS);
    first_id_at(match time >= session_begin {
        true => earlier.max(session_begin),
        false => earlier,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_begins_neither_after_the_position_nor_a_day_before() {
        let (begin, now) = (Timestamp(1_000_000_000_000), Timestamp(1_000_000_050_000));
        let at = |ms| first_id_at(begin.plus_ms(ms));
        let day_ago = first_id_at(now.plus_s(-POSITION_AGE_MAX_S));
        let id = |text| EventId::parse(text).unwrap();
        for (after, position, read_from) in [
            (at(0), at(0), at(0)),
            (at(4_000), at(4_000), at(0)),
            (at(30_000), at(30_000), at(20_000)),
            // The position of an earlier session.
            (at(-90_000), at(-90_000), at(-100_000)),
            (id("evt_-"), at(0), at(0)),
            (id("evt_0"), at(0), at(0)),
            (id("evt_-0000000000a"), at(0), at(0)),
            (id("evt_00E8D4A51000"), at(0), at(0)),
        ] {
            assert_eq!(known_position(&after, begin, now), position, "{after}");
            assert_eq!(overlap_before(&position, begin), read_from, "{after}");
        }
        let old = id("evt_000000000000");
        assert_eq!(known_position(&old, begin, now), day_ago);
    }
}
