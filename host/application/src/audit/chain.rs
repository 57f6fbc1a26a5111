//! Gives recorded changes their place in the chain.

use crate::audit::entry::{AuditEntry, ChainHead};
use crate::base::Base;
use crate::storage_failure::StorageFailure;
use host_domain::id::AuditEntryId;
use host_storage::{Conflict, PendingAuditEntry, StoredAuditEntry};
use std::time::Duration;

/// Time between two runs. Readers append what is pending before they read.
pub(crate) const CHAIN_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two reports of the head in the log.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Maximum number of entries that are appended at a time.
const BATCH_MAX: u32 = 500;

/// A defect, or somebody else changed the database.
#[derive(Debug, thiserror::Error)]
#[error("the recorded change {id} cannot be read")]
struct UnreadableChange {
    id: AuditEntryId,
    #[source]
    source: serde_json::Error,
}

/// The chain of all entries of the audit log. Several processes may append at the same time.
#[derive(Clone)]
pub(crate) struct AuditChain {
    pub(crate) base: Base,
}

impl AuditChain {
    /// Appends all pending changes and returns the head of the chain.
    ///
    /// # Errors
    /// The database failed, or a recorded change cannot be read.
    pub(crate) async fn append_pending(&self) -> Result<ChainHead, StorageFailure> {
        loop {
            // The head is read first. If another process appends between the two reads, the commit
            // below finds that the head has moved.
            let end = self.base.store.audit_chain_end().await?;
            let head = ChainHead::from(end.last);
            if !end.has_pending {
                return Ok(head);
            }
            let pending = self.base.store.pending_audit_entries(BATCH_MAX).await?;
            let entries = link(head, &pending)?;
            let ids: Vec<_> = pending.into_iter().map(|change| change.id).collect();
            let mut write = self.base.unit_of_work();
            write.append_audit_entries(&entries, &ids);
            let conflict = Conflict::AuditEntryExists;
            let appended = self.base.commit_unless(conflict, write).await;
            appended.map_err(StorageFailure::from)?;
        }
    }

    /// Writes the head to the log, which is kept elsewhere: whoever removes the end of the chain
    /// does not change it there.
    ///
    /// # Errors
    /// The database failed, or a recorded change cannot be read.
    pub(crate) async fn report_head(&self) -> Result<(), StorageFailure> {
        let head = self.append_pending().await?;
        tracing::info!(
            sequence = head.sequence,
            hash = head.hash,
            "this is the head of the audit log"
        );
        Ok(())
    }
}

/// Returns the entries that changes become, in this order, after the head of a chain.
fn link(
    mut head: ChainHead,
    pending: &[PendingAuditEntry],
) -> Result<Vec<StoredAuditEntry>, StorageFailure> {
    let mut entries = Vec::with_capacity(pending.len());
    for change in pending {
        let entry = AuditEntry::append(&head, &change.body).and_then(|entry| entry.seal());
        let entry = entry.map_err(|source| {
            let id = change.id.clone();
            StorageFailure::Internal(UnreadableChange { id, source }.into())
        })?;
        head = ChainHead::from(&entry);
        entries.push(entry);
    }
    Ok(entries)
}
