//! Tracks what is being fetched from suppliers at the moment, so that this process never fetches the
//! same thing twice at a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A lock for each key that is being fetched.
pub struct SingleFlight<K>(Mutex<HashMap<K, Weak<tokio::sync::Mutex<()>>>>);

/// Number of entries from which unused locks are removed.
const TRACKED_KEYS_MAX: usize = 1024;

impl<K> Default for SingleFlight<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> SingleFlight<K> {
    /// Returns the lock of a key. Its holder fetches; all others wait for it.
    pub fn lock_for(&self, key: &K) -> Arc<tokio::sync::Mutex<()>> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = running.get(key).and_then(Weak::upgrade) {
            return lock;
        }
        if running.len() >= TRACKED_KEYS_MAX {
            running.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::default();
        running.insert(key.clone(), Arc::downgrade(&lock));
        lock
    }

    /// Returns whether a fetch of this key is in progress.
    pub fn is_in_flight(&self, key: &K) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(key).is_some_and(|lock| lock.strong_count() > 0)
    }
}
