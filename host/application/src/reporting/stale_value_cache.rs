//! Values that take long to read, such as counts of all rows of a scope.

use crate::task_supervisor::TaskSupervisor;
use host_storage::DatabaseError;
use moka::future::Cache;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

/// Time in which several people share a value. Each open page is refreshed every ten seconds.
const CURRENT_TTL: Duration = Duration::from_secs(5);
/// Time after which a previous value is no longer shown.
const PREVIOUS_TTL: Duration = Duration::from_secs(10 * 60);
/// Time that a page waits for a read if there is a previous value.
const WAIT_MAX: Duration = Duration::from_millis(20);
/// Time that a page waits for a read if there is no previous value.
const FIRST_WAIT_MAX: Duration = Duration::from_secs(1);
const VALUES_MAX: u64 = 1000;

/// A stale-while-revalidate cache. While a slow read runs in a task, it returns the previous value,
/// which is at most ten minutes old.
pub(super) struct StaleValueCache<K, V> {
    tasks: TaskSupervisor,
    current: Cache<K, V>,
    previous: Cache<K, V>,
}

impl<K, V> StaleValueCache<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    pub(super) fn new(tasks: TaskSupervisor) -> Self {
        let values = |ttl| {
            let cache = Cache::builder().max_capacity(VALUES_MAX);
            cache.time_to_live(ttl).build()
        };
        Self {
            tasks,
            current: values(CURRENT_TTL),
            previous: values(PREVIOUS_TTL),
        }
    }

    /// Returns the value of a key. Starts `read` unless the value is current or already being read.
    /// If that takes long, returns the previous value, or `None` without one; a later call has the
    /// new one.
    ///
    /// # Errors
    /// The read failed.
    pub(super) async fn get(
        &self,
        key: K,
        read: impl Future<Output = Result<V, DatabaseError>> + Send + 'static,
    ) -> Result<Option<V>, DatabaseError> {
        let known = self.previous.get(&key).await;
        let wait_max = match known {
            Some(_) => WAIT_MAX,
            None => FIRST_WAIT_MAX,
        };
        let (current, previous) = (self.current.clone(), self.previous.clone());
        // The read continues if the page does not wait for it.
        let task = self.tasks.run_to_completion(async move {
            let value = current.try_get_with(key.clone(), read).await;
            let value = value.map_err(|error: Arc<DatabaseError>| error.as_ref().clone())?;
            previous.insert(key, value.clone()).await;
            Ok::<_, DatabaseError>(value)
        });
        match tokio::time::timeout(wait_max, task).await {
            Ok(Ok(read)) => read.map(Some),
            // The task takes long, or it has panicked, which is logged.
            Err(_) | Ok(Err(_)) => Ok(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    /// A read that returns what it is sent.
    async fn read(sent: oneshot::Receiver<u32>) -> Result<u32, DatabaseError> {
        sent.await.map_err(|_| DatabaseError::Closed)
    }

    #[tokio::test]
    async fn slow_read_returns_the_previous_value_and_then_its_own() {
        let tasks = TaskSupervisor::default();
        let cache = StaleValueCache::new(tasks.clone());
        let (send, sent) = oneshot::channel();
        send.send(1).unwrap();
        assert_eq!(cache.get("key", read(sent)).await.unwrap(), Some(1));

        cache.current.invalidate("key").await;
        let (send, sent) = oneshot::channel();
        assert_eq!(cache.get("key", read(sent)).await.unwrap(), Some(1));
        send.send(2).unwrap();
        tasks.begin_shutdown();
        assert!(tasks.wait_for_tasks(Duration::from_secs(5)).await);
        let (_unsent, unread) = oneshot::channel();
        assert_eq!(cache.get("key", read(unread)).await.unwrap(), Some(2));
    }

    #[tokio::test]
    async fn first_read_that_takes_long_returns_no_value() {
        let cache = StaleValueCache::new(TaskSupervisor::default());
        let (_unsent, sent) = oneshot::channel();
        assert_eq!(cache.get("key", read(sent)).await.unwrap(), None);
    }

    #[tokio::test]
    async fn failed_read_is_an_error_and_is_repeated() {
        let cache = StaleValueCache::new(TaskSupervisor::default());
        let (unsent, sent) = oneshot::channel();
        drop(unsent);
        let failed = cache.get("key", read(sent)).await;
        assert!(matches!(failed, Err(DatabaseError::Closed)));
        let (send, sent) = oneshot::channel();
        send.send(1).unwrap();
        assert_eq!(cache.get("key", read(sent)).await.unwrap(), Some(1));
    }
}
