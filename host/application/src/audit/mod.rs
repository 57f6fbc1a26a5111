//! The audit log. A change is recorded in its own transaction as pending, and becomes an entry of
//! the chain soon after: an order of all entries within these transactions would let every change
//! wait for every other one.

pub mod chain;
pub mod entry;
pub(crate) mod record;
pub mod service;
