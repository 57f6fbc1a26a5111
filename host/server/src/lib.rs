//! The server: HTTP in, suppliers out. Wires domain, storage and runtime
//! together and owns everything that speaks HTTP; knows no SQL and no
//! WebAssembly.

pub mod api;
pub mod app;
pub mod config;
mod flow;
pub mod id;
mod instrument;
mod job;
pub mod key;
pub mod limit;
pub mod observe;
mod render;
pub mod seal;
pub mod suppliers;
pub mod tasks;
pub mod time;
