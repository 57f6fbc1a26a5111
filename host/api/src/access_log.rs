//! The access log: one line and two metrics for each HTTP call.

use std::time::Duration;

/// HTTP responses, by method, route and status.
pub const HTTP_REQUESTS_TOTAL: &str = "stopover_http_requests_total";
/// Seconds until an HTTP response, by route.
pub const HTTP_REQUEST_DURATION_SECONDS: &str = "stopover_http_request_duration_seconds";
/// An HTTP response as it is logged and counted.
#[derive(Debug)]
pub(crate) struct AccessLogEntry<'a> {
    pub request_id: &'a str,
    pub method: &'a http::Method,
    /// Template of the path; `None` if the path is unknown.
    pub route: Option<&'a str>,
    pub status: u16,
    /// Time from request to response.
    pub duration: Duration,
    /// Organization of the API key.
    pub organization: Option<&'a str>,
    /// Id of the API key.
    pub key: Option<&'a str>,
    pub code: Option<&'static str>,
    /// Cause of the error, which is not sent to the client.
    pub cause: Option<&'a str>,
}

impl AccessLogEntry<'_> {
    /// Logs one line and records two metrics. The path of an unknown route is client input and is
    /// not recorded.
    pub(crate) fn record(&self) {
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
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let label = known.into_iter().find(|name| *name == method.as_str());
    label.unwrap_or("OTHER")
}
