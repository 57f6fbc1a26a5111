//! The watcher: price watches, their events and their webhook.

pub(crate) mod event;
pub(crate) mod watch;
pub(crate) mod webhook;
