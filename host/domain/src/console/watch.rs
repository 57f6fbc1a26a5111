//! Watches and mandates as the dashboard lists them.

use crate::mandate::MandateStatus;
use crate::watch::WatchStatus;

/// A filter for the watches of a scope. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchScopeFilter {
    pub status: Option<WatchStatus>,
    /// The organization's end user.
    pub user: Option<String>,
}

/// A filter for the mandates of a scope. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MandateScopeFilter {
    pub status: Option<MandateStatus>,
    /// The organization's end user.
    pub user: Option<String>,
}
