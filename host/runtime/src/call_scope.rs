//! Context and outbound requests of one call. They are shared by the guest's store and the egress.

use host_domain::supplier::Capability;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tokio::time::Instant;

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
