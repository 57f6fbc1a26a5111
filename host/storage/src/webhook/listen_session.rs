//! Programs that fetch events, and the events that they fetch.

use crate::condition::ConditionBuilder;
use crate::event::{OutboxEvent, read_outbox};
use crate::statement::{Row, statement};
use crate::wakeup::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::console::TenantScope;
use host_domain::id::{EventId, ListenSessionId};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::ListenSession;

impl UnitOfWork {
    /// Stores an event for the programs that listen, without deliveries to subscriptions. Fails with
    /// [`Conflict::EventExists`] if the event exists.
    pub fn publish_to_sessions(&mut self, tenant: &Tenant, event: &OutboxEvent) -> &mut Self {
        self.wakeups.insert(WorkQueue::Deliveries);
        self.insert_outbox_event(tenant, event)
    }

    /// Stores a new session, and deletes all that have expired. Fails with
    /// [`Conflict::ListenSessionLimit`] if the tenant has `sessions_max` already.
    pub fn insert_listen_session(
        &mut self,
        session: &ListenSession,
        sessions_max: u32,
    ) -> &mut Self {
        self.add(statement!(
            "DELETE FROM listen_session WHERE expires_at <= $1",
            self.now
        ));
        let event_types = self.encode_json(&session.event_types);
        let insert = statement!(
            "INSERT INTO listen_session (organization, mode, id, event_types, created_at, \
             expires_at) SELECT $1, $2, $3, $4, $5, $6 \
             WHERE (SELECT COUNT(*) FROM listen_session \
                    WHERE organization = $1 AND mode = $2) < $7",
            &session.tenant,
            session.id.as_str(),
            event_types,
            session.created_at,
            session.expires_at,
            sessions_max,
        );
        self.add_expecting_one(insert, Conflict::ListenSessionLimit)
    }

    /// Renews a session. Fails with [`Conflict::ListenSessionNotFound`] if it does not exist.
    pub fn renew_listen_session(
        &mut self,
        tenant: &Tenant,
        id: &ListenSessionId,
        expires_at: Timestamp,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE listen_session SET expires_at = $4 \
             WHERE organization = $1 AND mode = $2 AND id = $3",
            tenant,
            id.as_str(),
            expires_at,
        );
        self.add_expecting_one(update, Conflict::ListenSessionNotFound)
    }

    /// Deletes a session. Fails with [`Conflict::ListenSessionNotFound`] if it does not exist.
    pub fn delete_listen_session(&mut self, tenant: &Tenant, id: &ListenSessionId) -> &mut Self {
        let delete = statement!(
            "DELETE FROM listen_session WHERE organization = $1 AND mode = $2 AND id = $3",
            tenant,
            id.as_str(),
        );
        self.add_expecting_one(delete, Conflict::ListenSessionNotFound)
    }
}

impl Store {
    pub async fn listen_session(
        &self,
        tenant: &Tenant,
        id: &ListenSessionId,
    ) -> Result<Option<ListenSession>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM listen_session \
                 WHERE organization = $1 AND mode = $2 AND id = $3"
            ),
            tenant,
            id.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns at most `limit` sessions of a scope that have not expired, newest first.
    pub async fn listen_sessions(
        &self,
        scope: &TenantScope,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListenSession>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        conditions.add("expires_at >", now);
        let (condition, limit) = (conditions.text(), conditions.bind(limit));
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM listen_session WHERE {condition} \
             ORDER BY created_at DESC, id DESC LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }

    /// Returns at most `limit` events of a tenant whose ids follow `after`, in the order of their
    /// ids, which begin with the time of creation. An event may be stored later than one with a
    /// higher id.
    pub async fn outbox_events_after(
        &self,
        tenant: &Tenant,
        after: &EventId,
        limit: u32,
    ) -> Result<Vec<OutboxEvent>, DatabaseError> {
        let select = statement!(
            "SELECT id, event_type, product, booking_id, payload, created_at FROM outbox \
             WHERE organization = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4",
            tenant,
            after.as_str(),
            limit,
        );
        self.read_all(select, read_outbox).await
    }
}

const COLUMNS: &str = "organization, mode, id, event_types, created_at, expires_at";

fn read(row: &Row) -> Result<ListenSession, DatabaseError> {
    Ok(ListenSession {
        id: row.parsed("id", ListenSessionId::parse)?,
        tenant: row.tenant()?,
        event_types: row.json("event_types")?,
        created_at: row.timestamp("created_at")?,
        expires_at: row.timestamp("expires_at")?,
    })
}
