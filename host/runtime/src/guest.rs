//! One call in one fresh instance: a store with all of its limits, an instance
//! from the pool, the call, and an end in time. The store is dropped after it.

use crate::engine::{DeadlinePassed, ProcessorTimeUsed, on_tick};
use crate::exports::Function;
use crate::provision::Provision;
use crate::state::{Broken, CallScope, GuestState};
use std::sync::Arc;
use wasmtime::component::{ComponentNamedList, InstancePre, Lift, Lower};
use wasmtime::{Engine, PoolConcurrencyLimitError, Store};

/// How a call ended, and what it used.
pub(crate) struct Ended<Answer> {
    pub(crate) answer: Result<Answer, Broken>,
    pub(crate) memory_bytes: usize,
}

pub(crate) fn new_store(
    engine: &Engine,
    provision: &Arc<Provision>,
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

/// Makes an instance, calls, and drops it.
pub(crate) async fn call<Arguments, Answer>(
    pre: &InstancePre<GuestState>,
    provision: &Arc<Provision>,
    scope: &Arc<CallScope>,
    function: &Function<Arguments, Answer>,
    arguments: Arguments,
) -> Ended<Answer>
where
    Arguments: ComponentNamedList + Lower + Send + Sync,
    Answer: ComponentNamedList + Lift + Send + Sync + 'static,
{
    let mut store = new_store(pre.engine(), provision, scope);
    let guest = async {
        let instance = pre.instantiate_async(&mut store).await?;
        let function = function
            .of(&mut store, &instance)
            .ok_or_else(|| wasmtime::Error::msg("the function is gone"))?;
        function.call_async(&mut store, arguments).await
    };
    let in_time = tokio::time::timeout_at(scope.deadline, guest).await;
    let usage = &store.data().usage;
    let answer = match in_time {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(broken(&error, usage.refused())),
        Err(_) => Err(Broken::TimedOut),
    };
    Ended {
        answer,
        memory_bytes: usage.memory_bytes(),
    }
}

/// What an error of the engine means for the call.
pub(crate) fn broken(error: &wasmtime::Error, refused: Option<&str>) -> Broken {
    if error.downcast_ref::<DeadlinePassed>().is_some() {
        return Broken::TimedOut;
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Broken::NoPlace;
    }
    if error.downcast_ref::<ProcessorTimeUsed>().is_some() {
        return Broken::Trapped(ProcessorTimeUsed.to_string());
    }
    let cause: String = error.root_cause().to_string().chars().take(200).collect();
    Broken::Trapped(match refused {
        Some(refused) => format!("the plugin trapped after {refused}: {cause}"),
        None => format!("the plugin trapped: {cause}"),
    })
}
