//! The criteria of a list of watches.

use super::WatchStatus;

/// A filter for an owner's watches. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchFilter {
    pub status: Option<WatchStatus>,
}
