//! API keys. Only their digests are stored, never the keys.

use crate::condition::{ConditionBuilder, escape_pattern};
use crate::statement::{Row, Value, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::console::{ApiKeyFilter, ApiKeyStatus, TenantScope};
use host_domain::id::KeyId;
use host_domain::owner::Tenant;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;

/// The resolution of [`ApiKey::last_used_at`], so that not every call writes the row.
const LAST_USED_RESOLUTION_MS: i64 = 60_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    /// The organization and mode that the key gives access to.
    pub tenant: Tenant,
    pub name: String,
    pub scopes: Vec<String>,
    /// The key's beginning and its last four characters, enough for a person to recognise it.
    pub masked_key: String,
    pub created_at: Timestamp,
    /// Time at which the key expires; `None` if it does not.
    pub expires_at: Option<Timestamp>,
    /// Time at which the key was last used, with a resolution of one minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Returns the status at `now`.
    pub fn status(&self, now: Timestamp) -> ApiKeyStatus {
        if self.revoked_at.is_some() {
            ApiKeyStatus::Revoked
        } else if self.expires_at.is_some_and(|end| end <= now) {
            ApiKeyStatus::Expired
        } else {
            ApiKeyStatus::Active
        }
    }
}

impl UnitOfWork {
    /// Stores a new key with the SHA-256 digest of the whole key. Fails with
    /// [`Conflict::ApiKeyExists`] if the id or digest exists.
    pub fn insert_api_key(&mut self, key: &ApiKey, sha256: &[u8; 32]) -> &mut Self {
        let scopes = self.encode_json(&key.scopes);
        let insert = statement!(
            "INSERT INTO api_key (organization, mode, id, name, scopes, masked_key, sha256, \
             created_at, expires_at, last_used_at, revoked_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
            &key.tenant,
            key.id.as_str(),
            key.name.as_str(),
            scopes,
            key.masked_key.as_str(),
            sha256.as_slice(),
            key.created_at,
            key.expires_at,
            key.last_used_at,
            key.revoked_at,
        );
        self.add_expecting_one(insert, Conflict::ApiKeyExists)
    }

    /// Revokes a key. Fails with [`Conflict::ApiKeyRevoked`] if it is revoked already or does not
    /// exist.
    pub fn revoke_api_key(&mut self, id: &KeyId, now: Timestamp) -> &mut Self {
        let update = statement!(
            "UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
            id.as_str(),
            now,
        );
        self.add_expecting_one(update, Conflict::ApiKeyRevoked)
    }
}

impl Store {
    /// Returns the key with this SHA-256 digest, even if it is revoked or expired.
    pub async fn api_key_by_hash(
        &self,
        sha256: &[u8; 32],
    ) -> Result<Option<ApiKey>, DatabaseError> {
        let select = statement!(
            format!("SELECT {COLUMNS} FROM api_key WHERE sha256 = $1"),
            sha256.as_slice(),
        );
        self.read_optional(select, read).await
    }

    /// Returns all keys, or those of one organization, oldest first.
    pub async fn api_keys(&self, organization: Option<&str>) -> Result<Vec<ApiKey>, DatabaseError> {
        let condition = organization.map_or("", |_| "WHERE organization = $1");
        let mut select = statement!(format!(
            "SELECT {COLUMNS} FROM api_key {condition} ORDER BY created_at, id"
        ));
        select.args.extend(organization.map(Value::from));
        self.read_all(select, read).await
    }

    /// Returns a key, even if it is revoked or expired.
    pub async fn api_key_unscoped(&self, id: &KeyId) -> Result<Option<ApiKey>, DatabaseError> {
        let select = statement!(
            format!("SELECT {COLUMNS} FROM api_key WHERE id = $1"),
            id.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns the keys of a scope that match, newest first. `now` decides which keys are expired.
    pub async fn api_key_page(
        &self,
        scope: &TenantScope,
        filter: &ApiKeyFilter,
        now: Timestamp,
        page: &CursorRequest,
    ) -> Result<CursorPage<ApiKey>, DatabaseError> {
        let mut conditions = key_conditions(scope, filter, now);
        let order = conditions.cursor_order("created_at", "id", page);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT {COLUMNS} FROM api_key WHERE {condition} {order}"
        ));
        let cursor = |key: &ApiKey| Cursor::new(key.created_at, key.id.as_str());
        self.read_cursor_page(select, page, read, cursor).await
    }

    /// Returns the number of keys that match on all pages.
    pub async fn count_api_keys(
        &self,
        scope: &TenantScope,
        filter: &ApiKeyFilter,
        now: Timestamp,
    ) -> Result<u64, DatabaseError> {
        let conditions = key_conditions(scope, filter, now);
        self.read_count(conditions.count("api_key")).await
    }

    /// Records that a key is in use, at most once a minute.
    pub async fn touch_api_key(&self, key: &ApiKey, now: Timestamp) -> Result<(), DatabaseError> {
        let fresh = |at: Timestamp| now.since(at) < LAST_USED_RESOLUTION_MS;
        if key.last_used_at.is_some_and(fresh) {
            return Ok(());
        }
        let update = statement!(
            "UPDATE api_key SET last_used_at = $4 \
             WHERE organization = $1 AND mode = $2 AND id = $3 \
             AND (last_used_at IS NULL OR last_used_at <= $5)",
            &key.tenant,
            key.id.as_str(),
            now,
            now.plus_ms(-LAST_USED_RESOLUTION_MS),
        );
        self.execute_statement(update).await.map(|_| ())
    }
}

fn key_conditions(scope: &TenantScope, filter: &ApiKeyFilter, now: Timestamp) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::for_scope(scope);
    if let Some(text) = &filter.text {
        let pattern = conditions.bind(format!("%{}%", escape_pattern(text)));
        conditions.add_text(format!(
            "(LOWER(name) LIKE {pattern} ESCAPE '!' OR LOWER(masked_key) LIKE {pattern} ESCAPE '!')"
        ));
    }
    match filter.status {
        None => {}
        Some(ApiKeyStatus::Revoked) => conditions.add_text("revoked_at IS NOT NULL".to_owned()),
        Some(ApiKeyStatus::Expired) => {
            conditions.add_text("revoked_at IS NULL".to_owned());
            conditions.add("expires_at <=", now);
        }
        Some(ApiKeyStatus::Active) => {
            let now = conditions.bind(now);
            conditions.add_text(format!(
                "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > {now})"
            ));
        }
    }
    conditions
}

const COLUMNS: &str = "organization, mode, id, name, scopes, masked_key, created_at, expires_at, \
    last_used_at, revoked_at";

fn read(row: &Row) -> Result<ApiKey, DatabaseError> {
    Ok(ApiKey {
        id: row.parsed("id", KeyId::parse)?,
        tenant: row.tenant()?,
        name: row.get("name")?,
        scopes: row.json("scopes")?,
        masked_key: row.get("masked_key")?,
        created_at: row.timestamp("created_at")?,
        expires_at: row.timestamp_opt("expires_at")?,
        last_used_at: row.timestamp_opt("last_used_at")?,
        revoked_at: row.timestamp_opt("revoked_at")?,
    })
}
