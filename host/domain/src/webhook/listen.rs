//! Programs that receive events without a public address.

use crate::event::EventType;
use crate::id::ListenSessionId;
use crate::owner::Tenant;
use crate::time::Timestamp;

/// A program that fetches the events of its organization. It is connected as long as it renews the
/// session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenSession {
    pub id: ListenSessionId,
    pub tenant: Tenant,
    /// The types that it receives; empty for all.
    pub event_types: Vec<EventType>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

impl ListenSession {
    /// Returns whether the session receives events of a type.
    pub fn receives(&self, event_type: &str) -> bool {
        let mut types = self.event_types.iter();
        self.event_types.is_empty() || types.any(|known| known.as_str() == event_type)
    }
}
