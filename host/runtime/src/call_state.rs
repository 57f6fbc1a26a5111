//! State of one call: the data of its store, its resource usage, and its outbound requests. It is
//! dropped after the call.

use crate::call_log::PluginCallOutcome;
use crate::limits::PluginLimits;
use crate::plugin_env::PluginEnv;
use host_domain::supplier::Capability;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::time::Instant;
use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The part of a call's state that outlives its store: the call's context, its outbound requests
/// and its peak memory.
pub(crate) struct CallScope {
    pub(crate) operation: Option<Capability>,
    pub(crate) request_id: String,
    pub(crate) booking: Option<String>,
    pub(crate) deadline: Instant,
    pub(crate) sent: OutboundTracker,
    /// Peak linear memory in bytes. Linear memory never shrinks.
    pub(crate) memory_bytes: AtomicUsize,
}

impl CallScope {
    pub(crate) fn new(
        operation: Option<Capability>,
        request_id: &str,
        booking: Option<&str>,
        deadline: Instant,
    ) -> Self {
        Self {
            operation,
            request_id: request_id.to_owned(),
            booking: booking.map(str::to_owned),
            deadline,
            sent: OutboundTracker::default(),
            memory_bytes: AtomicUsize::new(0),
        }
    }
}

/// The host's own count of requests that may have reached the supplier.
#[derive(Debug, Default)]
pub(crate) struct OutboundTracker {
    closed: AtomicBool,
    tried: AtomicU32,
    any: AtomicU32,
    changing: AtomicU32,
}

impl OutboundTracker {
    /// Records that a request is about to be sent; until [`mark_unsent`](Self::mark_unsent) it
    /// counts as possibly delivered. Returns `false` if the call is already closed and the request
    /// must not be sent.
    #[must_use]
    pub(crate) fn try_begin(&self, changing: bool) -> bool {
        // All operations use one total order. Either this function sees that the call is closed, or
        // the closing side sees this request.
        self.any.fetch_add(1, Ordering::SeqCst);
        self.changing
            .fetch_add(u32::from(changing), Ordering::SeqCst);
        let open = !self.closed.load(Ordering::SeqCst);
        if !open {
            self.mark_unsent(changing);
        }
        open
    }

    /// Closes the call, even if its guest is still computing. No request is sent after this point,
    /// so the counts are final.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Removes a request from the counts because it is certain that it was not sent.
    pub(crate) fn mark_unsent(&self, changing: bool) {
        self.any.fetch_sub(1, Ordering::SeqCst);
        self.changing
            .fetch_sub(u32::from(changing), Ordering::SeqCst);
    }

    /// Reserves one of the call's requests. Returns `false` if none is left.
    pub(crate) fn try_reserve(&self, requests_max: u32) -> bool {
        self.tried.fetch_add(1, Ordering::Relaxed) < requests_max
    }

    pub(crate) fn attempted_requests(&self) -> u32 {
        self.tried.load(Ordering::Relaxed)
    }

    /// Returns whether any request may have reached the supplier.
    pub(crate) fn has_sent(&self) -> bool {
        self.any.load(Ordering::SeqCst) > 0
    }

    /// Returns whether a request other than GET and HEAD may have reached the supplier.
    pub(crate) fn has_sent_mutation(&self) -> bool {
        self.changing.load(Ordering::SeqCst) > 0
    }
}

/// The data of one store.
pub(crate) struct GuestState {
    pub(crate) provision: Arc<PluginEnv>,
    pub(crate) scope: Arc<CallScope>,
    pub(crate) usage: ResourceUsage,
    pub(crate) deadline: Instant,
    pub(crate) ticks_left: u64,
    pub(crate) log_lines: u32,
    wasi: Option<Box<Wasi>>,
}

impl GuestState {
    pub(crate) fn new(provision: Arc<PluginEnv>, scope: Arc<CallScope>) -> Self {
        Self {
            usage: ResourceUsage::new(&provision.limits, &scope),
            deadline: scope.deadline,
            ticks_left: provision.limits.cpu_ticks(crate::engine::TICK),
            log_lines: 0,
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
    memory_bytes_max: usize,
    table_elements: usize,
    table_elements_max: usize,
    instances_max: usize,
    memories_max: usize,
    tables_max: usize,
    refused: Option<&'static str>,
}

impl ResourceUsage {
    fn new(limits: &PluginLimits, scope: &Arc<CallScope>) -> Self {
        Self {
            scope: Arc::clone(scope),
            memory_bytes_max: limits.memory_bytes_max,
            table_elements: 0,
            table_elements_max: limits.table_elements_max,
            instances_max: limits.instances_max,
            memories_max: limits.memories_max,
            tables_max: limits.tables_max,
            refused: None,
        }
    }

    /// Returns the growth request that was denied. It is the likely cause of a trap.
    pub(crate) const fn denied_growth(&self) -> Option<&'static str> {
        self.refused
    }
}

impl wasmtime::ResourceLimiter for ResourceUsage {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let held = &self.scope.memory_bytes;
        let wanted = held
            .load(Ordering::Relaxed)
            .saturating_add(desired.saturating_sub(current));
        let granted = wanted <= self.memory_bytes_max;
        if granted {
            held.store(wanted, Ordering::Relaxed);
        } else {
            self.refused = Some("it asked for more memory than its limit");
        }
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        let granted = wanted <= self.table_elements_max;
        if granted {
            self.table_elements = wanted;
        } else {
            self.refused = Some("it asked for more table elements than its limit");
        }
        Ok(granted)
    }

    fn instances(&self) -> usize {
        self.instances_max
    }

    fn tables(&self) -> usize {
        self.tables_max
    }

    fn memories(&self) -> usize {
        self.memories_max
    }
}

/// The reason why a call ended without a result of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GuestError {
    /// The guest trapped or exceeded its limits.
    Trapped(String),
    /// The deadline passed.
    TimedOut,
    /// The instance pool had no free slot.
    PoolExhausted,
}

impl GuestError {
    pub(crate) const fn outcome(&self) -> PluginCallOutcome {
        match self {
            Self::Trapped(_) => PluginCallOutcome::Trapped,
            Self::TimedOut => PluginCallOutcome::TimedOut,
            Self::PoolExhausted => PluginCallOutcome::Overloaded,
        }
    }
}
