//! Host import `settings`: the operator's settings for the plugin.

use crate::bindings::stopover::host::settings;
use crate::call_state::GuestState;

impl settings::Host for GuestState {
    fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.provision.settings.clone())
    }
}
