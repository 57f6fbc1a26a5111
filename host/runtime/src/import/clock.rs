//! Host import `clock`: the wall clock.

use crate::bindings::stopover::host::clock;
use crate::call_state::GuestState;

impl clock::Host for GuestState {
    fn now_ms(&mut self) -> wasmtime::Result<i64> {
        Ok(self.provision.clock.now().0)
    }
}
