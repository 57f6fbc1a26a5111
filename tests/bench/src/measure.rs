//! The measures by name, in the order of the table.

mod adapter;
mod booking;
mod cadence;
mod call;
mod delivery;
mod event;
mod fares;
mod isolation;
mod list;
mod pages;
mod read;
mod recording;
mod refusal;
mod replace;
mod start;
mod waiting;
mod watches;

use crate::report::Measured;
use crate::setup::{block_on, on_both};
use anyhow::Result;

type Measure = fn() -> Result<Vec<Measured>>;

pub(crate) const ALL: [(&str, Measure); 17] = [
    ("call", || block_on(call::measure())),
    ("adapter", adapter::measure),
    ("fares", fares::measure),
    ("read", || on_both(read::measure)),
    ("recording", || on_both(recording::measure)),
    ("refusal", || block_on(refusal::measure())),
    ("list", || on_both(list::measure)),
    ("booking", booking::measure),
    ("delivery", || on_both(delivery::measure)),
    ("event", || on_both(event::measure)),
    ("watches", || block_on(watches::measure())),
    ("cadence", || on_both(cadence::measure)),
    ("start", || block_on(start::measure())),
    ("waiting", || block_on(waiting::measure())),
    ("replace", || block_on(replace::measure())),
    ("isolation", || block_on(isolation::measure())),
    ("pages", || on_both(pages::measure)),
];

/// Measures that take so long that they must be named.
pub(crate) const ONLY_IF_NAMED: [&str; 1] = ["pages"];
