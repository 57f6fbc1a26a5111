//! What is being fetched from suppliers at the moment, so that nothing is fetched
//! twice at a time on this host.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A turnstile for each thing that is being fetched.
pub(crate) struct SingleFlight<K>(Mutex<HashMap<K, Weak<tokio::sync::Mutex<()>>>>);

/// Turnstiles that nobody waits at are forgotten once there are so many.
const TRACKED_KEYS_MAX: usize = 1024;

impl<K> Default for SingleFlight<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> SingleFlight<K> {
    /// Where whoever wants to fetch this waits for the one who does.
    pub(crate) fn lock_for(&self, key: &K) -> Arc<tokio::sync::Mutex<()>> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = running.get(key).and_then(Weak::upgrade) {
            return known;
        }
        if running.len() >= TRACKED_KEYS_MAX {
            running.retain(|_, turnstile| turnstile.strong_count() > 0);
        }
        let turnstile = Arc::default();
        running.insert(key.clone(), Arc::downgrade(&turnstile));
        turnstile
    }

    /// Whether somebody fetches it.
    pub(crate) fn is_in_flight(&self, key: &K) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running
            .get(key)
            .is_some_and(|turnstile| turnstile.strong_count() > 0)
    }
}
