//! One call from admission to record: circuit, places, guest, meaning of its
//! answer, and what is written down, also when the caller goes away.

use crate::breaker::{Open, Passage};
use crate::call_log::{CallRecord, Outcome, trace_call};
use crate::convert::Unreadable;
use crate::exports::Function;
use crate::guest;
use crate::plugin::Plugin;
use crate::state::CallScope;
use crate::supplier::ending::{Ending, Unanswered};
use crate::supplier::{CallContext, Supplier};
use host_domain::supplier::Operation;
use host_domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::time::Instant;
use wasmtime::component::{ComponentNamedList, Lift, Lower};

/// Which function of which capability.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) operation: Operation,
    pub(super) function: &'static str,
}

impl Supplier {
    /// Calls a function of the plugin and reads its answer.
    pub(super) async fn call<A, W, X, T, E>(
        &self,
        context: &CallContext,
        name: Name,
        function: Option<&Function<A, (Result<W, X>,)>>,
        arguments: A,
        read: impl FnOnce(W) -> Result<T, Unreadable>,
    ) -> Result<T, E>
    where
        A: ComponentNamedList + Lower + Send + Sync + 'static,
        W: Lift + Send + Sync + 'static,
        X: Lift + Send + Sync + 'static,
        (Result<W, X>,): ComponentNamedList + Lift,
        E: Ending<Wire = X>,
    {
        let plugin = &*self.plugin;
        let mut record = Recording::begin(plugin, context, name);
        let Some(function) = function else {
            return Err(record.end(E::unanswered(Unanswered::Unsupported), Outcome::Unsupported));
        };
        record.passage = match record.pass() {
            Ok(passage) => passage,
            Err(open) => {
                let last_failure = plugin.breaker.report().last_failure.unwrap_or_default();
                let error = E::unanswered(Unanswered::CircuitOpen {
                    retry_after: open.retry_after,
                    last_failure,
                });
                return Err(record.end(error, Outcome::CircuitOpen));
            }
        };
        let deadline = record.scope.deadline;
        let wait = plugin.spec.limits.admission_wait();
        let Ok(own_place) = plugin.admission.enter(wait, deadline).await else {
            return Err(record.end(E::unanswered(Unanswered::Overloaded), Outcome::Overloaded));
        };
        let Ok(place) = self.places.enter(wait, deadline).await else {
            return Err(record.end(E::unanswered(Unanswered::Overloaded), Outcome::Overloaded));
        };

        let answer = guest::call(
            &plugin.pre,
            &plugin.provision,
            &record.scope,
            function,
            arguments,
            (own_place, place),
        )
        .await;
        let sent = &record.scope.sent;
        match answer {
            Ok((Ok(wire),)) => match read(wire) {
                Ok(answer) => {
                    record.finish(Outcome::Done, None);
                    Ok(answer)
                }
                Err(unreadable) => Err(record.end(E::unreadable(unreadable), Outcome::Unreadable)),
            },
            Ok((Err(wire),)) => {
                let error = E::told(wire, sent);
                let outcome = error.outcome();
                Err(record.end(error, outcome))
            }
            Err(broken) => {
                let outcome = broken.outcome();
                let error = E::broken(broken, sent);
                Err(record.end(error, outcome))
            }
        }
    }
}

/// The record of a call while it runs. Dropped early, it says that the caller went away.
struct Recording<'a> {
    plugin: &'a Plugin,
    context: &'a CallContext,
    name: Name,
    scope: Arc<CallScope>,
    passage: Option<Passage>,
    began: Instant,
    started_at: Timestamp,
    finished: bool,
}

impl<'a> Recording<'a> {
    fn begin(plugin: &'a Plugin, context: &'a CallContext, name: Name) -> Self {
        let began = Instant::now();
        let deadline = context.deadline.min(began + plugin.spec.limits.call_time());
        let booking = context.booking.as_deref();
        let scope = CallScope::new(Some(name.operation), &context.request_id, booking, deadline);
        Self {
            plugin,
            context,
            name,
            scope: Arc::new(scope),
            passage: None,
            began,
            started_at: plugin.provision.clock.now(),
            finished: false,
        }
    }

    /// Through the circuit. Reading an event reaches nobody, and anybody may send
    /// one: it goes past an open circuit, and its end neither opens nor closes one.
    fn pass(&self) -> Result<Option<Passage>, Open> {
        if self.name.operation == Operation::SupplierEvents {
            return Ok(None);
        }
        self.plugin.breaker.pass().map(Some)
    }

    fn end<E: std::fmt::Display>(mut self, error: E, outcome: Outcome) -> E {
        self.finish(outcome, Some(&error.to_string()));
        error
    }

    fn finish(&mut self, outcome: Outcome, detail: Option<&str>) {
        self.finished = true;
        if let Some(passage) = self.passage.take() {
            self.plugin.breaker.ended(passage, outcome, detail);
        }
        let record = CallRecord {
            supplier: &self.plugin.info.id,
            digest: &self.plugin.info.digest,
            operation: self.name.operation,
            function: self.name.function,
            request_id: &self.context.request_id,
            organization: &self.context.organization,
            booking: self.context.booking.as_deref(),
            started_at: self.started_at,
            duration: self.began.elapsed(),
            outcome,
            detail,
            exchanges: self.scope.sent.tried(),
            memory_bytes: self.scope.memory_bytes.load(Ordering::Relaxed),
        };
        trace_call(&record);
        self.plugin.provision.sink.call(&record);
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(Outcome::Canceled, None);
        }
    }
}
