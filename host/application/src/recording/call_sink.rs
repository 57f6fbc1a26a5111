//! Records of plugin calls for the log and the statistics.

use crate::recording::counters::PluginCall;
use crate::recording::recorder::{TrafficRecorder, micros};
use crate::recording::redact::{redact_sentence, redact_target};
use host_domain::id::CallLogId;
use host_domain::owner::{Mode, Tenant};
use host_domain::request_log::{LoggedCall, LoggedCallKind};
use host_domain::statistics::CallResult;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{CallRecord, CallSink, ExchangeOutcome, ExchangeRecord, PluginCallOutcome};
use std::sync::Arc;
use std::time::Duration;

/// A sink that records, and passes all records on to another one.
pub(crate) struct RecordingCallSink {
    pub(crate) recorder: Arc<TrafficRecorder>,
    pub(crate) next: Arc<dyn CallSink>,
}

impl CallSink for RecordingCallSink {
    fn record_call(&self, record: &CallRecord<'_>) {
        if let Some(tenant) = tenant(&self.recorder, record.organization, record.mode) {
            let duration_us = micros(record.duration);
            let at = end(record.started_at, record.duration);
            let result = result_of(record.outcome);
            let call = PluginCall {
                supplier: record.supplier,
                capability: record.capability,
                function: record.function,
                request_id: record.request_id,
                at,
                duration_us,
                result,
                outcome: record.outcome.as_str(),
            };
            self.recorder.counters().count_call(&tenant, &call);
            self.recorder.record_call(LoggedCall {
                id: CallLogId::at(at, self.recorder.ids.generate()),
                organization: tenant.organization,
                mode: tenant.mode,
                request_id: record.request_id.to_owned(),
                kind: LoggedCallKind::Plugin,
                supplier: record.supplier.clone(),
                capability: record.capability.as_str().to_owned(),
                function: record.function.to_owned(),
                target: String::new(),
                started_at: record.started_at,
                duration_us,
                outcome: record.outcome.as_str().to_owned(),
                is_failure: result == CallResult::ServerError,
                detail: record.detail.map(redact_sentence),
                status: None,
                request_bytes: 0,
                response_bytes: 0,
            });
        }
        self.next.record_call(record);
    }

    fn record_exchange(&self, record: &ExchangeRecord<'_>) {
        if let Some(tenant) = tenant(&self.recorder, record.organization, record.mode) {
            let at = end(record.started_at, record.duration);
            self.recorder.record_call(LoggedCall {
                id: CallLogId::at(at, self.recorder.ids.generate()),
                organization: tenant.organization,
                mode: tenant.mode,
                request_id: record.request_id.to_owned(),
                kind: LoggedCallKind::Http,
                supplier: record.supplier.clone(),
                capability: record.capability.as_str().to_owned(),
                function: String::new(),
                target: redact_target(record.method, record.origin, record.path),
                started_at: record.started_at,
                duration_us: micros(record.duration),
                outcome: record.outcome.as_str().to_owned(),
                is_failure: record.outcome != ExchangeOutcome::Completed,
                detail: record.detail.map(redact_sentence),
                status: record.status,
                request_bytes: length(record.request_bytes),
                response_bytes: length(record.response_bytes),
            });
        }
        self.next.record_exchange(record);
    }

    fn record_dropped_items(
        &self,
        supplier: &SupplierId,
        capability: Capability,
        reason: &str,
        count: u64,
    ) {
        self.next
            .record_dropped_items(supplier, capability, reason, count);
    }
}

/// Returns the tenant of a call that is to be recorded. Calls about suppliers' own requests belong
/// to no tenant.
fn tenant(recorder: &TrafficRecorder, organization: &str, mode: Option<Mode>) -> Option<Tenant> {
    let mode = mode.filter(|_| recorder.is_on())?;
    Some(Tenant {
        organization: organization.to_owned(),
        mode,
    })
}

fn end(started_at: Timestamp, duration: Duration) -> Timestamp {
    started_at.plus_ms(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns whether a call failed, and because of whom. A refusal is an answer of the supplier.
const fn result_of(outcome: PluginCallOutcome) -> CallResult {
    match outcome {
        PluginCallOutcome::Succeeded | PluginCallOutcome::NotFound => CallResult::Succeeded,
        PluginCallOutcome::Refused
        | PluginCallOutcome::Declined
        | PluginCallOutcome::InvalidSignature
        | PluginCallOutcome::Unsupported
        | PluginCallOutcome::Canceled => CallResult::ClientError,
        PluginCallOutcome::RateLimited
        | PluginCallOutcome::TimedOut
        | PluginCallOutcome::Unavailable
        | PluginCallOutcome::InvalidResponse
        | PluginCallOutcome::Misconfigured
        | PluginCallOutcome::NotSent
        | PluginCallOutcome::Unknown
        | PluginCallOutcome::Trapped
        | PluginCallOutcome::Overloaded
        | PluginCallOutcome::CircuitOpen => CallResult::ServerError,
    }
}
