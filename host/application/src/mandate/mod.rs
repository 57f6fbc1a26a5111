//! Mandates: their claims, their signing keys and the operations on them.

pub(crate) mod audited;
pub mod claims;
pub mod service;
pub mod signing_key;
mod unscoped_mandate;
