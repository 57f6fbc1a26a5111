//! Crash tests: the real process aborts at every failpoint of every step and is restarted. The
//! sandbox runs in a separate process. Its ledger proves that nothing was booked, charged or
//! refunded twice, and that nothing was lost.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that cannot continue fails by panicking"
)]

mod booking;
mod booking_load;
mod delivery;
mod delivery_attempt;
mod expiry;
mod failpoint_coverage;
mod flight;
mod flow;
mod hotel;
mod prebook;
mod retried_booking;
mod watch;

/// Short delays of reconciliation and leases, so that the tests wait only briefly.
const SHORT_DELAYS: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\nabsence_recheck_s = [1, 2]\n[payments]\ncapture_retry_s = [1]\n[jobs]\nlease_s = 1\n";

/// Number of failpoints of one flow that are tested concurrently. Most of the time is spent waiting
/// for a new process.
const CONCURRENT_FAILPOINTS: usize = 2;
