//! State of one call: the data of its store and its resource usage. It is dropped after the call.

use crate::call_scope::CallScope;
use crate::limits::TICK;
use crate::plugin_env::PluginEnv;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

pub(crate) struct GuestState {
    pub(crate) provision: Arc<PluginEnv>,
    pub(crate) scope: Arc<CallScope>,
    pub(crate) usage: ResourceUsage,
    pub(crate) ticks_left: u64,
    pub(crate) log_lines: u32,
    /// Items that the guest reported as left out.
    pub(crate) dropped_items: u32,
    /// The last line that the guest logged as an error, such as the message and place of a panic.
    pub(crate) last_error: Option<String>,
    wasi: Option<Box<Wasi>>,
}

impl GuestState {
    pub(crate) fn new(provision: Arc<PluginEnv>, scope: Arc<CallScope>) -> Self {
        Self {
            usage: ResourceUsage {
                scope: Arc::clone(&scope),
                provision: Arc::clone(&provision),
                table_elements: 0,
                refused: None,
            },
            ticks_left: provision.limits.cpu_ticks(TICK),
            log_lines: 0,
            dropped_items: 0,
            last_error: None,
            wasi: None,
            provision,
            scope,
        }
    }
}

/// Marker type that implements the imports on [`GuestState`] itself.
pub(crate) struct HasGuestState;

impl HasData for HasGuestState {
    type Data<'a> = &'a mut GuestState;
}

/// A WASI context without files, environment, arguments, sockets or inherited streams. It is
/// created when a component first uses it.
struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl WasiView for GuestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| {
            Box::new(Wasi {
                context: WasiCtx::builder().build(),
                table: ResourceTable::new(),
            })
        });
        WasiCtxView {
            ctx: &mut wasi.context,
            table: &mut wasi.table,
        }
    }
}

/// Memory and table usage of a call, summed over the whole store.
pub(crate) struct ResourceUsage {
    /// Scope that counts the memory, so that the call record contains it even after the store is
    /// dropped.
    scope: Arc<CallScope>,
    provision: Arc<PluginEnv>,
    table_elements: usize,
    refused: Option<String>,
}

impl ResourceUsage {
    /// Returns the growth request that was denied, with its limit. It is the likely cause of a trap.
    pub(crate) fn denied_growth(&self) -> Option<&str> {
        self.refused.as_deref()
    }
}

impl wasmtime::ResourceLimiter for ResourceUsage {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let memory_bytes = &self.scope.memory_bytes;
        let requested = memory_bytes
            .load(Ordering::Relaxed)
            .saturating_add(desired.saturating_sub(current));
        let granted = requested <= self.provision.limits.memory_bytes_max;
        if granted {
            memory_bytes.store(requested, Ordering::Relaxed);
        } else {
            let limit = self.provision.limits.memory_bytes_max;
            self.refused = Some(format!(
                "it asked for {requested} bytes of memory, more than its limit of {limit} (limits.memory_bytes_max)"
            ));
        }
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let requested = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        let granted = requested <= self.provision.limits.table_elements_max;
        if granted {
            self.table_elements = requested;
        } else {
            let limit = self.provision.limits.table_elements_max;
            self.refused = Some(format!(
                "it asked for {requested} table elements, more than its limit of {limit} (limits.table_elements_max)"
            ));
        }
        Ok(granted)
    }

    fn instances(&self) -> usize {
        self.provision.limits.instances_max
    }

    fn tables(&self) -> usize {
        self.provision.limits.tables_max
    }

    fn memories(&self) -> usize {
        self.provision.limits.memories_max
    }
}

/// The reason why a call ended without a result of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GuestError {
    /// The guest trapped or exceeded its limits.
    Trapped(String),
    TimedOut,
    /// The instance pool had no free slot.
    PoolExhausted,
}
