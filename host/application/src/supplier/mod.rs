//! Suppliers: which exist, which one a query is routed to, and how often it may be called.

pub mod directory;
pub mod overrides;
pub mod plugin_report;
pub mod query_error;
pub mod rate_limiter;
pub mod reader;
pub mod router;
