//! The one place that starts tasks: each has a name, is waited for when the
//! process stops, and is told to stop.

use crate::api::problem::ApiError;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks of the application. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct TaskSupervisor {
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

/// The work broke; the log says how.
#[derive(Debug, thiserror::Error)]
#[error("the work ended without a result")]
struct TaskPanicked;

impl TaskSupervisor {
    /// Starts a task. A panic ends it and is logged under its name.
    #[expect(clippy::disallowed_methods, reason = "the one place that starts tasks")]
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let task = AssertUnwindSafe(Box::pin(task));
        let watched = async move {
            if task.catch_unwind().await.is_err() {
                tracing::error!(task = name, "a task panicked");
            }
        };
        tokio::spawn(self.tracker.track_future(watched));
    }

    /// Carries out work to its end, also when the caller goes away meanwhile,
    /// and waits for it.
    ///
    /// # Errors
    /// An internal error when the work panicked.
    // Not an async function: that would keep a place for the whole of the work,
    // which can be hundreds of kilobytes, in the state of whoever waits.
    #[expect(clippy::disallowed_methods, reason = "the one place that starts tasks")]
    pub fn run_to_completion<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, ApiError>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let task = tokio::spawn(self.tracker.track_future(Box::pin(work)));
        async move {
            task.await.map_err(|error| {
                tracing::error!(%error, "work of a request broke");
                ApiError::internal(TaskPanicked)
            })
        }
    }

    /// Works now, and again and again until the process stops; what runs then is
    /// dropped. An error is logged under `complaint`, and waits for the next time.
    pub(crate) async fn run_periodically<E, W>(
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

    /// Cancelled when the process begins to stop.
    #[must_use]
    pub fn shutdown_token(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Tells every task to stop.
    pub fn begin_shutdown(&self) {
        self.shutdown.cancel();
        self.tracker.close();
    }

    /// Waits for every task. False: some still run after that time.
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
    async fn work_goes_on_when_its_caller_goes_away() {
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
    async fn a_panic_in_work_is_an_internal_error() {
        let tasks = TaskSupervisor::default();
        let broken: Result<(), ApiError> = tasks.run_to_completion(async { panic!("on purpose") }).await;
        let error = broken.unwrap_err();
        assert_eq!(error.code().as_str(), "internal_error");
    }
}
