//! Idempotency keys of requests and the resources that the requests created.

use crate::statement::statement;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::owner::Owner;
use host_domain::time::Timestamp;

/// A caller's idempotency key with its scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    pub owner: Owner,
    pub operation: String,
    /// The key in the caller's spelling.
    pub key: String,
}

impl IdempotencyKey {
    #[must_use]
    pub fn new(owner: &Owner, operation: &str, key: &str) -> Self {
        Self {
            owner: owner.clone(),
            operation: operation.to_owned(),
            key: key.to_owned(),
        }
    }
}

/// The request that a key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The digest of the parsed request.
    pub fingerprint: String,
    pub resource_id: String,
    /// The refusal as JSON, which replays return again.
    pub refusal: Option<String>,
    /// Time at which the key was first used.
    pub created_at: Timestamp,
}

impl UnitOfWork {
    /// Stores a key. Fails with [`Conflict::IdempotencyKeyExists`] if it was used before.
    pub fn insert_idempotency_key(
        &mut self,
        key: &IdempotencyKey,
        fingerprint: &str,
        resource_id: &str,
    ) -> &mut Self {
        let insert = statement!(
            "INSERT INTO idempotency_record (organization, mode, user_id, operation, \
             idempotency_key, fingerprint, resource_id, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            &key.owner.tenant,
            key.owner.user.as_str(),
            key.operation.as_str(),
            key.key.as_str(),
            fingerprint,
            resource_id,
            self.now,
        );
        self.add_expecting_one(insert, Conflict::IdempotencyKeyExists)
    }

    /// Stores a refusal as JSON, which replays return. Fails with
    /// [`Conflict::IdempotencyKeyNotFound`] if the key is not stored.
    pub fn store_idempotent_refusal(&mut self, key: &IdempotencyKey, refusal: &str) -> &mut Self {
        let update = statement!(
            "UPDATE idempotency_record SET refusal = $6 WHERE organization = $1 AND mode = $2 \
             AND user_id = $3 AND operation = $4 AND idempotency_key = $5",
            &key.owner.tenant,
            key.owner.user.as_str(),
            key.operation.as_str(),
            key.key.as_str(),
            refusal,
        );
        self.add_expecting_one(update, Conflict::IdempotencyKeyNotFound)
    }

    /// Deletes a key because the request had no effect. A key that is not stored is ignored.
    pub fn delete_idempotency_key(&mut self, key: &IdempotencyKey) -> &mut Self {
        self.add(statement!(
            "DELETE FROM idempotency_record WHERE organization = $1 AND mode = $2 \
             AND user_id = $3 AND operation = $4 AND idempotency_key = $5",
            &key.owner.tenant,
            key.owner.user.as_str(),
            key.operation.as_str(),
            key.key.as_str(),
        ))
    }

    /// Deletes a key that still refers to this resource, because the resource was not created. A key
    /// with a stored refusal is kept.
    pub fn delete_idempotency_key_of(
        &mut self,
        key: &IdempotencyKey,
        resource_id: &str,
    ) -> &mut Self {
        self.add(statement!(
            "DELETE FROM idempotency_record WHERE organization = $1 AND mode = $2 \
             AND user_id = $3 AND operation = $4 AND idempotency_key = $5 AND resource_id = $6 \
             AND refusal IS NULL",
            &key.owner.tenant,
            key.owner.user.as_str(),
            key.operation.as_str(),
            key.key.as_str(),
            resource_id,
        ))
    }
}

impl Store {
    /// Returns the request that a key was used for.
    pub async fn idempotency_record(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<IdempotencyRecord>, DatabaseError> {
        let select = statement!(
            "SELECT fingerprint, resource_id, refusal, created_at FROM idempotency_record \
             WHERE organization = $1 AND mode = $2 \
             AND user_id = $3 AND operation = $4 AND idempotency_key = $5",
            &key.owner.tenant,
            key.owner.user.as_str(),
            key.operation.as_str(),
            key.key.as_str(),
        );
        self.read_optional(select, |row| {
            Ok(IdempotencyRecord {
                fingerprint: row.get("fingerprint")?,
                resource_id: row.get("resource_id")?,
                refusal: row.get("refusal")?,
                created_at: row.timestamp("created_at")?,
            })
        })
        .await
    }
}
