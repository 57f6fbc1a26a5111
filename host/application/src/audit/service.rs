//! Reads and verifies the audit log.

use crate::audit::chain::AuditChain;
use crate::audit::entry::{AuditEntry, ChainHead, canonical_json};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use futures::Stream;
use futures::stream::try_unfold;
use host_domain::audit::{AuditFilter, AuditScope};
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::Timestamp;
use host_storage::{DatabaseError, StoredAuditEntry};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Number of entries that are verified or exported at a time.
const BATCH_MAX: u32 = 500;

/// Time for which [`AuditService::verify_or_reuse`] reuses a result. It bounds how often people who
/// see only a share of the log make the gateway read all of it.
const VERIFICATION_REUSE_MS: i64 = 60 * 1000;

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the audit log could not be read")]
    Storage(#[from] StorageFailure),
    /// An entry was changed, added or removed at this position or just before it.
    #[error("the audit log was changed at entry {sequence}")]
    Broken { sequence: i64 },
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyHeadError {
    #[error(transparent)]
    Chain(#[from] AuditError),
    /// The entries of the chain continue each other, but none has the expected hash.
    #[error("the audit log has no entry with the expected hash; its end was cut off or replaced")]
    NotFound,
}

impl From<DatabaseError> for AuditError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// An entry of the audit log with its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub sequence: i64,
    /// `None` if the stored entry cannot be read, because somebody changed it.
    pub entry: Option<AuditEntry>,
    pub hash: String,
}

impl From<StoredAuditEntry> for AuditRow {
    fn from(stored: StoredAuditEntry) -> Self {
        Self {
            sequence: stored.sequence,
            entry: serde_json::from_str(&stored.body).ok(),
            hash: stored.hash,
        }
    }
}

impl AuditRow {
    /// Returns the entry with its hash as JSON. Without the member `hash`, its canonical form is
    /// what the hash was computed of. An unreadable entry has only its number and its hash.
    pub fn into_json(self) -> Value {
        let entry = self.entry.map(serde_json::to_value).and_then(Result::ok);
        let mut json = entry.unwrap_or_else(|| json!({ "sequence": self.sequence }));
        if let Value::Object(members) = &mut json {
            members.insert("hash".to_owned(), Value::from(self.hash));
        }
        json
    }
}

/// A page of the audit log.
#[derive(Debug, Clone)]
pub struct AuditList {
    pub page: CursorPage<AuditRow>,
    /// The head of the whole chain.
    pub head: ChainHead,
}

/// The result of the last verification of the whole chain on this process.
struct LastVerification {
    ended_at: Timestamp,
    /// The head, or the position at which the chain is broken.
    result: Result<ChainHead, i64>,
}

/// Lists, exports and verifies the audit log.
pub struct AuditService {
    chain: AuditChain,
    /// A verification reads the whole log, so one runs at a time.
    verifying: Mutex<Option<LastVerification>>,
}

impl AuditService {
    pub fn new(base: Base) -> Self {
        Self {
            chain: AuditChain { base },
            verifying: Mutex::default(),
        }
    }

    /// Returns entries, latest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(
        &self,
        scope: &AuditScope,
        filter: &AuditFilter,
        page: &CursorRequest,
    ) -> Result<AuditList, StorageFailure> {
        let head = self.chain.append_pending().await?;
        let store = &self.chain.base.store;
        let stored = store.audit_page(scope, filter, page).await?;
        Ok(AuditList {
            page: stored.map(AuditRow::from),
            head,
        })
    }

    /// Returns all matching entries in the order of the chain as lines of JSON. Each item has several
    /// lines with their line feeds. Entries that are appended during the export are not part of it.
    pub fn export(
        self: Arc<Self>,
        scope: AuditScope,
        filter: AuditFilter,
        mask: impl Fn(&mut AuditRow) + Clone + Send + Sync + 'static,
    ) -> impl Stream<Item = Result<String, StorageFailure>> + Send + 'static {
        // The state is the sequence number of the last exported entry, and of the last one to export.
        try_unfold((0, None), move |(after, until)| {
            let (service, scope, filter) = (Arc::clone(&self), scope.clone(), filter.clone());
            let mask = mask.clone();
            async move {
                let until = match until {
                    Some(until) => until,
                    None => service.chain.append_pending().await?.sequence,
                };
                let store = &service.chain.base.store;
                let range = (after, until);
                let batch = store.audit_entries_between(&scope, &filter, range, BATCH_MAX);
                let batch = batch.await?;
                let Some(last) = batch.last().map(|entry| entry.sequence) else {
                    return Ok(None);
                };
                let mut rows: Vec<AuditRow> = batch.into_iter().map(AuditRow::from).collect();
                rows.iter_mut().for_each(mask);
                let lines = rows.into_iter().map(AuditRow::into_json);
                let text: String = lines.map(|row| canonical_json(&row) + "\n").collect();
                Ok(Some((text, (last, Some(until)))))
            }
        })
    }

    /// Appends the recorded changes that wait to the chain.
    ///
    /// # Errors
    /// The database failed.
    #[cfg(feature = "dashboard")]
    pub(crate) async fn append_pending(&self) -> Result<(), StorageFailure> {
        self.chain.append_pending().await?;
        Ok(())
    }

    /// Verifies the whole chain and returns its head.
    ///
    /// # Errors
    /// [`AuditError`].
    pub async fn verify(&self) -> Result<ChainHead, AuditError> {
        let mut last = self.verifying.lock().await;
        self.verify_and_remember(&mut last).await
    }

    /// Verifies the whole chain, or returns the result of a verification on this process that ended less
    /// than a minute ago.
    ///
    /// # Errors
    /// [`AuditError`].
    pub async fn verify_or_reuse(&self) -> Result<ChainHead, AuditError> {
        let mut last = self.verifying.lock().await;
        let now = self.chain.base.now();
        let is_recent = |last: &&LastVerification| {
            (0..VERIFICATION_REUSE_MS).contains(&now.since(last.ended_at))
        };
        match last.as_ref().filter(is_recent) {
            Some(recent) => {
                let result = recent.result.clone();
                result.map_err(|sequence| AuditError::Broken { sequence })
            }
            None => self.verify_and_remember(&mut last).await,
        }
    }

    async fn verify_and_remember(
        &self,
        last: &mut Option<LastVerification>,
    ) -> Result<ChainHead, AuditError> {
        let verified = self.verify_each(|_| ()).await;
        let result = match &verified {
            Ok(head) => Ok(head.clone()),
            Err(AuditError::Broken { sequence }) => Err(*sequence),
            Err(AuditError::Storage(_)) => return verified,
        };
        *last = Some(LastVerification {
            ended_at: self.chain.base.now(),
            result,
        });
        verified
    }

    /// Verifies the whole chain, which must have an entry with this hash: an earlier head. Returns
    /// the head.
    ///
    /// # Errors
    /// [`VerifyHeadError`].
    pub async fn verify_with_head(&self, expected: &str) -> Result<ChainHead, VerifyHeadError> {
        let _turn = self.verifying.lock().await;
        let mut is_found = false;
        let head = self.verify_each(|head| {
            is_found |= head.hash.eq_ignore_ascii_case(expected);
        });
        let head = head.await?;
        is_found.then_some(head).ok_or(VerifyHeadError::NotFound)
    }

    /// Verifies the chain, and calls `visit` with the head before the first entry and after each
    /// entry. The caller holds the lock.
    async fn verify_each(
        &self,
        mut visit: impl FnMut(&ChainHead),
    ) -> Result<ChainHead, AuditError> {
        self.chain.append_pending().await?;
        let mut head = ChainHead::empty();
        visit(&head);
        loop {
            let store = &self.chain.base.store;
            let stored = store.audit_entries_after(head.sequence, BATCH_MAX).await?;
            if stored.is_empty() {
                return Ok(head);
            }
            for entry in &stored {
                let sequence = head.sequence + 1;
                head = AuditEntry::check(&head, entry).ok_or(AuditError::Broken { sequence })?;
                visit(&head);
            }
        }
    }
}
