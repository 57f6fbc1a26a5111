//! Executor that continues long-running guest computations on low-priority threads. These threads
//! use CPU time that nothing else needs, so other work is hardly affected. The module is
//! independent of guests and executes any future.

use futures::task::{ArcWake, AtomicWaker, waker_ref};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// CPU time without waiting after which a guest is moved to the background threads. It is counted
/// from the guest's first yield, by which time a normal response is parsed. Time used by other
/// threads is excluded, or a busy machine would offload everything.
const OFFLOAD_AFTER: Duration = Duration::from_millis(8);

/// Niceness between 0, the highest priority that a process may set for itself, and 19, the lowest.
/// At 19, a lock that a guest's host function holds would stay locked for a long time.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// The background threads. They end when this value is dropped and the queue is empty.
pub(crate) struct BackgroundExecutor {
    /// `None` if no thread could be started. All work then stays on the calling thread.
    queue: Option<Arc<TaskQueue>>,
}

#[derive(Default)]
struct TaskQueue {
    waiting: Mutex<QueueState>,
    arrived: Condvar,
}

#[derive(Default)]
struct QueueState {
    slices: VecDeque<Box<dyn BackgroundTask>>,
    closed: bool,
}

/// A task that runs until it yields.
trait BackgroundTask: Send {
    /// Runs the task and returns it if it has yielded and has more to compute.
    fn run(self: Box<Self>) -> Option<Box<dyn BackgroundTask>>;
}

impl BackgroundExecutor {
    /// Starts one thread for each processor.
    pub(crate) fn start() -> Self {
        let queue = Arc::<TaskQueue>::default();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut started = 0;
        for number in 0..threads {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(format!("background-{number}"));
            match thread.spawn(move || queue.work()) {
                Ok(_) => started += 1,
                Err(error) => {
                    tracing::error!(%error, "a background thread could not be started; fewer threads run long guest computations");
                }
            }
        }
        Self {
            queue: (started > 0).then_some(queue),
        }
    }

    /// Wraps a future so that it continues on the background threads once it has computed for long.
    pub(crate) fn offload_when_long<F>(&self, work: F) -> OffloadFuture<F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        OffloadFuture {
            place: TaskLocation::Inline(Box::pin(work)),
            computed: None,
            signal: Arc::default(),
            queue: self.queue.clone(),
        }
    }
}

impl Drop for BackgroundExecutor {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            queue.waiting().closed = true;
            queue.arrived.notify_all();
        }
    }
}

