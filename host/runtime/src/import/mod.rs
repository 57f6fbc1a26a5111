//! What a guest may call: one file an interface of the host's WIT package.

pub(crate) mod cache;
mod clock;
mod http;
mod log;
mod secret;
mod settings;
