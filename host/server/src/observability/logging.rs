//! Logging to standard error. Log lines contain no secrets and no personal data.

use anyhow::{Context, anyhow};
use host_application::config::{LogConfig, LogFormat};
use tracing_subscriber::EnvFilter;

/// Filter that silences `rustls_platform_verifier`. It logs an invalid certificate at level ERROR
/// without naming the peer. The code that opened the connection logs the peer at the right level.
const SILENCED_TARGETS: &str = "rustls_platform_verifier=off";

/// Starts logging to standard error.
///
/// # Errors
/// The configured filter cannot be parsed, or logging was started before.
pub(crate) fn init_logging(log: &LogConfig) -> anyhow::Result<()> {
    let filter = EnvFilter::builder()
        .parse(format!("{SILENCED_TARGETS},{}", log.filter))
        .context("log.filter is not a valid filter")?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let started = match log.format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .try_init(),
    };
    started.map_err(|error| anyhow!(error).context("logging is already set up"))
}
