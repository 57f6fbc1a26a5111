//! The machine's wall clock. Only this module reads it.

use host_domain::time::{Clock, Timestamp};

/// The wall clock of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "all other code reads the time from this clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}
