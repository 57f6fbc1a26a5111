//! HTTP API of the gateway: routes, requests, responses, problems and the OpenAPI document.

#[macro_use]
mod routes;

pub(crate) mod accept;
pub mod access_log;
pub mod admin;
pub(crate) mod book;
pub(crate) mod capture;
pub(crate) mod cli;
pub(crate) mod docs_pages;
pub mod error_code;
pub(crate) mod extract;
pub(crate) mod flight;
pub(crate) mod health;
pub(crate) mod hotel;
pub(crate) mod identifier;
pub(crate) mod mandate;
pub(crate) mod meta;
pub(crate) mod middleware;

mod ongoing_call;
pub(crate) mod openapi;
pub(crate) mod payment_instrument;
pub(crate) mod prebook;
mod problem;
pub(crate) mod rate_limit;
mod refusal;
pub(crate) mod response;
pub(crate) mod state;
pub(crate) mod supplier;
pub(crate) mod supplier_event;
pub(crate) mod validation;
pub(crate) mod watcher;
pub(crate) mod webhook;

pub use refusal::refused_request;
pub use routes::router;
pub use state::{ApiSettings, ApiState};

#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;
