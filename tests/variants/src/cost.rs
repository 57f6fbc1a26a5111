//! The cost of a call: the processor time of its thread, and the memory that the thread holds at most.
//! Other processes do not change either, so that both can be compared.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What a call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// Bytes allocated at the same time, beyond those before the call.
    pub(crate) bytes: usize,
}

/// Runs a call and measures it.
pub(crate) fn of<T>(call: impl FnOnce() -> T) -> (T, Cost) {
    let held = HELD.get();
    PEAK.set(held);
    let start = thread_time();
    let result = call();
    let time = thread_time().saturating_sub(start);
    let bytes = PEAK.get().saturating_sub(held);
    (result, Cost { time, bytes })
}

/// Returns the processor time of a call. Unlike the time of a clock, it does not grow if the machine is
/// busy.
pub fn cpu_time(call: impl FnOnce()) -> Duration {
    let ((), cost) = of(call);
    cost.time
}

fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// The allocator of the system, which counts the bytes that each thread holds.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn count(allocated: usize, freed: usize) {
    // A thread that ends frees memory after its counters are gone.
    let _ = HELD.try_with(|held| {
        let now = held.get().saturating_add(allocated).saturating_sub(freed);
        held.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

#[expect(
    unsafe_code,
    reason = "every allocator is unsafe; this one only counts and passes on"
)]
// SAFETY: every method passes its arguments to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size, layout.size());
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_costs_the_memory_that_it_holds_at_once() {
        let once = || drop(vec![0_u8; 1 << 20]);
        let (_, cost) = of(|| [once(), once()]);
        assert_eq!(cost.bytes, 1 << 20);
    }
}
