//! The watcher: prices that are waited for, what it tells of them, and where to.

pub(crate) mod event;
pub(crate) mod watch;
pub(crate) mod webhook;
