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
mod read;
mod replace;
mod start;
mod waiting;
mod watches;

use crate::report::Row;
use anyhow::Result;

type Measure = fn() -> Result<Vec<Row>>;

pub(crate) const ALL: [(&str, Measure); 14] = [
    ("call", call::measure),
    ("adapter", adapter::measure),
    ("fares", fares::measure),
    ("read", read::measure),
    ("list", list::measure),
    ("booking", booking::measure),
    ("delivery", delivery::measure),
    ("event", event::measure),
    ("watches", watches::measure),
    ("cadence", cadence::measure),
    ("start", start::measure),
    ("waiting", waiting::measure),
    ("replace", replace::measure),
    ("isolation", isolation::measure),
];
