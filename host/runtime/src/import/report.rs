//! Host import `report`: reports of a guest about its supplier's responses.

use crate::bindings::v1_1::stopover::host::report;
use crate::call_state::GuestState;

/// Maximum number of items that a guest may report in one call. A supplier's response has fewer.
const ITEMS_MAX: u32 = 100_000;

impl report::Host for GuestState {
    fn dropped_items(&mut self, reason: report::DropReason, count: u32) -> wasmtime::Result<()> {
        let Some(capability) = self.scope.capability else {
            return Ok(());
        };
        let count = count.min(ITEMS_MAX.saturating_sub(self.dropped_items));
        self.dropped_items = self.dropped_items.saturating_add(count);
        if count > 0 {
            let provision = &self.provision;
            let supplier = &provision.supplier;
            let reason = label(reason);
            let count = u64::from(count);
            provision
                .sink
                .record_dropped_items(supplier, capability, reason, count);
        }
        Ok(())
    }
}

const fn label(reason: report::DropReason) -> &'static str {
    match reason {
        report::DropReason::Unreadable => "unreadable",
        report::DropReason::MissingValue => "missing-value",
        report::DropReason::InvalidValue => "invalid-value",
        report::DropReason::Unsupported => "unsupported",
    }
}
