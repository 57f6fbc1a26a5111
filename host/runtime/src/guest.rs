//! One call in one fresh instance: a store with all of its limits, an instance
//! from the pool, the call, and an end in time. The store is dropped with its guest.

use crate::engine::{DeadlineExceeded, CpuTimeExceeded, on_tick};
use crate::exports::TypedExport;
use crate::provision::PluginEnv;
use crate::state::{GuestError, CallScope, GuestState, OutboundTracker};
use std::sync::Arc;
use wasmtime::component::{ComponentNamedList, InstancePre, Lift, Lower};
use wasmtime::{Engine, PoolConcurrencyLimitError, Store};

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

/// Makes an instance, calls, and drops it, and then the places that it took; in the
/// background once it computes for long.
pub(crate) async fn call<Arguments, Answer>(
    pre: &InstancePre<GuestState>,
    provision: &Arc<PluginEnv>,
    scope: &Arc<CallScope>,
    function: &TypedExport<Arguments, Answer>,
    arguments: Arguments,
    places: impl Send + 'static,
) -> Result<Answer, GuestError>
where
    Arguments: ComponentNamedList + Lower + Send + Sync + 'static,
    Answer: ComponentNamedList + Lift + Send + Sync + 'static,
{
    let (pre, function) = (pre.clone(), *function);
    let store = new_store(pre.engine(), provision, scope);
    let guest = provision.background.offload_when_long(async move {
        // Whatever becomes of the caller: a place is free when its instance is gone.
        let _places = places;
        let mut store = store;
        let called = async {
            let instance = pre.instantiate_async(&mut store).await?;
            let function = function
                .bind(&mut store, &instance)
                .ok_or_else(|| wasmtime::Error::msg("the function is gone"))?;
            function.call_async(&mut store, arguments).await
        };
        let answer = called.await;
        answer.map_err(|error| classify_error(&error, store.data().usage.denied_growth()))
    });
    let over = CloseOnDrop(&scope.sent);
    let in_time = tokio::time::timeout_at(scope.deadline, guest).await;
    drop(over);
    in_time.unwrap_or(Err(GuestError::TimedOut))
}

/// Whatever ended the call, its guest may compute up to the next tick: it sends
/// nothing any more.
struct CloseOnDrop<'a>(&'a OutboundTracker);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What an error of the engine means for the call.
pub(crate) fn classify_error(error: &wasmtime::Error, refused: Option<&str>) -> GuestError {
    if error.downcast_ref::<DeadlineExceeded>().is_some() {
        return GuestError::TimedOut;
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return GuestError::PoolExhausted;
    }
    if error.downcast_ref::<CpuTimeExceeded>().is_some() {
        return GuestError::Trapped(CpuTimeExceeded.to_string());
    }
    let cause: String = error.root_cause().to_string().chars().take(200).collect();
    GuestError::Trapped(match refused {
        Some(refused) => format!("the plugin trapped after {refused}: {cause}"),
        None => format!("the plugin trapped: {cause}"),
    })
}
