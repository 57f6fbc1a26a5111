use super::*;
use futures::FutureExt;
use std::thread::{self, ThreadId};

/// Maximum number of yields before a computing guest must have been moved.
const TURNS: usize = 4;

/// Computes and yields `turns` times, and returns the threads on which it ran.
async fn compute(turns: usize) -> Vec<ThreadId> {
    let mut threads = Vec::new();
    for _ in 0..turns {
        threads.push(thread::current().id());
        burn();
        give_way().await;
    }
    threads
}

fn burn() {
    let begun = thread_cpu_time();
    while thread_cpu_time() - begun < OFFLOAD_AFTER / 2 {}
}

/// Yields once, as a guest does at a tick.
async fn give_way() {
    let mut again = false;
    std::future::poll_fn(|context| {
        if again {
            return Poll::Ready(());
        }
        again = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[tokio::test]
async fn long_computation_moves_to_background_thread() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    let threads = background.offload_when_long(compute(TURNS + 3)).await;
    let stayed = threads.iter().take_while(|id| **id == here).count();
    assert!((1..=TURNS).contains(&stayed), "{threads:?}");
    assert!(!threads[stayed..].contains(&here), "{threads:?}");
}

#[tokio::test]
async fn task_that_only_yields_stays_inline() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    let work = background.offload_when_long(async {
        for _ in 0..100 {
            give_way().await;
        }
        thread::current().id()
    });
    assert_eq!(work.await, here);
}

#[tokio::test]
async fn waiting_task_returns_to_original_thread() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    let work = background.offload_when_long(async move {
        let before = compute(TURNS + 1).await.pop();
        // Waits for a condition that only holds in the original thread.
        std::future::poll_fn(|_| match thread::current().id() == here {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        before
    });
    assert_ne!(work.await, Some(here));
}

#[tokio::test]
async fn dropped_task_ends() {
    let background = BackgroundExecutor::start();
    let guard = Arc::new(());
    let watch = Arc::downgrade(&guard);
    let mut work = Box::pin(background.offload_when_long(async move {
        let _guard = guard;
        loop {
            burn();
            give_way().await;
        }
    }));
    for _ in 0..=TURNS {
        let _: Poll<()> = futures::poll!(&mut work);
    }
    drop(work);
    let ended = async {
        while watch.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(60), ended).await;
    in_time.expect("the dropped task still runs");
}

#[tokio::test]
async fn panic_reaches_caller_and_threads_survive() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    for _ in 0..thread::available_parallelism().unwrap().get() {
        let work = background.offload_when_long(async {
            compute(TURNS + 1).await;
            panic!("of a guest");
        });
        let ended: Result<(), _> = AssertUnwindSafe(work).catch_unwind().await;
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"of a guest"));
    }
    let threads = background.offload_when_long(compute(TURNS + 1)).await;
    assert_ne!(threads.last(), Some(&here));
}
