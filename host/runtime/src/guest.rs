//! Execution of one call in a fresh instance. It creates a store with all limits, takes an instance
//! from the pool, runs the call and ends it in time. The store is dropped with the guest.

use crate::call_scope::{CallScope, OutboundTracker};
use crate::call_state::{GuestError, GuestState};
use crate::engine::{CpuTimeExceeded, DeadlineExceeded, on_tick};
use crate::exports::TypedExport;
use crate::plugin_env::PluginEnv;
use std::sync::Arc;
use wasmtime::component::{ComponentNamedList, InstancePre, Lift, Lower};
use wasmtime::{Engine, PoolConcurrencyLimitError, Store};

/// Maximum length of the cause of a trap, and of the last error that the guest logged.
const CAUSE_CHARS_MAX: usize = 300;

pub(crate) fn new_store(
    engine: &Engine,
    provision: &Arc<PluginEnv>,
    scope: &Arc<CallScope>,
) -> Store<GuestState> {
    let mut store = Store::new(
        engine,
        GuestState::new(Arc::clone(provision), Arc::clone(scope)),
    );
    store.limiter(|state| &mut state.usage);
    store.set_hostcall_fuel(provision.limits.host_call_bytes_max);
    store.set_max_component_handles(provision.limits.handles_max);
    store.epoch_deadline_callback(|mut context| on_tick(context.data_mut()));
    store.set_epoch_deadline(1);
    store
}

/// Creates an instance, calls the function and drops the instance and then its permits. The work
/// continues in the background once it computes for long.
pub(crate) async fn call<Arguments, Response>(
    pre: &InstancePre<GuestState>,
    provision: &Arc<PluginEnv>,
    scope: &Arc<CallScope>,
    function: &TypedExport<Arguments, Response>,
    arguments: Arguments,
    places: impl Send + 'static,
) -> Result<Response, GuestError>
where
    Arguments: ComponentNamedList + Lower + Send + Sync + 'static,
    Response: ComponentNamedList + Lift + Send + Sync + 'static,
{
    let (pre, function) = (pre.clone(), *function);
    let store = new_store(pre.engine(), provision, scope);
    let guest = provision.background.offload_when_long(async move {
        // The permits move into this task, so that they are only released once the instance is
        // dropped, even if the caller is dropped earlier.
        let _places = places;
        let mut store = store;
        let called = async {
            let instance = pre.instantiate_async(&mut store).await?;
            let function = function
                .bind(&mut store, &instance)
                .ok_or_else(|| wasmtime::Error::msg("the exported function no longer exists"))?;
            function.call_async(&mut store, arguments).await
        };
        let response = called.await;
        response.map_err(|error| classify_error(&error, store.data()))
    });
    let over = CloseOnDrop(&scope.sent);
    let in_time = tokio::time::timeout_at(scope.deadline, guest).await;
    drop(over);
    in_time.unwrap_or(Err(GuestError::TimedOut))
}

/// Closes the call when it is dropped. The guest may compute until the next tick after the call has
/// ended, but it can send no request.
struct CloseOnDrop<'a>(&'a OutboundTracker);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns why a guest ended without a result: what happened, the limit that it exceeded with the
/// setting that changes it, and the last line that it logged as an error.
pub(crate) fn classify_error(error: &wasmtime::Error, state: &GuestState) -> GuestError {
    if error.downcast_ref::<DeadlineExceeded>().is_some() {
        return GuestError::TimedOut;
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return GuestError::PoolExhausted;
    }
    let mut reason = if error.downcast_ref::<CpuTimeExceeded>().is_some() {
        let limit = state.provision.limits.cpu_ms_max;
        let spent = CpuTimeExceeded;
        format!("{spent}: its limit is {limit} ms (limits.cpu_ms_max)")
    } else {
        let cause: String = error
            .root_cause()
            .to_string()
            .chars()
            .take(CAUSE_CHARS_MAX)
            .collect();
        match state.usage.denied_growth() {
            Some(refused) => format!("the plugin trapped after {refused}: {cause}"),
            None => format!("the plugin trapped: {cause}"),
        }
    };
    if let Some(line) = &state.last_error {
        let line: String = line.chars().take(CAUSE_CHARS_MAX).collect();
        reason.push_str("; its last error: ");
        reason.push_str(&line);
    }
    GuestError::Trapped(reason)
}
