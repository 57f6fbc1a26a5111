//! The dashboard: web pages for the people who run and use the gateway. Pages are rendered on the
//! server. A handler extracts its input, calls one service and renders the result.

mod asset;
mod chart;
mod error;
mod error_page;
mod form;
mod guard;
mod list;
mod local_path;
mod nonce;
mod page;
mod pages;
mod path_text;
mod qr_code;
mod query;
mod render;
mod router;
mod sparkline;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod waterfall;

pub use error::refused_request;
pub use router::router;
pub use state::{DashboardSettings, DashboardState, SampleDataHook};
