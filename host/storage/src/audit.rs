//! The audit log: changes that wait for their place in the chain, and the chain. Entries of the
//! chain are never updated or deleted; triggers refuse it.

use crate::condition::ConditionBuilder;
use crate::statement::{Row, Statement, statement, text_array};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::audit::{ActorKind, AuditFilter, AuditScope};
use host_domain::id::{AccountId, AuditEntryId, KeyId};
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use serde::Serialize;
use serde_json::json;

/// A change that is not in the chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAuditEntry {
    pub id: AuditEntryId,
    pub at: Timestamp,
    /// The entry without its place in the chain: a JSON object.
    pub body: String,
}

/// An entry of the chain. The columns besides the body repeat parts of it, so that lists find them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAuditEntry {
    pub sequence: i64,
    pub at: Timestamp,
    /// Empty if the change concerns the whole installation.
    pub organization: String,
    /// The name of the mode, empty if the change concerns both.
    pub mode: String,
    /// The name of the actor's kind.
    pub actor_kind: String,
    pub actor_id: String,
    pub actor_name: String,
    pub action: String,
    pub target_id: String,
    /// The whole entry except its hash: canonical JSON.
    pub body: String,
    /// The SHA-256 digest of the body in hexadecimal.
    pub hash: String,
}

/// The end of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditChainEnd {
    /// The sequence number and the hash of the last entry. `None` if there is no entry.
    pub last: Option<(i64, String)>,
    /// Whether a change waits for its place in the chain.
    pub has_pending: bool,
}

impl UnitOfWork {
    /// Stores a change that waits for its place in the chain. `body` is encoded as JSON.
    pub fn insert_pending_audit_entry<T: Serialize>(
        &mut self,
        id: &AuditEntryId,
        at: Timestamp,
        body: &T,
    ) -> &mut Self {
        let body = self.encode_json(body);
        let insert = statement!(
            "INSERT INTO audit_pending (id, at, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            id.as_str(),
            at,
            body,
        );
        self.add_expecting_one(insert, Conflict::AuditEntryExists)
    }

    /// Appends entries to the chain, in the order of their sequence numbers, and deletes the
    /// pending changes that they are made of. Fails with [`Conflict::AuditEntryExists`] if another
    /// process appended first.
    pub fn append_audit_entries(
        &mut self,
        entries: &[StoredAuditEntry],
        pending: &[AuditEntryId],
    ) -> &mut Self {
        let Some((first, rest)) = entries.split_first() else {
            return self;
        };
        // Whoever inserts the first row appends all rows. The others are not counted.
        self.add_expecting_one(insert_entries([first]), Conflict::AuditEntryExists);
        if !rest.is_empty() {
            self.add(insert_entries(rest));
        }
        let pending = text_array(pending.iter().map(AuditEntryId::as_str));
        self.add(statement!(
            "DELETE FROM audit_pending WHERE id {in $1}",
            pending
        ))
    }
}

fn insert_entries<'a>(entries: impl IntoIterator<Item = &'a StoredAuditEntry>) -> Statement {
    let rows = entries.into_iter().map(|entry| {
        json!({
            "sequence": entry.sequence,
            "at": entry.at.0,
            "organization": entry.organization,
            "mode": entry.mode,
            "actor_kind": entry.actor_kind,
            "actor_id": entry.actor_id,
            "actor_name": entry.actor_name,
            "action": entry.action,
            "target_id": entry.target_id,
            "body": entry.body,
            "hash": entry.hash,
        })
    });
    statement!(
        "INSERT INTO audit_log (sequence, at, organization, mode, actor_kind, actor_id, actor_name, \
         action, target_id, body, hash) \
         SELECT CAST(item.value ->> 'sequence' AS BIGINT), CAST(item.value ->> 'at' AS BIGINT), \
           item.value ->> 'organization', item.value ->> 'mode', \
           item.value ->> 'actor_kind', item.value ->> 'actor_id', \
           item.value ->> 'actor_name', item.value ->> 'action', item.value ->> 'target_id', \
           item.value ->> 'body', item.value ->> 'hash' \
         FROM {each $1} WHERE TRUE ON CONFLICT DO NOTHING",
        serde_json::Value::from_iter(rows).to_string(),
    )
}

impl Store {
    /// Returns the oldest changes that wait for their place in the chain.
    pub async fn pending_audit_entries(
        &self,
        limit: u32,
    ) -> Result<Vec<PendingAuditEntry>, DatabaseError> {
        let select = statement!(
            "SELECT id, at, body FROM audit_pending ORDER BY id LIMIT $1",
            limit,
        );
        self.read_all(select, |row| {
            Ok(PendingAuditEntry {
                id: row.parsed("id", AuditEntryId::parse)?,
                at: row.timestamp("at")?,
                body: row.get("body")?,
            })
        })
        .await
    }

