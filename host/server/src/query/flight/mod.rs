//! Queries about flights.

pub(crate) mod airline;
pub(crate) mod airport;
mod choice;
pub(crate) mod offer;
