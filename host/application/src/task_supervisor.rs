//! The task supervisor, which is the only module that starts tasks. Each task has a name, receives
//! the shutdown signal and is waited for at shutdown.

use futures::FutureExt;
use futures::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Supervisor of the application's tasks. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct TaskSupervisor {
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

/// The task of a request panicked. The log contains the cause.
#[derive(Debug, thiserror::Error)]
#[error("the task of a request ended without a result")]
pub struct TaskPanicked;

impl TaskSupervisor {
    /// Starts a task. A panic ends the task and is logged with its name.
    #[expect(clippy::disallowed_methods, reason = "only this module starts tasks")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let task = AssertUnwindSafe(Box::pin(task));
        let watched = async move {
            if task.catch_unwind().await.is_err() {
                tracing::error!(
                    task = name,
                    "a task panicked and stays stopped until the gateway is started again; report the panic with the lines before this one"
                );
            }
        };
        tokio::spawn(self.tracker.track_future(watched));
    }

    /// Starts a task for each item, as soon as there is a permit for it. The first task takes
    /// `first_permit`. Returns `false` if the semaphore is closed.
    pub async fn spawn_with_permits<T, W: Future<Output = ()> + Send + 'static>(
        &self,
        name: &'static str,
        permits: &Arc<Semaphore>,
        first_permit: OwnedSemaphorePermit,
        items: Vec<T>,
        work: impl Fn(T) -> W,
    ) -> bool {
        let mut first_permit = Some(first_permit);
        for item in items {
            let permit = match first_permit.take() {
                Some(permit) => permit,
                None => match Arc::clone(permits).acquire_owned().await {
                    Ok(permit) => permit,
                    Err(_) => return false,
                },
            };
            let work = work(item);
            self.spawn(name, async move {
                work.await;
                drop(permit);
            });
        }
        true
    }

    /// Runs work to completion in its own task, even if the returned future is dropped, and returns
    /// its result.
    ///
    /// # Errors
    /// [`TaskPanicked`] if the work panicked.
    // This is not an async function: the state of its future would hold the whole work, which can
    // be hundreds of kilobytes.
    #[expect(clippy::disallowed_methods, reason = "only this module starts tasks")]
    pub fn run_to_completion<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, TaskPanicked>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let task = tokio::spawn(self.tracker.track_future(Box::pin(work)));
        async move {
            task.await.map_err(|error| {
                tracing::error!(%error, "the task of a request panicked, so its caller gets an error; report the panic with the lines before this one");
                TaskPanicked
            })
        }
    }

    /// Starts a task that runs work now and then periodically until shutdown, which cancels a run
    /// in progress. An error is logged with the message `failure_message`; the next run is the retry.
    pub fn run_periodically<S, E>(
        &self,
        (name, failure_message): (&'static str, &'static str),
        every: Duration,
        service: S,
        work: impl for<'a> Fn(&'a S) -> BoxFuture<'a, Result<(), E>> + Send + 'static,
    ) where
        S: Send + Sync + 'static,
        E: std::error::Error + 'static,
    {
        let stopping = self.shutdown_token();
        self.spawn(name, async move {
            let mut ticks = tokio::time::interval(every);
            loop {
                tokio::select! {
                    () = stopping.cancelled() => return,
                    _ = ticks.tick() => {}
                }
                let ended = tokio::select! {
                    () = stopping.cancelled() => return,
                    ended = work(&service) => ended,
                };
                if let Err(error) = ended {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "{failure_message}; it is tried again at the next interval"
                    );
                }
            }
        });
    }

    pub fn shutdown_token(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    pub fn begin_shutdown(&self) {
        self.shutdown.cancel();
        self.tracker.close();
    }

    /// Waits up to `timeout` for all tasks. Returns `false` if some are still running.
    pub async fn wait_for_tasks(&self, timeout: Duration) -> bool {
        let ended = tokio::time::timeout(timeout, self.tracker.wait());
        ended.await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn work_completes_after_its_future_is_dropped() {
        let tasks = TaskSupervisor::default();
        let (release, released) = oneshot::channel::<()>();
        let (report, reported) = oneshot::channel();
        let work = tasks.run_to_completion(async move {
            released.await.unwrap();
            report.send("done").unwrap();
        });
        let mut work = Box::pin(work);
        assert!(futures::poll!(work.as_mut()).is_pending());
        drop(work);
        release.send(()).unwrap();
        assert_eq!(reported.await.unwrap(), "done");
        tasks.begin_shutdown();
        assert!(tasks.wait_for_tasks(Duration::from_secs(5)).await);
    }

    #[tokio::test]
    async fn panic_in_work_returns_task_panicked() {
        let tasks = TaskSupervisor::default();
        let work = async { panic!("on purpose") };
        let broken: Result<(), TaskPanicked> = tasks.run_to_completion(work).await;
        assert!(matches!(broken, Err(TaskPanicked)));
    }
}
