//! The watcher: price watches, their events and the endpoint of watches.

pub(crate) mod event;
pub(crate) mod watch;
pub(crate) mod webhook;
