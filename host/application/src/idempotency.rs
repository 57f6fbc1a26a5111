//! Idempotency keys. If the state alone makes a repeated call safe, the key only shows whether it
//! is the same request. A call that creates something claims its key in the same transaction, see
//! [`claim_in`].

use crate::base::Base;
use host_domain::owner::Owner;
use host_storage::{
    CommitError, Conflict, DatabaseError, IdempotencyKey, IdempotencyRecord, UnitOfWork,
};

/// An idempotency key with the fingerprint of the request that it belongs to.
#[derive(Debug, Clone)]
pub struct IdempotentRequest {
    pub key: IdempotencyKey,
    pub fingerprint: String,
}

#[derive(Debug, thiserror::Error)]
pub enum IdempotencyError {
    #[error("the idempotency key could not be read or stored")]
    Commit(#[from] CommitError),
    #[error("the idempotency key was used for another request")]
    KeyReused,
}

impl From<DatabaseError> for IdempotencyError {
    fn from(error: DatabaseError) -> Self {
        Self::Commit(error.into())
    }
}

impl IdempotentRequest {
    pub fn new(owner: &Owner, operation: &str, key: &str, fingerprint: String) -> Self {
        Self {
            key: IdempotencyKey::new(owner, operation, key),
            fingerprint,
        }
    }

    /// Returns the key under which a further fact about the same request is stored.
    #[must_use]
    pub fn for_fact(&self, fact: &str) -> Self {
        let mut other = self.clone();
        other.key.operation = format!("{}_{fact}", self.key.operation);
        other
    }
}

/// Claims a key, if there is one, in the write that creates the resource.
pub fn claim_in(write: &mut UnitOfWork, key: Option<&IdempotentRequest>, resource_id: &str) {
    if let Some(key) = key {
        write.insert_idempotency_key(&key.key, &key.fingerprint, resource_id);
    }
}

impl Base {
    /// Returns the id of the resource that the same request created before. Returns `None` if there
    /// is no key or it is unused.
    pub async fn find_idempotent_result(
        &self,
        key: Option<&IdempotentRequest>,
    ) -> Result<Option<String>, IdempotencyError> {
        let Some(key) = key else { return Ok(None) };
        let known = self.find_idempotency_record(key).await?;
        Ok(known.map(|known| known.resource_id))
    }

    /// Returns the record of an earlier use of the key by the same request.
    pub async fn find_idempotency_record(
        &self,
        key: &IdempotentRequest,
    ) -> Result<Option<IdempotencyRecord>, IdempotencyError> {
        match self.store.idempotency_record(&key.key).await? {
            Some(known) if known.fingerprint != key.fingerprint => Err(IdempotencyError::KeyReused),
            known => Ok(known),
        }
    }

    /// Claims a key for a resource that already exists, unless the same request has claimed it.
    pub async fn claim_idempotency_key(
        &self,
        key: &IdempotentRequest,
        resource_id: &str,
    ) -> Result<(), IdempotencyError> {
        if self.find_idempotency_record(key).await?.is_some() {
            return Ok(());
        }
        let mut write = self.unit_of_work();
        write.insert_idempotency_key(&key.key, &key.fingerprint, resource_id);
        let conflict = Conflict::IdempotencyKeyExists;
        if !self.commit_unless(conflict, write).await? {
            self.find_idempotency_record(key).await?;
        }
        Ok(())
    }

    /// Releases the key of a request that had no effect. If releasing fails, the key stays claimed,
    /// and the same request may still use it.
    pub async fn release_idempotency_key(&self, key: &IdempotentRequest) {
        let mut write = self.unit_of_work();
        write.delete_idempotency_key(&key.key);
        if let Err(error) = self.store.commit(write).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "an idempotency key was not released, so only the same request can use it"
            );
        }
    }
}
