//! Load: several connections that ask again as soon as they are answered.

use crate::sample::Samples;
use crate::wire::Wire;
use anyhow::{Result, bail, ensure};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// What a load did.
#[derive(Default)]
pub(crate) struct Done {
    /// Of answers with status 200.
    pub(crate) times: Samples,
    /// Every other answer, in one line.
    pub(crate) failures: Vec<String>,
    pub(crate) elapsed: Duration,
}

impl Done {
    pub(crate) fn per_second(&self) -> f64 {
        let requests = u32::try_from(self.times.len()).map_or(f64::MAX, f64::from);
        requests / self.elapsed.as_secs_f64()
    }

    /// # Errors
    /// Something failed.
    pub(crate) fn faultless(self) -> Result<Self> {
        if let Some(failure) = self.failures.first() {
            bail!(
                "{} requests failed, one of them: {failure}",
                self.failures.len()
            );
        }
        ensure!(self.times.len() > 0, "nothing was answered");
        Ok(self)
    }
}

/// The same request over and over.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) base: String,
    pub(crate) request: Arc<[u8]>,
    pub(crate) connections: usize,
    /// Between an answer and the next request of a connection.
    pub(crate) pause: Duration,
}

impl Load {
    pub(crate) fn new(base: &str, request: Vec<u8>, connections: usize) -> Self {
        Self {
            base: base.to_owned(),
            request: request.into(),
            connections,
            pause: Duration::ZERO,
        }
    }

    /// For so long.
    pub(crate) async fn run(&self, length: Duration) -> Result<Done> {
        let mut workers = JoinSet::new();
        let begin = Instant::now();
        for _ in 0..self.connections {
            workers.spawn(ask(self.clone(), begin + length));
        }
        let mut all = Done::default();
        while let Some(worker) = workers.join_next().await {
            let done = worker??;
            all.times.extend(done.times);
            all.failures.extend(done.failures);
        }
        all.elapsed = begin.elapsed();
        Ok(all)
    }
}

async fn ask(load: Load, until: Instant) -> Result<Done> {
    let mut wire = Wire::connect(&load.base).await?;
    let mut done = Done::default();
    loop {
        let begin = Instant::now();
        if begin >= until {
            return Ok(done);
        }
        let answer = wire.exchange(&load.request).await?;
        if answer.status() == Some(200) {
            done.times.push(begin.elapsed());
        } else {
            done.failures.push(format!(
                "{}: {}",
                answer.first_line,
                String::from_utf8_lossy(answer.body)
            ));
        }
        if !load.pause.is_zero() {
            tokio::time::sleep(load.pause).await;
        }
    }
}
