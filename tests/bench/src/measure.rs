//! Every measure by its name, in the order of the table.

mod adapter;
mod booking;
mod call;
mod isolation;
mod read;
mod replace;
mod start;
mod waiting;

use crate::report::Row;
use anyhow::Result;

type Measure = fn() -> Result<Vec<Row>>;

pub(crate) const ALL: [(&str, Measure); 8] = [
    ("call", call::measure),
    ("adapter", adapter::measure),
    ("read", read::measure),
    ("booking", booking::measure),
    ("start", start::measure),
    ("waiting", waiting::measure),
    ("replace", replace::measure),
    ("isolation", isolation::measure),
];
