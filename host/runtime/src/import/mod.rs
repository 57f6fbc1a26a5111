//! Host functions that a guest may call, with one file for each interface of the host's WIT
//! package.

pub(crate) mod cache;
mod clock;
mod http;
mod log;
mod report;
mod secret;
mod settings;
