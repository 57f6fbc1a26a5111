//! Load: several connections that send the next request as soon as they get a response.

use crate::http_connection::HttpConnection;
use crate::sample::Samples;
use anyhow::{Result, bail, ensure};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The result of a load.
#[derive(Default)]
pub(crate) struct Done {
    /// Times of the responses with status 200.
    pub(crate) times: Samples,
    /// Every other response, as one line.
    pub(crate) failures: Vec<String>,
    pub(crate) elapsed: Duration,
}

impl Done {
    pub(crate) fn per_second(&self) -> f64 {
        let requests = u32::try_from(self.times.len()).map_or(f64::MAX, f64::from);
        requests / self.elapsed.as_secs_f64()
    }

    /// Returns this result if every request succeeded.
    ///
    /// # Errors
    /// Fails if a request failed.
    pub(crate) fn faultless(self) -> Result<Self> {
        if let Some(failure) = self.failures.first() {
            bail!(
                "{} requests failed, one of them: {failure}",
                self.failures.len()
            );
        }
        ensure!(self.times.len() > 0, "no request got a response");
        Ok(self)
    }
}

/// A load of one request that is repeated.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) base: String,
    pub(crate) request: Arc<[u8]>,
    pub(crate) connections: usize,
    /// Pause of a connection between a response and the next request.
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

    /// Runs the load for `length`.
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
    let mut connection = HttpConnection::connect(&load.base).await?;
    let mut done = Done::default();
    loop {
        let begin = Instant::now();
        if begin >= until {
            return Ok(done);
        }
        let answer = connection.exchange(&load.request).await?;
        if answer.status() == Some(200) {
            done.times.push(begin.elapsed());
        } else {
            done.failures.push(answer.to_string());
        }
        if !load.pause.is_zero() {
            tokio::time::sleep(load.pause).await;
        }
    }
}