    /// Returns the end of the chain.
    pub async fn audit_chain_end(&self) -> Result<AuditChainEnd, DatabaseError> {
        let select = statement!(
            "SELECT last.sequence, last.hash, pending.number \
             FROM (SELECT COUNT(*) AS number \
               FROM (SELECT 1 FROM audit_pending LIMIT 1) AS first) AS pending \
             LEFT JOIN (SELECT sequence, hash FROM audit_log \
               ORDER BY sequence DESC LIMIT 1) AS last ON TRUE"
        );
        let end = self.read_optional(select, |row| {
            let sequence: Option<i64> = row.get("sequence")?;
            let hash: Option<String> = row.get("hash")?;
            Ok(AuditChainEnd {
                last: sequence.zip(hash),
                has_pending: row.get::<i64>("number")? > 0,
            })
        });
        Ok(end.await?.unwrap_or_default())
    }

    /// Returns the entries after a sequence number, in the order of the chain.
    pub async fn audit_entries_after(
        &self,
        sequence: i64,
        limit: u32,
    ) -> Result<Vec<StoredAuditEntry>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM audit_log WHERE sequence > $1 ORDER BY sequence LIMIT $2"
            ),
            sequence,
            limit,
        );
        self.read_all(select, read).await
    }

    /// Returns the entries of a scope that match, after one sequence number and up to another one, in
    /// the order of the chain.
    pub async fn audit_entries_between(
        &self,
        scope: &AuditScope,
        filter: &AuditFilter,
        (after, until): (i64, i64),
        limit: u32,
    ) -> Result<Vec<StoredAuditEntry>, DatabaseError> {
        let mut conditions = audit_conditions(scope, filter);
        conditions.add("sequence >", after);
        conditions.add("sequence <=", until);
        let limit = conditions.bind(limit);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM audit_log WHERE {condition} ORDER BY sequence LIMIT {limit}"
        ));
        self.read_all(select, read).await
    }

    /// Returns the entries of a scope that match, latest first. The id of a cursor is a sequence
    /// number; a cursor with another id is that of no entry, and nothing follows it.
    pub async fn audit_page(
        &self,
        scope: &AuditScope,
        filter: &AuditFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<StoredAuditEntry>, DatabaseError> {
        let mut conditions = audit_conditions(scope, filter);
        if let Some(after) = &page.after {
            let sequence = after.id.parse().unwrap_or(i64::MIN);
            let (at, sequence) = (conditions.bind(after.at), conditions.bind(sequence));
            conditions.add_text(format!("(at, sequence) < ({at}, {sequence})"));
        }
        let limit = conditions.bind(page.limit.saturating_add(1));
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM audit_log WHERE {condition} \
             ORDER BY at DESC, sequence DESC LIMIT {limit}"
        ));
        let cursor = |entry: &StoredAuditEntry| Cursor::new(entry.at, entry.sequence.to_string());
        self.read_cursor_page(select, page, read, cursor).await
    }
}

fn audit_conditions(scope: &AuditScope, filter: &AuditFilter) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::default();
    match scope.organizations.as_deref() {
        None => {}
        // A single value lets the index give the order.
        Some([organization]) => conditions.add("organization =", organization.as_str()),
        Some(organizations) => {
            let list = conditions.bind(text_array(organizations.iter().map(String::as_str)));
            conditions.add_text(format!("organization {{in {list}}}"));
        }
    }
    if let Some(mode) = scope.mode {
        let mode = conditions.bind(mode);
        conditions.add_text(format!("mode IN ('', {mode})"));
    }
    if let Some(actor) = filter.actor.as_deref() {
        let is_id = AccountId::parse(actor).is_ok() || KeyId::parse(actor).is_ok();
        let column = match (ActorKind::parse(actor), is_id) {
            (Some(_), _) => "actor_kind =",
            (None, true) => "actor_id =",
            (None, false) => "actor_name =",
        };
        conditions.add(column, actor);
    }
    conditions.add_some("action =", filter.action.map(|action| action.as_str()));
    conditions.add_some("target_id =", filter.target.as_deref());
    conditions.add("at >=", filter.from.unwrap_or(Timestamp(0)));
    if let Some(until) = filter.until {
        conditions.add("at <", until);
    }
    conditions
}

const COLUMNS: &str = "sequence, at, organization, mode, actor_kind, actor_id, actor_name, action, target_id, \
    body, hash";

fn read(row: &Row) -> Result<StoredAuditEntry, DatabaseError> {
    Ok(StoredAuditEntry {
        sequence: row.get("sequence")?,
        at: row.timestamp("at")?,
        organization: row.get("organization")?,
        mode: row.get("mode")?,
        actor_kind: row.get("actor_kind")?,
        actor_id: row.get("actor_id")?,
        actor_name: row.get("actor_name")?,
        action: row.get("action")?,
        target_id: row.get("target_id")?,
        body: row.get("body")?,
        hash: row.get("hash")?,
    })
}
