//! What operators see: log lines, metrics, and the names in both. Nothing secret
//! and nothing personal is ever written.

use crate::config::{Log, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// Requests answered, by method, route and status.
pub const HTTP_REQUESTS_TOTAL: &str = "stopover_http_requests_total";
/// Seconds that an answer took, by route.
pub const HTTP_REQUEST_DURATION_SECONDS: &str = "stopover_http_request_duration_seconds";
/// Calls into plugins, by supplier, operation and outcome.
pub const SUPPLIER_CALLS_TOTAL: &str = "stopover_supplier_calls_total";
/// Seconds that such a call took, by supplier and operation.
pub const SUPPLIER_CALL_DURATION_SECONDS: &str = "stopover_supplier_call_duration_seconds";
/// HTTP exchanges of plugins, by supplier and outcome.
pub const PLUGIN_HTTP_REQUESTS_TOTAL: &str = "stopover_supplier_exchanges_total";
/// What suppliers told by themselves, by supplier, kind and what came of it.
pub const SUPPLIER_EVENTS_TOTAL: &str = "stopover_supplier_events_total";
/// Requests to subscribers, by product and by what came of them.
pub const WEBHOOK_ATTEMPTS_TOTAL: &str = "stopover_webhook_attempts_total";
/// Subscriptions that the gateway disabled.
pub const WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL: &str = "stopover_webhook_subscriptions_disabled_total";
/// Age of the oldest delivery that waits for an ACTIVE subscription.
pub const WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS: &str = "stopover_webhook_oldest_undelivered_seconds";
/// Questions of watches that were due, by what came of them.
pub const WATCH_CHECKS_TOTAL: &str = "stopover_watch_checks_total";

const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0,
];

/// Says at ERROR, of nobody, that the other side's certificate is no good: whoever
/// connected says of whom, as loudly as it matters.
const SILENCED_TARGETS: &str = "rustls_platform_verifier=off";

/// Why nothing can be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObservabilityError {
    /// The filter of the configuration is not one.
    #[error("log.filter is not a filter")]
    Filter(#[source] tracing_subscriber::filter::ParseError),
    /// Somebody else has set up logging.
    #[error("logging is already set up")]
    Logging(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Sends log lines to standard error.
///
/// # Errors
/// [`ObserveError`].
pub fn init_logging(log: &Log) -> Result<(), ObservabilityError> {
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

/// The process's metrics. Every application in the process writes to the same.
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
            tracing::warn!("metrics are already recorded elsewhere");
        }
        describe_metrics();
        handle
    })
}

fn describe_metrics() {
    metrics::describe_counter!(HTTP_REQUESTS_TOTAL, "Requests answered");
    metrics::describe_histogram!(HTTP_REQUEST_DURATION_SECONDS, metrics::Unit::Seconds, "Time to an answer");
    metrics::describe_counter!(SUPPLIER_CALLS_TOTAL, "Calls into plugins");
    metrics::describe_histogram!(
        SUPPLIER_CALL_DURATION_SECONDS,
        metrics::Unit::Seconds,
        "Time of a call into a plugin"
    );
    metrics::describe_counter!(PLUGIN_HTTP_REQUESTS_TOTAL, "HTTP exchanges of plugins");
    metrics::describe_counter!(SUPPLIER_EVENTS_TOTAL, "Events that suppliers told");
    metrics::describe_counter!(WEBHOOK_ATTEMPTS_TOTAL, "Requests to subscribers");
    metrics::describe_counter!(WATCH_CHECKS_TOTAL, "Questions of watches that were due");
    metrics::describe_counter!(
        WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL,
        "Subscriptions to which nothing could be delivered for days"
    );
    metrics::describe_gauge!(
        WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS,
        metrics::Unit::Seconds,
        "Age of the oldest delivery that waits for an ACTIVE subscription"
    );
}

/// An answered request, as it is logged and counted.
#[derive(Debug)]
pub struct AccessLogEntry<'a> {
    /// Its id.
    pub request_id: &'a str,
    /// HTTP method.
    pub method: &'a http::Method,
    /// Template of the path; none: unknown path.
    pub route: Option<&'a str>,
    /// HTTP status.
    pub status: u16,
    /// How long it took.
    pub duration: Duration,
    /// Whose key.
    pub organization: Option<&'a str>,
    /// The key's id.
    pub key: Option<&'a str>,
    /// Code of the error.
    pub code: Option<&'static str>,
    /// What the caller is not told.
    pub cause: Option<&'a str>,
}

impl AccessLogEntry<'_> {
    /// One line and two numbers. Paths of unknown routes are the caller's text
    /// and appear nowhere.
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

/// Methods are the caller's text too; a label has few values.
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

/// Counts what plugins do.
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
