//! Metrics: names, descriptions and the exporter. They contain no secrets and no personal data.

use host_api::access_log::{HTTP_REQUEST_DURATION_SECONDS, HTTP_REQUESTS_TOTAL};
use host_application::metric_names::{
    BOOKED_TOTAL_DEVIATIONS_TOTAL, JOBS_PARKED_TOTAL, PARKED_JOBS, RECORDING_DROPPED_TOTAL,
    SUPPLIER_EVENTS_TOTAL, UNRESOLVED_CALLS, WATCH_CHECKS_TOTAL, WEBHOOK_ATTEMPTS_TOTAL,
    WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS, WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL,
};
use host_domain::supplier::{Capability, SupplierId};
use host_storage::ABANDONED_CONNECTIONS;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;

/// Calls into plugins, by supplier, operation and outcome.
pub(crate) const SUPPLIER_CALLS_TOTAL: &str = "stopover_supplier_calls_total";
/// Seconds that a call into a plugin took, by supplier and operation.
pub(crate) const SUPPLIER_CALL_DURATION_SECONDS: &str = "stopover_supplier_call_duration_seconds";
/// Items of suppliers' responses that were left out, by supplier, operation and reason. The reason is
/// the field that breaks a rule of the interface, or what the plugin reports.
pub(crate) const SUPPLIER_ITEMS_DROPPED_TOTAL: &str = "stopover_supplier_items_dropped_total";
/// HTTP requests of plugins, by supplier and outcome.
pub(crate) const PLUGIN_HTTP_REQUESTS_TOTAL: &str = "stopover_plugin_http_requests_total";
const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0,
];

/// Returns the metrics of the process. All applications in the process share them.
#[must_use]
pub(crate) fn metrics_handle() -> &'static PrometheusHandle {
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

/// Renders the metrics of the process in Prometheus' text format.
pub(crate) fn render_metrics() -> String {
    let metrics = metrics_handle();
    metrics.run_upkeep();
    metrics.render()
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
    metrics::describe_counter!(
        SUPPLIER_ITEMS_DROPPED_TOTAL,
        "Items of suppliers' responses that were left out"
    );
    metrics::describe_counter!(
        BOOKED_TOTAL_DEVIATIONS_TOTAL,
        "Bookings that a supplier confirmed at another total than it bound"
    );
    metrics::describe_counter!(PLUGIN_HTTP_REQUESTS_TOTAL, "HTTP requests of plugins");
    metrics::describe_counter!(
        RECORDING_DROPPED_TOTAL,
        "Entries of the request log and of the statistics that were not recorded"
    );
    metrics::describe_counter!(SUPPLIER_EVENTS_TOTAL, "Events reported by suppliers");
    metrics::describe_counter!(WEBHOOK_ATTEMPTS_TOTAL, "Requests to webhook endpoints");
    metrics::describe_counter!(WATCH_CHECKS_TOTAL, "Price checks of watches that were due");
    metrics::describe_counter!(
        WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL,
        "Subscriptions disabled because nothing could be delivered for days"
    );
    metrics::describe_counter!(
        JOBS_PARKED_TOTAL,
        "Background jobs parked because they never finished"
    );
    metrics::describe_gauge!(
        ABANDONED_CONNECTIONS,
        "Connections on which the database still works for a caller that has stopped waiting"
    );
    metrics::describe_gauge!(PARKED_JOBS, "Background jobs that are parked");
    metrics::describe_gauge!(
        UNRESOLVED_CALLS,
        "Calls whose outcome has been unknown for more than a day"
    );
    metrics::describe_gauge!(
        WEBHOOK_OLDEST_PENDING_DELIVERY_AGE_SECONDS,
        metrics::Unit::Seconds,
        "Age of the oldest delivery that waits for an ACTIVE subscription"
    );
}

/// Counts the calls and HTTP requests of plugins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PluginMetrics;

impl host_runtime::CallSink for PluginMetrics {
    fn record_call(&self, record: &host_runtime::CallRecord<'_>) {
        let supplier = record.supplier.to_string();
        let operation = record.capability.as_str();
        let outcome = record.outcome.as_str();
        metrics::counter!(SUPPLIER_CALLS_TOTAL, "supplier" => supplier.clone(), "operation" => operation, "outcome" => outcome).increment(1);
        metrics::histogram!(SUPPLIER_CALL_DURATION_SECONDS, "supplier" => supplier, "operation" => operation)
            .record(record.duration.as_secs_f64());
    }

    fn record_exchange(&self, record: &host_runtime::ExchangeRecord<'_>) {
        let supplier = record.supplier.to_string();
        metrics::counter!(PLUGIN_HTTP_REQUESTS_TOTAL, "supplier" => supplier, "outcome" => record.outcome.as_str()).increment(1);
    }

    fn record_dropped_items(
        &self,
        supplier: &SupplierId,
        capability: Capability,
        reason: &str,
        count: u64,
    ) {
        metrics::counter!(SUPPLIER_ITEMS_DROPPED_TOTAL, "supplier" => supplier.to_string(), "operation" => capability.as_str(), "reason" => reason.to_owned()).increment(count);
    }
}
