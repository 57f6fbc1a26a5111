pub mod directory;
pub mod plugin_report;
pub mod query_error;
pub mod rate_limiter;
pub mod router;
