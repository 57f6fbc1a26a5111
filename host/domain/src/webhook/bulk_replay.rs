//! Replays of all deliveries that match a filter.

use super::list::DeliveryScopeFilter;
use crate::id::{AccountId, BulkReplayId};
use crate::named_enum::named_enum;
use crate::owner::Mode;
use crate::page::Cursor;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum BulkReplayState {
        Running = "running",
        /// All deliveries were seen.
        Finished = "finished",
        /// Somebody stopped it.
        Stopped = "stopped",
    }
}

/// The deliveries that a bulk replay covers: those of a mode that match and exist when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkReplaySelection {
    /// `None` for all organizations.
    pub organizations: Option<Vec<String>>,
    pub filter: DeliveryScopeFilter,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BulkReplayProgress {
    pub replayed: u64,
    /// Deliveries that cannot be replayed, e.g. because their subscription is paused.
    pub skipped: u64,
    /// The last delivery that was seen, in the order of creation.
    pub after: Option<Cursor>,
}

/// A replay of all deliveries that match a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkReplay {
    pub id: BulkReplayId,
    /// The account that began it. `None` for a call of the admin listener.
    pub account: Option<AccountId>,
    pub mode: Mode,
    pub selection: BulkReplaySelection,
    /// Number of deliveries that matched at the beginning.
    pub total: u64,
    pub progress: BulkReplayProgress,
    pub state: BulkReplayState,
    /// Time of the beginning. Later deliveries are not covered.
    pub created_at: Timestamp,
}
