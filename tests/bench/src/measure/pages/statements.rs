//! Counts the statements of a page in the gateway's log.

use crate::http_connection::HttpConnection;
use anyhow::{Context, Result};
use std::time::Duration;
use tests::{Server, ServerOptions};

/// Targets of the lines of statements, on PostgreSQL and on SQLite.
const TARGETS: [&str; 2] = [
    "\"target\":\"sqlx::query\"",
    "\"target\":\"host_storage::sqlite\"",
];
/// Number of requests of a page. Background work may run a statement during some of them.
const REQUESTS: usize = 5;
/// Time after which the lines of a request are in the log.
const LOG_DELAY: Duration = Duration::from_millis(30);
/// Time after which the overview reads its figures again.
const CACHE_TTL: Duration = Duration::from_secs(6);

/// Returns options of a gateway that logs its statements.
pub(super) fn log_statements(options: ServerOptions) -> ServerOptions {
    options
        .environment("STOPOVER_LOG_FORMAT", "json")
        .environment(
            "STOPOVER_LOG_FILTER",
            "warn,sqlx::query=debug,host_storage::sqlite=debug",
        )
}

/// Returns the number of statements of a request, including the one that finds the session.
/// If the page keeps what it has read, it is requested again after that time.
pub(super) async fn count_statements(
    server: &Server,
    base: &str,
    request: &[u8],
    is_cached: bool,
) -> Result<usize> {
    let mut connection = HttpConnection::connect(base).await?;
    let mut least = usize::MAX;
    for number in 0..REQUESTS {
        if is_cached && number > 0 {
            tokio::time::sleep(CACHE_TTL).await;
        }
        let before = logged(server)?;
        connection.exchange(request).await?;
        tokio::time::sleep(LOG_DELAY).await;
        least = least.min(logged(server)? - before);
    }
    Ok(least)
}

/// Returns the number of statements in the log.
fn logged(server: &Server) -> Result<usize> {
    let log = server.data_dir().join("server.log");
    let text = std::fs::read_to_string(log).context("the gateway has no log")?;
    let counts = TARGETS.map(|target| text.matches(target).count());
    Ok(counts.into_iter().sum())
}
