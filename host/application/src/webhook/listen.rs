//! Programs that fetch the events of their organization, because they have no public address.

use crate::base::Base;
use crate::context::RequestContext;
use crate::storage_failure::StorageFailure;
use host_domain::event::EventType;
use host_domain::id::{EventId, ListenSessionId};
use host_domain::time::Timestamp;
use host_domain::webhook::ListenSession;
use host_storage::{CommitError, Conflict, DatabaseError, OutboxEvent, UnitOfWork, WorkQueue};
use std::time::Duration;
use tokio::time::Instant;

/// Time after which a session that is not renewed ends.
const SESSION_S: i64 = 60;
/// Maximum time that a call waits for an event.
const WAIT_MAX: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time by which an event may be stored later than one with a higher id. Events of this time are
/// returned again, and callers drop those that they know.
const OVERLAP_MS: i64 = 10 * 1000;
const BATCH_SIZE: u32 = 200;
/// Ids begin with their time: 48 of 128 bits, which are 12 hexadecimal digits.
const TIME_SHIFT: u32 = 80;
const TIME_DIGITS: usize = 12;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The session has ended or never existed.
    #[error("the session does not exist")]
    NotFound,
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
    pub(crate) base: Base,
}

impl ListenService {
    /// Begins a session, which receives events of these types, or of all if there are none. Returns
    /// it with the position after which its events begin.
    ///
    /// # Errors
    /// [`ListenError::Storage`].
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
        write.insert_listen_session(&session);
        self.base.store.commit(write).await?;
        Ok((session, first_id_at(now)))
    }

    /// Renews a session, waits up to `wait` for an event after `after`, and returns the events that
    /// follow.
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
        let mut write = self.base.unit_of_work();
        write.renew_listen_session(tenant, id, self.base.now().plus_s(SESSION_S));
        store.commit(write).await?;
        let begin = overlap_before(after, session.created_at);
        let end = Instant::now() + wait.min(WAIT_MAX).min(context.deadline.remaining() / 2);
        // Each event that is stored wakes the workers that send deliveries.
        let mut wakeups = store.subscribe_wakeups(WorkQueue::Deliveries);
        loop {
            let mut found = store
                .outbox_events_after(tenant, &begin, BATCH_SIZE)
                .await?;
            if found.len() >= usize::try_from(BATCH_SIZE).unwrap_or(usize::MAX) {
                // The overlap alone may fill a batch.
                let rest = store.outbox_events_after(tenant, after, BATCH_SIZE);
                found.extend(rest.await?);
            }
            let last = found.last().filter(|last| last.id > *after);
            if last.is_some() || Instant::now() >= end {
                return Ok(ListenedEvents {
                    next: last.map_or_else(|| after.clone(), |last| last.id.clone()),
                    events: received(&session, found),
                });
            }
            wakeups.wait(POLL_INTERVAL).await;
        }
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

/// Returns the position from which events are read again, at the earliest the beginning of the
/// session.
fn overlap_before(after: &EventId, session_begin: Timestamp) -> EventId {
    let time = after
        .as_str()
        .get(EventId::PREFIX.len()..EventId::PREFIX.len() + TIME_DIGITS);
    let time = time.and_then(|digits| i64::from_str_radix(digits, 16).ok());
    let Some(time) = time else {
        return after.clone();
    };
    first_id_at(Timestamp(time).plus_ms(-OVERLAP_MS).max(session_begin))
}
