//! Hotel operations: requests, responses and handlers, one file for each resource.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod cancellation;
pub(crate) mod completion;
pub(crate) mod content;
pub(in crate::api) mod guest;
pub(crate) mod offer;
pub(crate) mod place;
pub(crate) mod prebook;
pub(crate) mod search;
pub(in crate::api) mod stay;
pub(crate) mod weather;
