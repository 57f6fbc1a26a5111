//! Logging to standard error. Log lines contain no secrets and no personal data.

use host_application::config::{LogConfig, LogFormat};
use tracing_subscriber::EnvFilter;

/// Filter that silences `rustls_platform_verifier`. It logs an invalid certificate at level ERROR
/// without naming the peer. The code that opened the connection logs the peer at the right level.
const SILENCED_TARGETS: &str = "rustls_platform_verifier=off";

/// Reason why logging cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoggingError {
    /// The configured filter cannot be parsed.
    #[error("log.filter is not a valid filter")]
    Filter(#[source] tracing_subscriber::filter::ParseError),
    /// Another subscriber is already installed.
    #[error("logging is already set up")]
    Logging(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Starts logging to standard error.
///
/// # Errors
/// [`LoggingError`].
pub(crate) fn init_logging(log: &LogConfig) -> Result<(), LoggingError> {
    let filter = EnvFilter::builder()
        .parse(format!("{SILENCED_TARGETS},{}", log.filter))
        .map_err(LoggingError::Filter)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    match log.format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .try_init(),
    }
    .map_err(LoggingError::Logging)
}
