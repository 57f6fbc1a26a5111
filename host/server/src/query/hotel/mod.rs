//! Queries about hotels.

pub(crate) mod calendar;
pub(crate) mod content;
pub(crate) mod offer;
pub(crate) mod owner;
pub(crate) mod place;
pub(crate) mod search;
pub(crate) mod today;
pub(crate) mod weather;
