//! Observability: log lines, metrics and their names. Neither contains secrets or personal data.

use crate::config::{LogConfig, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// HTTP responses, by method, route and status.
pub const HTTP_REQUESTS_TOTAL: &str = "stopover_http_requests_total";
/// Seconds until an HTTP response, by route.
pub const HTTP_REQUEST_DURATION_SECONDS: &str = "stopover_http_request_duration_seconds";
/// Calls into plugins, by supplier, operation and outcome.
pub const SUPPLIER_CALLS_TOTAL: &str = "stopover_supplier_calls_total";
/// Seconds that a call into a plugin took, by supplier and operation.
pub const SUPPLIER_CALL_DURATION_SECONDS: &str = "stopover_supplier_call_duration_seconds";
/// HTTP requests of plugins, by supplier and outcome.
pub const PLUGIN_HTTP_REQUESTS_TOTAL: &str = "stopover_supplier_exchanges_total";
/// Events reported by suppliers, by supplier, kind and result.
pub const SUPPLIER_EVENTS_TOTAL: &str = "stopover_supplier_events_total";
/// Requests to webhook endpoints, by product and result.
pub const WEBHOOK_ATTEMPTS_TOTAL: &str = "stopover_webhook_attempts_total";
/// Subscriptions that the gateway disabled.
pub const WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL: &str =
    "stopover_webhook_subscriptions_disabled_total";
/// Age of the oldest delivery that waits for an `ACTIVE` subscription.
pub const WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS: &str =
    "stopover_webhook_oldest_undelivered_seconds";
/// Price checks of watches that were due, by result.
pub const WATCH_CHECKS_TOTAL: &str = "stopover_watch_checks_total";

const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0,
];

/// Filter that silences `rustls_platform_verifier`. It logs an invalid certificate at level ERROR
/// without naming the peer. The code that opened the connection logs the peer at the right level.
const SILENCED_TARGETS: &str = "rustls_platform_verifier=off";

/// Reason why logging cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ObservabilityError {
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
/// [`ObservabilityError`].
pub fn init_logging(log: &LogConfig) -> Result<(), ObservabilityError> {
    let filter = EnvFilter::builder()
        .parse(format!("{SILENCED_TARGETS},{}", log.filter))
        .map_err(ObservabilityError::Filter)?;
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
    .map_err(ObservabilityError::Logging)
}

/// Returns the metrics of the process. All applications in the process share them.
#[must_use]
pub fn metrics_handle() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new();
        let recorder = builder
            .set_buckets(&BUCKETS)
            .unwrap_or_else(|_| PrometheusBuilder::new())
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("another metrics recorder is already installed; the gateway's metrics are not recorded");
        }
        describe_metrics();
        handle
    })
}

fn describe_metrics() {
    metrics::describe_counter!(HTTP_REQUESTS_TOTAL, "HTTP responses");
    metrics::describe_histogram!(
        HTTP_REQUEST_DURATION_SECONDS,
        metrics::Unit::Seconds,
        "Time to a response"
    );
    metrics::describe_counter!(SUPPLIER_CALLS_TOTAL, "Calls into plugins");
    metrics::describe_histogram!(
        SUPPLIER_CALL_DURATION_SECONDS,
        metrics::Unit::Seconds,
        "Duration of a call into a plugin"
    );
    metrics::describe_counter!(PLUGIN_HTTP_REQUESTS_TOTAL, "HTTP requests of plugins");
    metrics::describe_counter!(SUPPLIER_EVENTS_TOTAL, "Events reported by suppliers");
    metrics::describe_counter!(WEBHOOK_ATTEMPTS_TOTAL, "Requests to webhook endpoints");
    metrics::describe_counter!(WATCH_CHECKS_TOTAL, "Price checks of watches that were due");
    metrics::describe_counter!(
        WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL,
        "Subscriptions disabled because nothing could be delivered for days"
    );
    metrics::describe_gauge!(
        WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS,
        metrics::Unit::Seconds,
        "Age of the oldest delivery that waits for an ACTIVE subscription"
    );
}

/// An HTTP response as it is logged and counted.
#[derive(Debug)]
pub struct AccessLogEntry<'a> {
    /// Id of the request.
    pub request_id: &'a str,
    /// HTTP method.
    pub method: &'a http::Method,
    /// Template of the path; `None` if the path is unknown.
    pub route: Option<&'a str>,
    /// HTTP status.
    pub status: u16,
    /// Time from request to response.
    pub duration: Duration,
    /// Organization of the API key.
    pub organization: Option<&'a str>,
    /// Id of the API key.
    pub key: Option<&'a str>,
    /// Error code.
    pub code: Option<&'static str>,
    /// Cause of the error, which is not sent to the client.
    pub cause: Option<&'a str>,
}

impl AccessLogEntry<'_> {
    /// Logs one line and records two metrics. The path of an unknown route is client input and is
    /// not recorded.
    pub fn record(&self) {
        let route = self.route.unwrap_or("unknown");
        let ms = (self.duration.as_secs_f64() * 1_000_000.0).round() / 1000.0;
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    request_id = self.request_id,
                    method = %self.method,
                    route,
                    status = self.status,
                    ms,
                    organization = self.organization,
                    key = self.key,
                    code = self.code,
                    cause = self.cause,
                    "request"
                )
            };
        }
        if self.status >= 500 {
            line!(error)
        } else {
            line!(info)
        }
        let status = self.status.to_string();
        let method = method_label(self.method);
        metrics::counter!(HTTP_REQUESTS_TOTAL, "method" => method, "route" => route.to_owned(), "status" => status).increment(1);
        metrics::histogram!(HTTP_REQUEST_DURATION_SECONDS, "route" => route.to_owned())
            .record(self.duration.as_secs_f64());
    }
}

/// Returns the metric label of a method. Methods are client input, and a label may have only a few
/// values.
fn method_label(method: &http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}

/// Counts the calls and HTTP requests of plugins.
#[derive(Debug, Clone, Copy, Default)]
pub struct PluginMetrics;

impl host_runtime::CallSink for PluginMetrics {
    fn call(&self, record: &host_runtime::CallRecord<'_>) {
        let supplier = record.supplier.to_string();
        let operation = record.capability.as_str();
        let outcome = record.outcome.as_str();
        metrics::counter!(SUPPLIER_CALLS_TOTAL, "supplier" => supplier.clone(), "operation" => operation, "outcome" => outcome).increment(1);
        metrics::histogram!(SUPPLIER_CALL_DURATION_SECONDS, "supplier" => supplier, "operation" => operation)
            .record(record.duration.as_secs_f64());
    }

    fn exchange(&self, record: &host_runtime::ExchangeRecord<'_>) {
        let supplier = record.supplier.to_string();
        metrics::counter!(PLUGIN_HTTP_REQUESTS_TOTAL, "supplier" => supplier, "outcome" => record.outcome.as_str()).increment(1);
    }
}