impl TaskQueue {
    fn waiting(&self) -> MutexGuard<'_, QueueState> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, slice: Box<dyn BackgroundTask>) {
        self.waiting().slices.push_back(slice);
        self.arrived.notify_one();
    }

    fn work(&self) {
        lower_thread_priority();
        while let Some(slice) = self.next() {
            // The task is queued behind the others, so that all of them make progress.
            if let Some(rest) = slice.run() {
                self.push(rest);
            }
        }
    }

    /// Waits for the next task. Returns `None` if the queue is closed and empty.
    fn next(&self) -> Option<Box<dyn BackgroundTask>> {
        let mut waiting = self.waiting();
        loop {
            if let Some(slice) = waiting.slices.pop_front() {
                return Some(slice);
            }
            if waiting.closed {
                return None;
            }
            let woken = self.arrived.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(target_os = "linux")]
fn lower_thread_priority() {
    // On Linux each thread has its own niceness, so this affects only the current thread.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "the background thread's priority could not be lowered; long guest computations compete with other work");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_thread_priority() {}

/// Returns the CPU time that the current thread has used.
#[cfg(target_os = "linux")]
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns an approximation that includes the time used by other threads.
#[cfg(not(target_os = "linux"))]
fn thread_cpu_time() -> Duration {
    use std::sync::LazyLock;
    use tokio::time::Instant;
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// The waker of a polled future. It records whether the future was woken during the poll.
#[derive(Default)]
struct YieldWaker {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl ArcWake for YieldWaker {
    fn wake_by_ref(signal: &Arc<Self>) {
        signal.woken.store(true, Ordering::Release);
        signal.task.wake();
    }
}

enum PollOutcome<T> {
    Done(T),
    Yielded,
    Pending,
}

impl YieldWaker {
    fn poll<F: Future>(self: &Arc<Self>, work: Pin<&mut F>) -> PollOutcome<F::Output> {
        self.woken.store(false, Ordering::Release);
        match work.poll(&mut Context::from_waker(&waker_ref(self))) {
            Poll::Ready(output) => PollOutcome::Done(output),
            Poll::Pending if self.woken.load(Ordering::Acquire) => PollOutcome::Yielded,
            Poll::Pending => PollOutcome::Pending,
        }
    }
}

/// A future that runs inline or on the background threads.
pub(crate) struct OffloadFuture<F: Future> {
    place: TaskLocation<F>,
    /// CPU time since the first yield after the last wait.
    computed: Option<Duration>,
    signal: Arc<YieldWaker>,
    queue: Option<Arc<TaskQueue>>,
}

enum TaskLocation<F: Future> {
    Inline(Pin<Box<F>>),
    Offloaded(oneshot::Receiver<OffloadResult<F>>),
    Taken,
}

/// The result that a background thread returns.
enum OffloadResult<F: Future> {
    Done(F::Output),
    /// The future waits for an event, which it can do inline.
    Waits(Pin<Box<F>>),
    Panicked(Box<dyn Any + Send>),
}

impl<F> Future for OffloadFuture<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        this.signal.task.register(context.waker());
        loop {
            let is_long = this
                .computed
                .is_some_and(|cpu_time| cpu_time >= OFFLOAD_AFTER);
            let queue = this.queue.as_ref().filter(|_| is_long);
            match (
                std::mem::replace(&mut this.place, TaskLocation::Taken),
                queue,
            ) {
                (TaskLocation::Inline(mut work), None) => {
                    let before = this.computed.map(|cpu_time| (cpu_time, thread_cpu_time()));
                    match this.signal.poll(work.as_mut()) {
                        PollOutcome::Done(output) => return Poll::Ready(output),
                        PollOutcome::Yielded => {
                            let cpu_time = before.map(|(cpu_time, start)| {
                                cpu_time + thread_cpu_time().saturating_sub(start)
                            });
                            this.computed = Some(cpu_time.unwrap_or_default());
                        }
                        PollOutcome::Pending => this.computed = None,
                    }
                    this.place = TaskLocation::Inline(work);
                    return Poll::Pending;
                }
                (TaskLocation::Inline(work), Some(queue)) => {
                    let (reply, back) = oneshot::channel();
                    queue.push(Box::new(OffloadedTask {
                        work,
                        signal: Arc::default(),
                        runtime: Handle::current(),
                        reply,
                    }));
                    this.place = TaskLocation::Offloaded(back);
                }
                (TaskLocation::Offloaded(mut back), _) => {
                    let came = Pin::new(&mut back).poll(context);
                    if came.is_pending() {
                        this.place = TaskLocation::Offloaded(back);
                    }
                    match ready!(came) {
                        Ok(OffloadResult::Done(output)) => return Poll::Ready(output),
                        // The awaited event may have occurred meanwhile, so the future is polled
                        // again.
                        Ok(OffloadResult::Waits(work)) => {
                            this.computed = None;
                            this.place = TaskLocation::Inline(work);
                        }
                        Ok(OffloadResult::Panicked(panic)) => resume_unwind(panic),
                        Err(_) => return Poll::Pending,
                    }
                }
                (TaskLocation::Taken, _) => return Poll::Pending,
            }
        }
    }
}

struct OffloadedTask<F: Future> {
    work: Pin<Box<F>>,
    /// The task has its own waker, because the waiting task does not need to be woken at every
    /// yield.
    signal: Arc<YieldWaker>,
    /// Runtime that provides the task's timers and connections.
    runtime: Handle,
    reply: oneshot::Sender<OffloadResult<F>>,
}

impl<F> BackgroundTask for OffloadedTask<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn run(mut self: Box<Self>) -> Option<Box<dyn BackgroundTask>> {
        let runtime = self.runtime.clone();
        let _inside = runtime.enter();
        if self.reply.is_closed() {
            // The task is dropped inside the runtime, because its connections may need it.
            drop(self);
            return None;
        }
        // A panic is passed to the task's owner, so that the thread survives it.
        let polled = catch_unwind(AssertUnwindSafe(|| self.signal.poll(self.work.as_mut())));
        let back = match polled {
            Ok(PollOutcome::Yielded) => return Some(self),
            Ok(PollOutcome::Pending) => OffloadResult::Waits(self.work),
            Err(panic) => OffloadResult::Panicked(panic),
            Ok(PollOutcome::Done(output)) => {
                // The future is dropped first, so that its resources are free before the result is
                // visible.
                drop(self.work);
                OffloadResult::Done(output)
            }
        };
        // If the receiver is gone, the result is dropped.
        drop(self.reply.send(back));
        None
    }
}

#[cfg(test)]
mod tests;
