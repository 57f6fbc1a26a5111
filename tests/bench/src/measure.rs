//! Every measure by its name, in the order of the table.

mod adapter;
mod booking;
mod call;
mod fares;
mod isolation;
mod list;
mod read;
mod replace;
mod start;
mod waiting;

use crate::report::Row;
use anyhow::Result;

type Measure = fn() -> Result<Vec<Row>>;

pub(crate) const ALL: [(&str, Measure); 10] = [
    ("call", call::measure),
    ("adapter", adapter::measure),
    ("fares", fares::measure),
    ("read", read::measure),
    ("list", list::measure),
    ("booking", booking::measure),
    ("start", start::measure),
    ("waiting", waiting::measure),
    ("replace", replace::measure),
    ("isolation", isolation::measure),
];
