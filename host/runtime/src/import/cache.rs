//! Host import `cache`: the plugin's own cache.

use crate::bindings::stopover::host::cache;
use crate::call_state::GuestState;

impl cache::Host for GuestState {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<Vec<u8>>> {
        let now = self.provision.clock.now();
        Ok(self
            .provision
            .cache
            .get(&key, now)
            .map(|value| value.to_vec()))
    }

    fn set(&mut self, key: String, value: Vec<u8>, ttl_ms: u32) -> wasmtime::Result<()> {
        let now = self.provision.clock.now();
        self.provision.cache.set(key, value, ttl_ms, now);
        Ok(())
    }
}
