//! What belongs to one call: the data behind its store, the count of what it
//! uses, and what is known of the requests that it made. Dropped after the call.

use crate::call_log::PluginCallOutcome;
use crate::limits::PluginLimits;
use crate::provision::PluginEnv;
use host_domain::supplier::Capability;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::time::Instant;
use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// What outlives the store of a call: who asked, what left the gateway, and what
/// it took.
pub(crate) struct CallScope {
    pub(crate) operation: Option<Capability>,
    pub(crate) request_id: String,
    pub(crate) booking: Option<String>,
    pub(crate) deadline: Instant,
    pub(crate) sent: OutboundTracker,
    /// Linear memory at its largest; it never shrinks.
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

/// The host's own count of what may have reached the supplier.
#[derive(Debug, Default)]
pub(crate) struct OutboundTracker {
    closed: AtomicBool,
    tried: AtomicU32,
    any: AtomicU32,
    changing: AtomicU32,
}

impl OutboundTracker {
    /// A request is about to leave; until it is taken back, it may have arrived. False:
    /// it must not, because nobody waits for the call any more.
    #[must_use]
    pub(crate) fn try_begin(&self, changing: bool) -> bool {
        // All in one order: either this sees that the call is over, or whoever closes
        // it sees this request.
        self.any.fetch_add(1, Ordering::SeqCst);
        self.changing
            .fetch_add(u32::from(changing), Ordering::SeqCst);
        let open = !self.closed.load(Ordering::SeqCst);
        if !open {
            self.mark_unsent(changing);
        }
        open
    }

    /// The call is over, though its guest may still be computing: no request leaves
    /// after what is counted now.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// It is certain that the request did not leave.
    pub(crate) fn mark_unsent(&self, changing: bool) {
        self.any.fetch_sub(1, Ordering::SeqCst);
        self.changing
            .fetch_sub(u32::from(changing), Ordering::SeqCst);
    }

    /// Takes one of the call's requests; false when there is none left.
    pub(crate) fn try_reserve(&self, requests_max: u32) -> bool {
        self.tried.fetch_add(1, Ordering::Relaxed) < requests_max
    }

    pub(crate) fn attempted_requests(&self) -> u32 {
        self.tried.load(Ordering::Relaxed)
    }

    /// Any request may have reached the supplier.
    pub(crate) fn has_sent(&self) -> bool {
        self.any.load(Ordering::SeqCst) > 0
    }

    /// A request other than GET and HEAD may have reached the supplier.
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

/// Says that imports are implemented on the state itself.
pub(crate) struct HasGuestState;

impl HasData for HasGuestState {
    type Data<'a> = &'a mut GuestState;
}

/// A WASI context with nothing in it: no files, environment, arguments, sockets
/// or inherited streams. Made when a component first asks for it.
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

/// Memory and tables of a call, counted over the whole store.
pub(crate) struct ResourceUsage {
    /// Counts the memory: who asked for the call is told of it, whatever became of the store.
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

    /// What the guest asked for and did not get: the likely cause of a trap.
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

/// How a call broke that the guest did not end itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GuestError {
    /// The guest trapped, or wanted more than its limits.
    Trapped(String),
    /// The deadline passed.
    TimedOut,
    /// The pool had no place after all.
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
