//! Guests that compute for long go on in threads of a low priority: there they
//! get the processor time that nobody else wants, so that others hardly notice.
//! Knows nothing of guests: what it moves is any future.

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

/// Work that took so much processor time without waiting for anything computes for
/// long. It counts from where it gave way first: an answer of an ordinary size is read
/// by then. Time that others had meanwhile does not count, or a busy machine would send
/// everything away.
const OFFLOAD_AFTER: Duration = Duration::from_millis(8);

/// Between the highest that a process may have of itself, 0, and the lowest, 19,
/// which would keep a lock for long that a guest's host function holds just then.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// The threads. They end when it is dropped and nothing is left to do.
pub(crate) struct BackgroundExecutor {
    /// None without threads: all work stays where it is.
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

/// Work up to where it gives way.
trait BackgroundTask: Send {
    /// Itself when it goes on computing.
    fn run(self: Box<Self>) -> Option<Box<dyn BackgroundTask>>;
}

impl BackgroundExecutor {
    /// As many threads as processors.
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
                    tracing::error!(%error, "a thread less for guests that compute for long");
                }
            }
        }
        Self {
            queue: (started > 0).then_some(queue),
        }
    }

    /// The same work, that goes on here once it computes for long.
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
            // Behind the others, so that all of them get on.
            if let Some(rest) = slice.run() {
                self.push(rest);
            }
        }
    }

    /// None: there will be no more.
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
    // Of this thread alone: on Linux each has its own.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::warn!(%error, "guests that compute for long have the priority of all others");
    }
}

#[cfg(not(target_os = "linux"))]
fn give_way_to_others() {}

/// What this thread has used.
#[cfg(target_os = "linux")]
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Nearly: with what others had meanwhile.
#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    use std::sync::LazyLock;
    use tokio::time::Instant;
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// Whoever polls the work, and whether it wanted to go on at once.
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

/// How far a poll came.
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

/// Work that is where it should be.
pub(crate) struct OffloadFuture<F: Future> {
    place: TaskLocation<F>,
    /// Since it gave way first after it had waited.
    computed: Option<Duration>,
    signal: Arc<YieldWaker>,
    queue: Option<Arc<TaskQueue>>,
}

enum TaskLocation<F: Future> {
    Inline(Pin<Box<F>>),
    Offloaded(oneshot::Receiver<OffloadResult<F>>),
    Taken,
}

/// What comes back from a thread.
enum OffloadResult<F: Future> {
    Done(F::Output),
    /// It waits for something, which it may do here.
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
            let moves = this.computed.is_some_and(|took| took >= OFFLOAD_AFTER);
            let queue = this.queue.as_ref().filter(|_| moves);
            match (std::mem::replace(&mut this.place, TaskLocation::Taken), queue) {
                (TaskLocation::Inline(mut work), None) => {
                    let before = this.computed.map(|took| (took, thread_cpu_time()));
                    match this.signal.poll(work.as_mut()) {
                        PollOutcome::Done(output) => return Poll::Ready(output),
                        PollOutcome::Yielded => {
                            let took = before
                                .map(|(took, then)| took + thread_cpu_time().saturating_sub(then));
                            this.computed = Some(took.unwrap_or_default());
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
                        // What it waits for may have come meanwhile.
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
    /// Its own: whoever waits for it need not hear of every turn.
    signal: Arc<YieldWaker>,
    /// Whose timers and connections it uses.
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
            // Inside the runtime, which its connections may need.
            drop(self);
            return None;
        }
        // A panic is its caller's; the thread is everybody's.
        let polled = catch_unwind(AssertUnwindSafe(|| self.signal.poll(self.work.as_mut())));
        let back = match polled {
            Ok(PollOutcome::Yielded) => return Some(self),
            Ok(PollOutcome::Pending) => OffloadResult::Waits(self.work),
            Err(panic) => OffloadResult::Panicked(panic),
            Ok(PollOutcome::Done(output)) => {
                // What it held is free before anybody hears of its end.
                drop(self.work);
                OffloadResult::Done(output)
            }
        };
        // Nobody waits any more: it ends here.
        drop(self.reply.send(back));
        None
    }
}

#[cfg(test)]
mod tests;
