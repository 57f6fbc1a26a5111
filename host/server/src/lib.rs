//! The server: an HTTP API in front of supplier plugins. It connects domain, storage and runtime
//! and contains all HTTP code. It contains no SQL and no WebAssembly.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod context;
pub mod demo;
pub(crate) mod error_chain;
mod flow;
pub mod id;
mod idempotency;
mod instrument;
mod job;
pub mod key;
pub mod limit;
mod listen;
pub mod mandate;
pub(crate) mod metric_names;
pub mod observe;
mod offer_reference;
pub(crate) mod plugin_report;
mod query;
pub mod readiness;
mod render;
pub mod seal;
#[cfg(test)]
mod simulation;
pub mod suppliers;
pub mod tasks;
pub mod time;
mod watch;
mod webhook;
