//! One call from the circuit breaker to the record: circuit, permits, guest, interpretation of the
//! response, and the record. The record is also written if the call is dropped.

use crate::call_log::{CallRecord, PluginCallOutcome, trace_call};
use crate::call_scope::{CallOrigin, CallScope, OutboundTracker, TimeLimit};
use crate::call_state::GuestError;
use crate::circuit_breaker::CallPermit;
use crate::convert::InvalidResponse;
use crate::convert::dropped::DroppedItems;
use crate::exports::CapabilityFunction;
use crate::guest;
use crate::plugin::Plugin;
use crate::processor_api::{PaymentLookup, RefundLookup};
use crate::supplier::call_error::{CallError, CallFailure};
use crate::supplier::{CallContext, Supplier};
use host_domain::supplier::{BookingLookup, Capability};
use host_domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use wasmtime::component::{ComponentNamedList, Lift, Lower};

/// The reason for not believing that something does not exist.
const UNPROVEN_ABSENCE: InvalidResponse = InvalidResponse {
    field: "not-found",
    reason: "the last request of the call has no response",
};

/// The result of a lookup, which may be that something does not exist.
pub(super) trait LookupResult {
    fn is_absent(&self) -> bool;
}

impl<T> LookupResult for BookingLookup<T> {
    fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound)
    }
}

impl LookupResult for PaymentLookup {
    fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound)
    }
}

impl LookupResult for RefundLookup {
    fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound)
    }
}

impl Supplier {
    /// Calls a function whose response is used as a whole or not at all.
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
        let read = |wire, _: &mut DroppedItems| read(wire);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Calls a function that looks something up. That it does not exist is believed only if the
    /// supplier responded to the last request of the call.
    pub(super) async fn call_lookup<A, W, X, T, E>(
        &self,
        context: &CallContext,
        function: &CapabilityFunction<A, (Result<W, X>,)>,
        arguments: A,
        read: impl FnOnce(W, &mut DroppedItems) -> Result<T, InvalidResponse>,
    ) -> Result<T, E>
    where
        A: ComponentNamedList + Lower + Send + Sync + 'static,
        W: Lift + Send + Sync + 'static,
        X: Lift + Send + Sync + 'static,
        (Result<W, X>,): ComponentNamedList + Lift,
        T: LookupResult,
        E: CallError<Wire = X>,
    {
        let read = |wire, dropped: &mut DroppedItems, sent: &OutboundTracker| {
            let result = read(wire, dropped)?;
            match result.is_absent() && !sent.is_last_exchange_answered() {
                true => Err(UNPROVEN_ABSENCE),
                false => Ok(result),
            }
        };
        self.call_tracked(context, function, arguments, read).await
    }

    /// Calls a function. `read` may leave out parts of the response, which are counted and logged.
    pub(super) async fn call_dropping<A, W, X, T, E>(
        &self,
        context: &CallContext,
        function: &CapabilityFunction<A, (Result<W, X>,)>,
        arguments: A,
        read: impl FnOnce(W, &mut DroppedItems) -> Result<T, InvalidResponse>,
    ) -> Result<T, E>
    where
        A: ComponentNamedList + Lower + Send + Sync + 'static,
        W: Lift + Send + Sync + 'static,
        X: Lift + Send + Sync + 'static,
        (Result<W, X>,): ComponentNamedList + Lift,
        E: CallError<Wire = X>,
    {
        let read = |wire, dropped: &mut DroppedItems, _: &OutboundTracker| read(wire, dropped);
        self.call_tracked(context, function, arguments, read).await
    }

    /// Calls a function. `read` also learns what the host knows about the requests of the call.
    async fn call_tracked<A, W, X, T, E>(
        &self,
        context: &CallContext,
        function: &CapabilityFunction<A, (Result<W, X>,)>,
        arguments: A,
        read: impl FnOnce(W, &mut DroppedItems, &OutboundTracker) -> Result<T, InvalidResponse>,
    ) -> Result<T, E>
    where
        A: ComponentNamedList + Lower + Send + Sync + 'static,
        W: Lift + Send + Sync + 'static,
        X: Lift + Send + Sync + 'static,
        (Result<W, X>,): ComponentNamedList + Lift,
        E: CallError<Wire = X>,
    {
        let plugin = &*self.plugin;
        let mut tracker = CallTracker::begin(plugin, context, function.capability, function.name);
        let Some(export) = &function.export else {
            return Err(tracker.fail(CallFailure::Unsupported));
        };
        tracker.permit = match tracker.check_circuit() {
            Ok(permit) => permit,
            Err(open) => return Err(tracker.fail(open)),
        };
        let permits = match self.acquire_permits(tracker.scope.deadline).await {
            Ok(permits) => permits,
            Err(overloaded) => return Err(tracker.fail(overloaded)),
        };

        let response = guest::call(
            &plugin.pre,
            &plugin.provision,
            &tracker.scope,
            export,
            arguments,
            permits,
        )
        .await;
        let mut dropped = DroppedItems::default();
        let (error, outcome) = match response {
            Ok((Ok(wire),)) => {
                let response = read(wire, &mut dropped, &tracker.scope.sent);
                tracker.report_dropped(&dropped);
                match response {
                    Ok(response) => {
                        tracker.finish(PluginCallOutcome::Succeeded, None);
                        return Ok(response);
                    }
                    Err(invalid) => (
                        E::from_invalid_response(invalid),
                        PluginCallOutcome::InvalidResponse,
                    ),
                }
            }
            Ok((Err(wire),)) => {
                let mut error = E::from_wire(wire, &tracker.scope.sent);
                if let Some(limit) = tracker.scope.sent.exceeded_limit() {
                    error.append(limit);
                }
                let outcome = error.outcome();
                (error, outcome)
            }
            Err(error) => {
                let failure = tracker.guest_failure(error);
                return Err(tracker.fail(failure));
            }
        };
        Err(tracker.finish_with_error(error, outcome))
    }

