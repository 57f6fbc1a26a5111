//! Middleware that every request passes, and extractors of what it found.

pub(crate) mod client;
pub(crate) mod compression;
pub(crate) mod cookie;
pub(crate) mod headers;
pub(crate) mod origin;
pub(crate) mod session;
pub(crate) mod watchdog;
