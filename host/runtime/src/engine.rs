//! The engine: compiler settings, the pool that instances come from, and the
//! ticker that interrupts guests. Every number stands here with its reason; what
//! differs by plugin is in the plugin's limits.

use crate::state::GuestState;
use std::time::Duration;
use tokio::time::Instant;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, UpdateDeadline,
};

/// How often a running guest is interrupted to let others run and to look at its
/// deadline: short enough that a loop delays nobody by more than a few
/// milliseconds, long enough that an idle gateway hardly wakes up.
pub(crate) const TICK: Duration = Duration::from_millis(4);

/// Largest linear memory that a slot of the pool can hold. A JavaScript engine
/// wants up to 256 MiB; what a plugin may really use is in its limits.
const MEMORY_BYTES_MAX: usize = 256 << 20;
/// Table elements that a slot of the pool can hold: a JavaScript engine has 60,000.
const TABLE_ELEMENTS_MAX: usize = 60_000;
/// Core instances, tables and memories that one component may be made of.
const CORE_INSTANCES_A_COMPONENT: u32 = 40;
const TABLES_A_COMPONENT: u32 = 40;
const MEMORIES_A_COMPONENT: u32 = 4;
/// Bookkeeping of one instance. JavaScript engines need 4 MiB; nothing is reserved.
const INSTANCE_BYTES_MAX: usize = 4 << 20;
/// Stack of a guest, and of the fiber that it runs on: host functions run there too.
const GUEST_STACK_BYTES: usize = 512 << 10;
const FIBER_STACK_BYTES: usize = 1 << 20;
/// Kept of a returned memory, where the kernel can tell which pages were written
/// (`PAGEMAP_SCAN`): only those are reset, and the next call takes no page faults.
/// Enough for all but the largest answers; a burst of 1,000 calls leaves at most 1 GB.
const KEPT_BYTES_SCANNED: usize = 1 << 20;
/// Kept without that help: all of it is written again on every return, so little.
const KEPT_BYTES_UNSCANNED: usize = 64 << 10;
/// Kept of a returned table, for the same reason.
const KEPT_TABLE_BYTES: usize = 8 << 10;
/// Slots of other plugins left warm before cold ones are taken; reuse bounds
/// what stays resident by the calls that really ran at once.
const UNUSED_WARM_SLOTS: u32 = 16;

/// An engine with room for `calls_max` calls at the same time.
pub(crate) fn new(calls_max: u32) -> Result<Engine, wasmtime::Error> {
    let scanning = Engine::new(&config(calls_max, Enabled::Yes, KEPT_BYTES_SCANNED));
    let engine =
        scanning.or_else(|_| Engine::new(&config(calls_max, Enabled::No, KEPT_BYTES_UNSCANNED)))?;
    start_ticker(&engine);
    Ok(engine)
}

fn config(calls_max: u32, scan: Enabled, kept_bytes: usize) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .wasm_memory64(false)
        .epoch_interruption(true)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .generate_address_map(false)
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(
            calls_max, scan, kept_bytes,
        )));
    config
}

/// Address space is reserved for each slot, memory is not used before a guest
/// writes to it. Twice as many memories as calls: most components have one.
fn pool(calls_max: u32, scan: Enabled, kept_bytes: usize) -> PoolingAllocationConfig {
    let calls = calls_max.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls.saturating_mul(CORE_INSTANCES_A_COMPONENT))
        .total_memories(calls.saturating_mul(2))
        .total_tables(calls.saturating_mul(4))
        .total_stacks(calls)
        .max_core_instances_per_component(CORE_INSTANCES_A_COMPONENT)
        .max_memories_per_component(MEMORIES_A_COMPONENT)
        .max_tables_per_component(TABLES_A_COMPONENT)
        .max_component_instance_size(INSTANCE_BYTES_MAX)
        .max_core_instance_size(INSTANCE_BYTES_MAX)
        .max_tables_per_module(4)
        .max_memories_per_module(1)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_memory_size(MEMORY_BYTES_MAX)
        .max_unused_warm_slots(UNUSED_WARM_SLOTS)
        .linear_memory_keep_resident(kept_bytes)
        .table_keep_resident(KEPT_TABLE_BYTES)
        .pagemap_scan(scan);
    pool
}

/// One thread for the engine; it ends when the last user of the engine is gone.
fn start_ticker(engine: &Engine) {
    let weak = engine.weak();
    let ticker = std::thread::Builder::new().name("guest-ticker".to_owned());
    let started = ticker.spawn(move || {
        while let Some(engine) = weak.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    });
    if let Err(error) = started {
        tracing::error!(%error, "no thread for the ticker: guests are interrupted by time-outs only");
    }
}

/// The guest used up its processor time.
#[derive(Debug, thiserror::Error)]
#[error("the plugin used all of its processor time")]
pub(crate) struct CpuTimeExceeded;

/// The guest was running at its deadline.
#[derive(Debug, thiserror::Error)]
#[error("the deadline passed")]
pub(crate) struct DeadlineExceeded;

/// What happens to a running guest at each tick: end it, or let others run.
pub(crate) fn on_tick(state: &mut GuestState) -> wasmtime::Result<UpdateDeadline> {
    state.ticks_left = state.ticks_left.saturating_sub(1);
    if state.ticks_left == 0 {
        return Err(CpuTimeExceeded.into());
    }
    if Instant::now() >= state.deadline {
        return Err(DeadlineExceeded.into());
    }
    Ok(UpdateDeadline::Yield(1))
}
