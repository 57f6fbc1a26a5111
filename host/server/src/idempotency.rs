//! Idempotency keys. Of calls whose repetition the state itself makes safe, the key
//! only tells whether it is the same request. What makes something takes its key in the
//! transaction that makes it, see [`take`].

use crate::api::extract;
use crate::app::Application;
use host_domain::owner::Owner;
use host_storage::{
    CommitError, Conflict, DatabaseError, IdempotencyKey, IdempotencyRecord, UnitOfWork,
};

/// A caller's key with the request that it stands for.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentRequest {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: String,
}

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IdempotencyError {
    /// The database.
    #[error("the key could not be read or stored")]
    Commit(#[from] CommitError),
    /// It stands for another request.
    #[error("the key was used for another request")]
    KeyReused,
}

impl From<DatabaseError> for IdempotencyError {
    fn from(error: DatabaseError) -> Self {
        Self::Commit(error.into())
    }
}

/// How a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyClaim {
    /// For the first time; it is taken now.
    New,
    /// By the same request before.
    Repeat,
}

impl IdempotentRequest {
    /// The key of a request, in the scope of an operation.
    pub(crate) fn new(owner: &Owner, operation: &str, key: extract::IdempotencyKeyHeader) -> Self {
        let extract::IdempotencyKeyHeader { key, fingerprint } = key;
        Self {
            key: IdempotencyKey {
                owner: owner.clone(),
                operation: operation.to_owned(),
                key,
            },
            fingerprint,
        }
    }
}

/// Takes a key, where there is one, for what a write makes.
pub(crate) fn claim_in(write: &mut UnitOfWork, key: Option<&IdempotentRequest>, resource_id: &str) {
    if let Some(key) = key {
        write.insert_idempotency_key(&key.key, &key.fingerprint, resource_id);
    }
}

impl Application {
    /// The id of what the same request made before, if it has a key and did.
    pub(crate) async fn find_result(
        &self,
        key: Option<&IdempotentRequest>,
    ) -> Result<Option<String>, IdempotencyError> {
        let Some(key) = key else { return Ok(None) };
        let known = self.find_record(key).await?;
        Ok(known.map(|known| known.resource_id))
    }

    /// How the same request used its key before.
    async fn find_record(&self, key: &IdempotentRequest) -> Result<Option<IdempotencyRecord>, IdempotencyError> {
        match self.store.idempotency_record(&key.key).await? {
            Some(known) if known.fingerprint != key.fingerprint => Err(IdempotencyError::KeyReused),
            known => Ok(known),
        }
    }

    /// Takes a key for something that is there already.
    pub(crate) async fn claim(
        &self,
        key: &IdempotentRequest,
        resource_id: &str,
    ) -> Result<KeyClaim, IdempotencyError> {
        if self.find_record(key).await?.is_some() {
            return Ok(KeyClaim::Repeat);
        }
        let mut write = UnitOfWork::new(self.clock.now());
        write.insert_idempotency_key(&key.key, &key.fingerprint, resource_id);
        match self.store.commit(write).await {
            Ok(()) => Ok(KeyClaim::New),
            Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {
                self.find_record(key).await?;
                Ok(KeyClaim::Repeat)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a key back whose request came to nothing. When that fails the key
    /// stays taken, and the same request still may use it.
    pub(crate) async fn release(&self, key: &IdempotentRequest) {
        let mut write = UnitOfWork::new(self.clock.now());
        write.delete_idempotency_key(&key.key);
        if let Err(error) = self.store.commit(write).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "an idempotency key was not given back"
            );
        }
    }
}
