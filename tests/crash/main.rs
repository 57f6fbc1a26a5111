//! What survives: the real process is aborted at every named point of every
//! step and started again. The sandbox, in a process of its own, is the proof
//! that nothing was booked, charged or given back twice, and nothing was lost.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails by panicking"
)]

mod deliver;
mod delivery;
mod flight;
mod flow;
mod hotel;
mod lapse;
mod load;
mod matrix;
mod prebook;
mod survival;
mod trial;
mod watch;

/// Read-backs and claims within a second, so that nothing has to be waited for.
const SOON: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n[jobs]\nlease_s = 1\n";

/// Points of one flow that are tried at once: most of the time a new process is waited for.
const AT_ONCE: usize = 2;
