//! One call from the circuit breaker to the record: circuit, permits, guest, interpretation of the
//! response, and the record. The record is also written if the call is dropped.

use crate::call_log::{CallRecord, PluginCallOutcome, trace_call};
use crate::call_scope::CallScope;
use crate::circuit_breaker::{CallPermit, CircuitOpen};
use crate::convert::InvalidResponse;
use crate::exports::CapabilityFunction;
use crate::guest;
use crate::plugin::Plugin;
use crate::supplier::call_error::{CallError, CallFailure};
use crate::supplier::{CallContext, Supplier};
use host_domain::supplier::Capability;
use host_domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;
use wasmtime::component::{ComponentNamedList, Lift, Lower};

impl Supplier {
    pub(super) async fn call<A, W, X, T, E>(
        &self,
        context: &CallContext,
        function: &CapabilityFunction<A, (Result<W, X>,)>,
        arguments: A,
        read: impl FnOnce(W) -> Result<T, InvalidResponse>,
    ) -> Result<T, E>
    where
        A: ComponentNamedList + Lower + Send + Sync + 'static,
        W: Lift + Send + Sync + 'static,
        X: Lift + Send + Sync + 'static,
        (Result<W, X>,): ComponentNamedList + Lift,
        E: CallError<Wire = X>,
    {
        let plugin = &*self.plugin;
        let mut record = CallTracker::begin(plugin, context, function.capability, function.name);
        let Some(export) = &function.export else {
            return Err(record.fail(CallFailure::Unsupported));
        };
        record.permit = match record.check_circuit() {
            Ok(permit) => permit,
            Err(open) => {
                let last_failure = plugin.breaker.report().last_failure.unwrap_or_default();
                return Err(record.fail(CallFailure::CircuitOpen {
                    retry_after: open.retry_after,
                    last_failure,
                }));
            }
        };
        let deadline = record.scope.deadline;
        let wait = Duration::from_millis(plugin.spec.limits.queue_wait_ms);
        let Ok(plugin_permit) = plugin.admission.acquire(wait, deadline).await else {
            return Err(record.fail(CallFailure::Overloaded));
        };
        let Ok(shared_permit) = self.call_limit.acquire(wait, deadline).await else {
            return Err(record.fail(CallFailure::Overloaded));
        };

        let response = guest::call(
            &plugin.pre,
            &plugin.provision,
            &record.scope,
            export,
            arguments,
            (plugin_permit, shared_permit),
        )
        .await;
        let (error, outcome) = match response {
            Ok((Ok(wire),)) => match read(wire) {
                Ok(response) => {
                    record.finish(PluginCallOutcome::Succeeded, None);
                    return Ok(response);
                }
                Err(invalid) => (
                    E::from_invalid_response(invalid),
                    PluginCallOutcome::InvalidResponse,
                ),
            },
            Ok((Err(wire),)) => {
                let error = E::from_wire(wire, &record.scope.sent);
                let outcome = error.outcome();
                (error, outcome)
            }
            Err(error) => return Err(record.fail(error.into())),
        };
        Err(record.finish_with_error(error, outcome))
    }
}

/// Tracks a running call and writes its record. If it is dropped early, the record has the outcome
/// `canceled`.
struct CallTracker<'a> {
    plugin: &'a Plugin,
    context: &'a CallContext,
    capability: Capability,
    function: &'static str,
    scope: Arc<CallScope>,
    permit: Option<CallPermit>,
    began: Instant,
    started_at: Timestamp,
    finished: bool,
}

impl<'a> CallTracker<'a> {
    fn begin(
        plugin: &'a Plugin,
        context: &'a CallContext,
        capability: Capability,
        function: &'static str,
    ) -> Self {
        let began = Instant::now();
        let call_time = Duration::from_millis(plugin.spec.limits.call_ms_max);
        let deadline = context.deadline.min(began + call_time);
        let booking = context.booking.as_deref();
        let scope = CallScope::new(Some(capability), &context.request_id, booking, deadline);
        Self {
            plugin,
            context,
            capability,
            function,
            scope: Arc::new(scope),
            permit: None,
            began,
            started_at: plugin.provision.clock.now(),
            finished: false,
        }
    }

    /// Checks the circuit breaker. Verifying a supplier event makes no outbound call and anyone may
    /// send one. Such a call therefore bypasses the breaker, its outcome is not counted, and the
    /// function returns `Ok(None)`.
    fn check_circuit(&self) -> Result<Option<CallPermit>, CircuitOpen> {
        if self.capability == Capability::SupplierEvents {
            return Ok(None);
        }
        self.plugin.breaker.try_acquire().map(Some)
    }

    fn fail<E: CallError>(self, failure: CallFailure) -> E {
        let outcome = failure.outcome();
        let error = E::from_failure(failure, &self.scope.sent);
        self.finish_with_error(error, outcome)
    }

    fn finish_with_error<E: std::fmt::Display>(
        mut self,
        error: E,
        outcome: PluginCallOutcome,
    ) -> E {
        self.finish(outcome, Some(&error.to_string()));
        error
    }

    fn finish(&mut self, outcome: PluginCallOutcome, detail: Option<&str>) {
        self.finished = true;
        if let Some(permit) = self.permit.take() {
            self.plugin.breaker.record_outcome(permit, outcome, detail);
        }
        let record = CallRecord {
            supplier: &self.plugin.info.id,
            digest: &self.plugin.info.digest,
            capability: self.capability,
            function: self.function,
            request_id: &self.context.request_id,
            organization: &self.context.organization,
            booking: self.context.booking.as_deref(),
            started_at: self.started_at,
            duration: self.began.elapsed(),
            outcome,
            detail,
            exchanges: self.scope.sent.attempted_requests(),
            memory_bytes: self.scope.memory_bytes.load(Ordering::Relaxed),
        };
        trace_call(&record);
        self.plugin.provision.sink.call(&record);
    }
}

impl Drop for CallTracker<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(PluginCallOutcome::Canceled, None);
        }
    }
}