    /// Waits for a permit of the plugin and one of the gateway.
    async fn acquire_permits(
        &self,
        deadline: Instant,
    ) -> Result<(OwnedSemaphorePermit, OwnedSemaphorePermit), CallFailure> {
        let limits = &self.plugin.spec.limits;
        let wait = Duration::from_millis(limits.queue_wait_ms);
        let Ok(of_plugin) = self.plugin.admission.acquire(wait, deadline).await else {
            return Err(CallFailure::Overloaded(format!(
                "no call of {} became free within {} ms (limits.calls_max, limits.queue_wait_ms)",
                limits.calls_max, limits.queue_wait_ms
            )));
        };
        let Ok(shared) = self.call_limit.acquire(wait, deadline).await else {
            return Err(CallFailure::Overloaded(format!(
                "no call of the gateway became free within {} ms (limits.plugin_calls of the gateway)",
                limits.queue_wait_ms
            )));
        };
        Ok((of_plugin, shared))
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
        let ms = plugin.spec.limits.call_ms_max;
        let call_end = began + Duration::from_millis(ms);
        let limit = match call_end <= context.deadline {
            true => (call_end, TimeLimit::Call { ms }),
            false => {
                let left = context.deadline.saturating_duration_since(began);
                let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
                (context.deadline, TimeLimit::Request { ms })
            }
        };
        let origin = CallOrigin {
            request_id: context.request_id.clone(),
            organization: context.organization.clone(),
            mode: context.mode,
            booking: context.booking.clone(),
            personal: context.personal.clone(),
        };
        let scope = CallScope::new(Some(capability), origin, limit);
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
    fn check_circuit(&self) -> Result<Option<CallPermit>, CallFailure> {
        if self.capability == Capability::SupplierEvents {
            return Ok(None);
        }
        let breaker = &self.plugin.breaker;
        breaker
            .try_acquire()
            .map(Some)
            .map_err(|open| CallFailure::CircuitOpen {
                retry_after: open.retry_after,
                last_failure: breaker.report().last_failure.unwrap_or_default(),
            })
    }

    /// Converts the failure of a guest. Its reason names the function and the limit.
    fn guest_failure(&self, error: GuestError) -> CallFailure {
        let place = format!("{}.{}", self.capability.as_str(), self.function);
        match error {
            GuestError::Trapped(reason) => CallFailure::Trapped(format!("{place}: {reason}")),
            GuestError::TimedOut => {
                let limit = self.scope.time_limit;
                CallFailure::TimedOut(format!("{place}: no response before {limit}"))
            }
            GuestError::PoolExhausted => CallFailure::Overloaded(
                "the pool of instances is full (limits.plugin_calls of the gateway)".to_owned(),
            ),
        }
    }

    fn fail<E: CallError>(mut self, failure: CallFailure) -> E {
        let outcome = failure.outcome();
        let detail = failure.sentence();
        let error = E::from_failure(failure, &self.scope.sent);
        self.finish(outcome, Some(&detail));
        error
    }

    /// Counts and logs the parts of the response that are left out. The log has one line for a
    /// call, which names fields and rules and never a value.
    fn report_dropped(&self, dropped: &DroppedItems) {
        if dropped.len() == 0 {
            return;
        }
        let supplier = &self.plugin.info.id;
        for (field, count) in dropped.count_by_field() {
            let sink = &self.plugin.provision.sink;
            sink.record_dropped_items(supplier, self.capability, field, count);
        }
        tracing::warn!(
            target: "supplier_call",
            supplier = supplier.as_str(),
            operation = self.capability.as_str(),
            function = self.function,
            request_id = self.context.request_id,
            booking = self.context.booking.as_deref(),
            count = dropped.len(),
            reasons = dropped.first_reasons(),
            "parts of the response break rules of the interface and are left out; correct the adapter, or tell its author the reasons"
        );
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
        // Suppliers quote names in their messages, also in lower case.
        let detail = detail.map(|detail| self.context.personal.mask(detail));
        let detail = detail.as_deref();
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
            mode: self.context.mode,
            booking: self.context.booking.as_deref(),
            started_at: self.started_at,
            duration: self.began.elapsed(),
            outcome,
            detail,
            exchanges: self.scope.sent.attempted_requests(),
            memory_bytes: self.scope.memory_bytes.load(Ordering::Relaxed),
        };
        trace_call(&record);
        if outcome == PluginCallOutcome::Trapped {
            tracing::error!(
                target: "supplier_call",
                supplier = record.supplier.as_str(),
                operation = record.capability.as_str(),
                function = record.function,
                request_id = record.request_id,
                booking = record.booking,
                detail,
                "the plugin trapped, so the call has no result; the detail names the place or the limit"
            );
        }
        self.plugin.provision.sink.record_call(&record);
    }
}

impl Drop for CallTracker<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(PluginCallOutcome::Canceled, None);
        }
    }
}
