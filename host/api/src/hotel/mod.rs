//! Hotel operations: requests, responses and handlers, one file for each resource.

pub(crate) mod booking;
pub(crate) mod cancellation;
pub(crate) mod content;
pub(crate) mod guest;
pub(crate) mod offer;
pub(crate) mod place;
pub(crate) mod prebook;
pub(crate) mod price_calendar;
pub(crate) mod search;
pub(crate) mod stay;
pub(crate) mod weather;
