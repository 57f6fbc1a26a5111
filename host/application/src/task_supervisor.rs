//! The task supervisor, which is the only module that starts tasks. Each task has a name, receives
//! the shutdown signal and is waited for at shutdown.

use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
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
                tracing::error!(task = name, "a task panicked");
            }
        };
        tokio::spawn(self.tracker.track_future(watched));
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
                tracing::error!(%error, "the task of a request failed");
                TaskPanicked
            })
        }
    }

    /// Runs work now and then periodically until shutdown, which cancels a run in progress. An
    /// error is logged with the message `complaint`; the next run is the retry.
    pub async fn run_periodically<E, W>(
        &self,
        every: Duration,
        complaint: &'static str,
        work: impl Fn() -> W,
    ) where
        E: std::error::Error + 'static,
        W: Future<Output = Result<(), E>>,
    {
        let stopping = self.shutdown_token();
        let mut ticks = tokio::time::interval(every);
        loop {
            tokio::select! {
                () = stopping.cancelled() => return,
                _ = ticks.tick() => {}
            }
            let ended = tokio::select! {
                () = stopping.cancelled() => return,
                ended = work() => ended,
            };
            if let Err(error) = ended {
                tracing::warn!(error = &error as &dyn std::error::Error, "{complaint}");
            }
        }
    }

    /// Returns the token that is cancelled at shutdown.
    #[must_use]
    pub fn shutdown_token(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Begins the shutdown of all tasks.
    pub fn begin_shutdown(&self) {
        self.shutdown.cancel();
        self.tracker.close();
    }

    /// Waits up to `patience` for all tasks. Returns `false` if some are still running.
    pub async fn wait_for_tasks(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.tracker.wait())
            .await
            .is_ok()
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
        let broken: Result<(), TaskPanicked> = tasks
            .run_to_completion(async { panic!("on purpose") })
            .await;
        assert!(matches!(broken, Err(TaskPanicked)));
    }
}
