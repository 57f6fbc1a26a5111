use super::*;
use futures::FutureExt;
use std::thread::{self, ThreadId};

/// More often than a computing guest may give way before it is moved.
const TURNS: usize = 4;

/// Computes so often and gives way each time; tells in which threads it ran.
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

/// As a guest does at a tick.
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
async fn what_computes_for_long_goes_on_elsewhere() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    let threads = background.offload_when_long(compute(TURNS + 3)).await;
    let stayed = threads.iter().take_while(|id| **id == here).count();
    assert!((1..=TURNS).contains(&stayed), "{threads:?}");
    assert!(!threads[stayed..].contains(&here), "{threads:?}");
}

#[tokio::test]
async fn what_gives_way_without_having_computed_stays() {
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
async fn what_waits_comes_back() {
    let background = BackgroundExecutor::start();
    let here = thread::current().id();
    let work = background.offload_when_long(async move {
        let before = compute(TURNS + 1).await.pop();
        // For something that comes about in this thread alone.
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
async fn what_nobody_waits_for_ends() {
    let background = BackgroundExecutor::start();
    let held = Arc::new(());
    let watch = Arc::downgrade(&held);
    let mut work = Box::pin(background.offload_when_long(async move {
        let _held = held;
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
    in_time.expect("it goes on for nobody");
}

#[tokio::test]
async fn a_panic_is_its_callers_and_the_threads_go_on() {
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
