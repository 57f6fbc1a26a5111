//! Replays of all deliveries that match a filter, with their progress.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{AccountId, BulkReplayId};
use host_domain::owner::Mode;
use host_domain::page::Cursor;
use host_domain::time::Timestamp;
use host_domain::webhook::{BulkReplay, BulkReplayProgress, BulkReplayState};

impl UnitOfWork {
    /// Stores a new bulk replay, and deletes those of the same account that were last changed before
    /// `keep_since`. Fails with [`Conflict::BulkReplayRunning`] while another one of the account runs
    /// in the mode. Those of the admin listener count as those of one account.
    pub fn insert_bulk_replay(
        &mut self,
        bulk_replay: &BulkReplay,
        keep_since: Timestamp,
    ) -> &mut Self {
        self.add(statement!(
            "DELETE FROM bulk_replay WHERE account_id = $1 AND updated_at < $2",
            account_text(bulk_replay),
            keep_since,
        ));
        let selection = self.encode_json(&bulk_replay.selection);
        let progress = &bulk_replay.progress;
        let insert = statement!(
            "INSERT INTO bulk_replay (id, account_id, mode, selection, total, replayed, skipped, \
             after_at, after_id, state, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) ON CONFLICT DO NOTHING",
            bulk_replay.id.as_str(),
            account_text(bulk_replay),
            bulk_replay.mode,
            selection,
            bulk_replay.total,
            progress.replayed,
            progress.skipped,
            progress.after.as_ref().map(|after| after.at),
            progress.after.as_ref().map(|after| after.id.as_str()),
            bulk_replay.state.as_str(),
            bulk_replay.created_at,
        );
        self.add_expecting_one(insert, Conflict::BulkReplayRunning)
    }

    /// Stores the progress of a running bulk replay. Fails with [`Conflict::BulkReplayEnded`] if it
    /// does not run any more.
    pub fn update_bulk_replay(
        &mut self,
        id: &BulkReplayId,
        progress: &BulkReplayProgress,
        state: BulkReplayState,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE bulk_replay SET replayed = $2, skipped = $3, after_at = $4, after_id = $5, \
             state = $6, updated_at = $7 WHERE id = $1 AND state = 'running'",
            id.as_str(),
            progress.replayed,
            progress.skipped,
            progress.after.as_ref().map(|after| after.at),
            progress.after.as_ref().map(|after| after.id.as_str()),
            state.as_str(),
            self.now,
        );
        self.add_expecting_one(update, Conflict::BulkReplayEnded)
    }

    /// Stops a bulk replay. Fails with [`Conflict::BulkReplayEnded`] if it does not run any more.
    pub fn stop_bulk_replay(&mut self, id: &BulkReplayId) -> &mut Self {
        let update = statement!(
            "UPDATE bulk_replay SET state = 'stopped', updated_at = $2 \
             WHERE id = $1 AND state = 'running'",
            id.as_str(),
            self.now,
        );
        self.add_expecting_one(update, Conflict::BulkReplayEnded)
    }
}

impl Store {
    pub async fn bulk_replay_unscoped(
        &self,
        id: &BulkReplayId,
    ) -> Result<Option<BulkReplay>, DatabaseError> {
        let select = statement!(
            format!("SELECT {COLUMNS} FROM bulk_replay WHERE id = $1"),
            id.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns the latest bulk replay that an account began in a mode, if it runs or changed at
    /// `changed_since` or later.
    pub async fn latest_bulk_replay(
        &self,
        account: &AccountId,
        mode: Mode,
        changed_since: Timestamp,
    ) -> Result<Option<BulkReplay>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM bulk_replay \
                 WHERE account_id = $1 AND mode = $2 AND (updated_at >= $3 OR state = 'running') \
                 ORDER BY created_at DESC, id DESC LIMIT 1"
            ),
            account.as_str(),
            mode,
            changed_since,
        );
        self.read_optional(select, read).await
    }
}

const COLUMNS: &str = "id, account_id, mode, selection, total, replayed, skipped, after_at, \
    after_id, state, created_at";

/// Returns the account that began a bulk replay, or an empty text for the admin listener.
fn account_text(bulk_replay: &BulkReplay) -> &str {
    bulk_replay.account.as_ref().map_or("", AccountId::as_str)
}

fn read_account(row: &Row) -> Result<Option<AccountId>, DatabaseError> {
    match row.get::<String>("account_id")?.is_empty() {
        true => Ok(None),
        false => row.parsed("account_id", AccountId::parse).map(Some),
    }
}

fn read(row: &Row) -> Result<BulkReplay, DatabaseError> {
    let after_at = row.timestamp_opt("after_at")?;
    let after = after_at.zip(row.get::<Option<String>>("after_id")?);
    Ok(BulkReplay {
        id: row.parsed("id", BulkReplayId::parse)?,
        account: read_account(row)?,
        mode: row.enum_value("mode", Mode::parse)?,
        selection: row.json("selection")?,
        total: row.count("total")?,
        progress: BulkReplayProgress {
            replayed: row.count("replayed")?,
            skipped: row.count("skipped")?,
            after: after.map(|(at, id)| Cursor { at, id }),
        },
        state: row.enum_value("state", BulkReplayState::parse)?,
        created_at: row.timestamp("created_at")?,
    })
}
