//! The plugin's own cache, which persists between calls. When it is full, expired values are
//! removed first, then the least recently used.

use host_domain::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum lifetime of a value: one day.
const TTL_MS_MAX: u32 = 24 * 60 * 60 * 1000;
const VALUE_BYTES_MAX: usize = 64 << 10;
const KEY_BYTES_MAX: usize = 256;
/// Maximum number of entries. Eviction scans all of them.
const ENTRIES_MAX: usize = 1_024;
/// Bytes counted for an entry in addition to its key and value.
const ENTRY_OVERHEAD_BYTES: usize = 96;

struct Entry {
    value: Arc<[u8]>,
    expires_at: Timestamp,
    used: u64,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<String, Entry>,
    bytes: usize,
    uses: u64,
}

pub(crate) struct Cache {
    entries: Mutex<Entries>,
    bytes_max: usize,
}

impl Cache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            entries: Mutex::default(),
            bytes_max,
        }
    }

    pub(crate) fn get(&self, key: &str, now: Timestamp) -> Option<Arc<[u8]>> {
        let mut entries = self.entries();
        entries.uses += 1;
        let used = entries.uses;
        let entry = entries.by_key.get_mut(key)?;
        if entry.expires_at <= now {
            entries.forget(key);
            return None;
        }
        entry.used = used;
        Some(Arc::clone(&entry.value))
    }

    /// Stores a value. A value that is too large or has no lifetime is not stored, but an existing
    /// value under its key is removed.
    pub(crate) fn set(&self, key: String, value: Vec<u8>, ttl_ms: u32, now: Timestamp) {
        let mut entries = self.entries();
        entries.forget(&key);
        let cost = cost(&key, value.len());
        if key.len() > KEY_BYTES_MAX
            || value.len() > VALUE_BYTES_MAX
            || cost > self.bytes_max
            || ttl_ms == 0
        {
            return;
        }
        entries.make_room(cost, self.bytes_max, now);
        entries.uses += 1;
        let used = entries.uses;
        entries.bytes += cost;
        let expires_at = now.plus_ms(i64::from(ttl_ms.min(TTL_MS_MAX)));
        entries.by_key.insert(
            key,
            Entry {
                value: value.into(),
                expires_at,
                used,
            },
        );
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn forget(&mut self, key: &str) {
        if let Some(entry) = self.by_key.remove(key) {
            self.bytes = self.bytes.saturating_sub(cost(key, entry.value.len()));
        }
    }

    fn make_room(&mut self, entry_bytes: usize, bytes_max: usize, now: Timestamp) {
        if self.fits(entry_bytes, bytes_max) {
            return;
        }
        let expired: Vec<String> = self
            .by_key
            .iter()
            .filter(|(_, e)| e.expires_at <= now)
            .map(|(key, _)| key.clone())
            .collect();
        for key in expired {
            self.forget(&key);
        }
        while !self.fits(entry_bytes, bytes_max) {
            let Some(oldest) = self
                .by_key
                .iter()
                .min_by_key(|(_, e)| e.used)
                .map(|(key, _)| key.clone())
            else {
                return;
            };
            self.forget(&oldest);
        }
    }

    fn fits(&self, entry_bytes: usize, bytes_max: usize) -> bool {
        self.by_key.len() < ENTRIES_MAX && self.bytes + entry_bytes <= bytes_max
    }
}

const fn cost(key: &str, value_bytes: usize) -> usize {
    key.len() + value_bytes + ENTRY_OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn get(cache: &Cache, key: &str, now: Timestamp) -> Option<Vec<u8>> {
        cache.get(key, now).map(|value| value.to_vec())
    }

    #[test]
    fn value_expires_after_its_lifetime_and_after_one_day_at_most() {
        let cache = Cache::new(1 << 20);
        cache.set("a".into(), vec![1], 1_000, NOW);
        cache.set("b".into(), vec![2], u32::MAX, NOW);
        assert_eq!(get(&cache, "a", NOW.plus_ms(999)), Some(vec![1]));
        assert_eq!(get(&cache, "a", NOW.plus_ms(1_000)), None);
        assert_eq!(
            get(&cache, "b", NOW.plus_ms(i64::from(TTL_MS_MAX) - 1)),
            Some(vec![2])
        );
        assert_eq!(get(&cache, "b", NOW.plus_ms(i64::from(TTL_MS_MAX))), None);
        assert_eq!(cache.entries().bytes, 0);
    }

    #[test]
    fn least_recently_used_value_is_evicted_first() {
        let cache = Cache::new(3 * cost("a", 10));
        for key in ["a", "b", "c"] {
            cache.set(key.into(), vec![0; 10], 1_000, NOW);
        }
        assert!(get(&cache, "a", NOW).is_some());
        cache.set("d".into(), vec![0; 10], 1_000, NOW);
        assert_eq!(
            ["a", "b", "c", "d"].map(|key| get(&cache, key, NOW).is_some()),
            [true, false, true, true]
        );
    }

    #[test]
    fn oversized_value_is_not_stored_and_removes_old_value() {
        let cache = Cache::new(1 << 20);
        cache.set("a".into(), vec![1], 1_000, NOW);
        cache.set("a".into(), vec![0; VALUE_BYTES_MAX + 1], 1_000, NOW);
        assert_eq!(get(&cache, "a", NOW), None);
        cache.set("k".repeat(KEY_BYTES_MAX + 1), vec![1], 1_000, NOW);
        cache.set("zero".into(), vec![1], 0, NOW);
        assert_eq!(cache.entries().by_key.len(), 0);
    }

    #[test]
    fn entries_and_bytes_stay_within_their_limits() {
        let cache = Cache::new(usize::MAX);
        for number in 0..ENTRIES_MAX + 50 {
            cache.set(number.to_string(), vec![0; 8], 1_000, NOW);
        }
        assert_eq!(cache.entries().by_key.len(), ENTRIES_MAX);
        let small = Cache::new(10_000);
        for number in 0..500 {
            small.set(number.to_string(), vec![0; 700], 1_000, NOW);
            assert!(small.entries().bytes <= 10_000);
        }
    }
}
