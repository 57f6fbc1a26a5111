//! The WebAssembly engine: compiler settings, the instance pool, and the ticker that interrupts
//! guests. Each number is documented with its reason. Values that differ by plugin are in
//! [`PluginLimits`](crate::limits::PluginLimits).

use crate::call_state::GuestState;
use crate::limits::TICK;
use tokio::time::Instant;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, UpdateDeadline,
};

/// Maximum linear memory of a pool slot. A JavaScript engine needs up to 256 MiB. The limits of a
/// plugin restrict what it may actually use.
const MEMORY_BYTES_MAX: usize = 256 << 20;
/// Maximum number of table elements of a pool slot. A JavaScript engine has 60,000.
const TABLE_ELEMENTS_MAX: usize = 60_000;
/// Maximum number of core instances, tables and memories of one component.
const CORE_INSTANCES_A_COMPONENT: u32 = 40;
const TABLES_A_COMPONENT: u32 = 40;
const MEMORIES_A_COMPONENT: u32 = 4;
/// Maximum size of an instance's metadata. JavaScript engines need 4 MiB. No memory is reserved for
/// it.
const INSTANCE_BYTES_MAX: usize = 4 << 20;
/// Stack size of a guest, and of the fiber that it runs on. Host functions also run on the fiber's
/// stack.
const GUEST_STACK_BYTES: usize = 512 << 10;
const FIBER_STACK_BYTES: usize = 1 << 20;
/// Bytes of a returned memory that stay resident if the kernel reports which pages were written
/// (`PAGEMAP_SCAN`). Only those pages are reset, and the next call takes no page faults. The size
/// suffices for all but the largest responses; a burst of 1,000 calls leaves at most 1 GB resident.
const KEPT_BYTES_SCANNED: usize = 1 << 20;
/// Bytes of a returned memory that stay resident without `PAGEMAP_SCAN`. They are all rewritten on
/// every return, so the value is small.
const KEPT_BYTES_UNSCANNED: usize = 64 << 10;
/// Bytes of a returned table that stay resident, for the same reason.
const KEPT_TABLE_BYTES: usize = 8 << 10;
/// Maximum number of unused warm slots that are left to other plugins before cold slots are taken.
/// Reusing slots limits resident memory to the number of calls that actually ran concurrently.
const UNUSED_WARM_SLOTS: u32 = 16;

/// Creates an engine with room for `calls_max` concurrent calls.
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

/// Builds the pool configuration. Each slot reserves address space, but uses memory only once a
/// guest writes to it. The pool has twice as many memories as calls, because most components have
/// one memory.
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

/// Starts the ticker thread of the engine. The thread ends when the engine is dropped.
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
        tracing::error!(%error, "the ticker thread could not be started; guests are interrupted only by timeouts");
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the plugin used all of its CPU time")]
pub(crate) struct CpuTimeExceeded;

#[derive(Debug, thiserror::Error)]
#[error("the deadline passed")]
pub(crate) struct DeadlineExceeded;

/// Handles a tick of a running guest: ends the guest at a limit, otherwise makes it yield.
pub(crate) fn on_tick(state: &mut GuestState) -> wasmtime::Result<UpdateDeadline> {
    state.ticks_left = state.ticks_left.saturating_sub(1);
    if state.ticks_left == 0 {
        return Err(CpuTimeExceeded.into());
    }
    if Instant::now() >= state.scope.deadline {
        return Err(DeadlineExceeded.into());
    }
    Ok(UpdateDeadline::Yield(1))
}
