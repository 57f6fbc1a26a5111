//! Observability: log lines and metrics.

pub(crate) mod logging;
pub(crate) mod metrics;
