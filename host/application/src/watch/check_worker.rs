//! Runs due price checks: claims them, queries each price once, updates the watches that the price
//! triggers, and releases the check with its next due time. All state is in the database: if a
//! process dies, its checks run again once their leases have expired.

use crate::application::Application;
use crate::failpoint::FailpointPhase;
use crate::metric_names::WATCH_CHECKS_TOTAL;
use crate::watch::policy::{self, CheckAction};
use crate::watch::price_check::{CheckResult, MATCHES_MAX};
use crate::watch::service::WatchError;
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::time::Timestamp;
use host_domain::watch::ObservedPrice;
use host_domain::watch::{Event, Watch};
use host_resources::watch_event::WatchEventDetails;
use host_storage::{
    ClaimedPriceCheck, CommitError, Conflict, PriceCheckClaim, PriceCheckRelease, StoredWatch,
    UnitOfWork, WorkQueue,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Number of watches that are read in one batch, however many share a query.
const WATCH_BATCH_SIZE: u32 = 100;
/// Number of watches of a batch that are updated concurrently.
const CONCURRENT_UPDATES_MAX: usize = 8;

/// Name of the price check step, in failpoints and tests.
const CHECK_STEP: &str = "watch_check";
/// Name of the step that updates one watch.
const UPDATE_STEP: &str = "watch_move";

/// Runs the check worker until the application stops.
pub async fn run_worker(app: Arc<Application>) {
    let stopping = app.tasks.shutdown_token();
    let places = Arc::new(Semaphore::new(app.config.watches.concurrency));
    let mut word = app.store.subscribe_wakeups(WorkQueue::PriceChecks);
    let poll = Duration::from_secs(app.config.jobs.poll_s.max(1));
    while !stopping.is_cancelled() {
        let full = tokio::select! {
            () = stopping.cancelled() => return,
            full = claim_and_spawn(&app, &places) => full,
        };
        if full {
            continue;
        }
        let next_at = app.store.next_price_check_due_at().await.ok().flatten();
        let wait = next_at.map_or(poll, |at| duration_until(at, app.clock.now()).min(poll));
        tokio::select! {
            () = stopping.cancelled() => return,
            _ = word.wait(wait) => {}
        }
    }
}

fn duration_until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(at.since(now).max(1).unsigned_abs())
}

/// Claims as many checks as there are free permits and starts them. Returns whether more checks may
/// be due.
async fn claim_and_spawn(app: &Arc<Application>, places: &Arc<Semaphore>) -> bool {
    let Ok(first) = Arc::clone(places).acquire_owned().await else {
        return false;
    };
    let room = places.available_permits().saturating_add(1);
    let token = format!("{:032x}", app.ids.generate());
    let claim = PriceCheckClaim {
        now: app.clock.now(),
        limit: u32::try_from(room).unwrap_or(u32::MAX),
        lease_ms: app.lease_ms(),
        token: &token,
    };
    let claimed = match app.store.claim_price_checks(claim).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "price checks could not be claimed; they are claimed again at the next poll"
            );
            return false;
        }
    };
    let full = claimed.len() >= room;
    let mut first = Some(first);
    for ask in claimed {
        let place = match first.take() {
            Some(place) => place,
            None => match Arc::clone(places).acquire_owned().await {
                Ok(place) => place,
                Err(_) => return false,
            },
        };
        let app = Arc::clone(app);
        let tasks = app.tasks.clone();
        tasks.spawn("watch check", async move {
            run_check(&app, &ask).await;
            drop(place);
        });
    }
    full
}

async fn run_check(app: &Application, ask: &ClaimedPriceCheck) {
    let outcome = match app.process_check(ask).await {
        Ok(outcome) => outcome,
        // Another worker holds the lease now and runs the check again.
        Err(WatchError::Storage(CommitError::Conflict(Conflict::LeaseLost))) => "lost",
        Err(error) => {
            tracing::warn!(
                ask = %ask.id,
                error = &error as &dyn std::error::Error,
                "a price check could not be processed; it runs again once its lease expires"
            );
            "broken"
        }
    };
    metrics::counter!(WATCH_CHECKS_TOTAL, "outcome" => outcome).increment(1);
}

impl Application {
    /// Processes a claimed price check. Returns its outcome label for the metrics.
    async fn process_check(&self, ask: &ClaimedPriceCheck) -> Result<&'static str, WatchError> {
        match policy::check_action(ask, self.clock.now()) {
            CheckAction::Check => {}
            CheckAction::Expire => {
                self.expire_watches(ask).await?;
                return self.delete_check(ask).await;
            }
            CheckAction::Delete => return self.delete_check(ask).await,
        }
        // The second half of the lease is reserved for storing the result.
        let time = Duration::from_millis(self.lease_ms().unsigned_abs()) / 2;
        self.failpoint(CHECK_STEP, FailpointPhase::IntentCommitted);
        let looked = self.price_checker.run_check(ask, time).await;
        self.failpoint(CHECK_STEP, FailpointPhase::ResponseReceived);
        let (seen, failed) = match looked {
            Ok(sight) => {
                let seen = ObservedPrice {
                    observed_at: self.clock.now(),
                    total: sight.total(),
                };
                self.apply_price(ask, &sight, seen).await?;
                (Some(seen), None)
            }
            Err(error) => {
                tracing::info!(
                    ask = %ask.id,
                    error = &error as &dyn std::error::Error,
                    "a price check got no price"
                );
                (None, Some(error))
            }
        };
        let now = self.clock.now();
        let next_at = policy::next_check_at(ask, failed.as_ref(), self.check_interval_s(), now);
        let mut write = UnitOfWork::new(now);
        write.release_price_check(
            ask,
            PriceCheckRelease {
                observed: seen,
                next_at,
            },
        );
        self.store.commit(write).await?;
        self.failpoint(CHECK_STEP, FailpointPhase::OutcomeCommitted);
        Ok(if failed.is_none() { "seen" } else { "failed" })
    }

    fn check_interval_s(&self) -> i64 {
        i64::try_from(self.config.watches.interval_s).unwrap_or(i64::MAX)
    }

    /// Updates every watch that the price affects. If it affects none, nothing is written.
    async fn apply_price(
        &self,
        ask: &ClaimedPriceCheck,
        sight: &CheckResult,
        seen: ObservedPrice,
    ) -> Result<(), WatchError> {
        loop {
            let moved = self
                .store
                .watches_affected_by_price(&ask.tenant, &ask.id, seen.total, WATCH_BATCH_SIZE)
                .await?;
            if moved.is_empty() {
                return Ok(());
            }
            // The price is stored before the watches are updated, because their events contain it.
            let mut write = UnitOfWork::new(self.clock.now());
            write.record_observed_price(ask, seen, self.lease_ms());
            self.store.commit(write).await?;
            let event = policy::price_event(seen.total);
            let moves = moved.into_iter().map(|watch| {
                let told = event_details(&watch, sight);
                self.update_watch(watch, Some(seen), &event, told)
            });
            if !any_updated(moves).await? {
                return Ok(());
            }
        }
    }

    /// Expires every watch that waits. A watch that is being purchased ends with its purchase.
    async fn expire_watches(&self, ask: &ClaimedPriceCheck) -> Result<(), WatchError> {
        loop {
            let waiting = self
                .store
                .watches_awaiting_price(&ask.tenant, &ask.id, WATCH_BATCH_SIZE)
                .await?;
            if waiting.is_empty() {
                return Ok(());
            }
            let moves = waiting.into_iter().map(|watch| {
                self.update_watch(watch, None, &Event::Expired, WatchEventDetails::None)
            });
            if !any_updated(moves).await? {
                return Ok(());
            }
        }
    }

    /// Deletes a price check. If a watch still needs it, it is scheduled again instead.
    async fn delete_check(&self, ask: &ClaimedPriceCheck) -> Result<&'static str, WatchError> {
        let now = self.clock.now();
        let mut write = UnitOfWork::new(now);
        write.delete_price_check(ask);
        match self.store.commit(write).await {
            Ok(()) => return Ok("forgotten"),
            Err(CommitError::Conflict(Conflict::PriceCheckInUse)) => {}
            Err(error) => return Err(error.into()),
        }
        let mut write = UnitOfWork::new(now);
        // A purchase is still in progress after the query expired; the check runs again after that
        // purchase.
        let outcome = PriceCheckRelease {
            observed: None,
            next_at: now.plus_s(self.check_interval_s()),
        };
        write.release_price_check(ask, outcome);
        self.store.commit(write).await?;
        Ok("kept")
    }

    /// Applies an event to a watch, unless another process changed it first. Returns `false` if the
    /// event changes nothing.
    async fn update_watch(
        &self,
        watch: Watch,
        seen: Option<ObservedPrice>,
        event: &Event,
        told: WatchEventDetails,
    ) -> Result<bool, WatchError> {
        let stored = StoredWatch {
            watch,
            last_observed: seen,
        };
        let mut write = UnitOfWork::new(self.clock.now());
        let moved = self.apply_event_in(&mut write, &stored, event.clone(), &told);
        if !matches!(moved, Ok(Some(_))) {
            return Ok(false);
        }
        match self.store.commit(write).await {
            Ok(()) => {
                self.failpoint(UPDATE_STEP, FailpointPhase::OutcomeCommitted);
                Ok(true)
            }
            // The watch has changed, so the next batch may contain other watches.
            Err(CommitError::Conflict(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether any of the watches has changed.
async fn any_updated(
    moves: impl Iterator<Item = impl Future<Output = Result<bool, WatchError>>>,
) -> Result<bool, WatchError> {
    let moves: Vec<bool> = stream::iter(moves)
        .buffer_unordered(CONCURRENT_UPDATES_MAX)
        .try_collect()
        .await?;
    Ok(moves.contains(&true))
}

/// Returns the offer details for a watch's event, in case the watch is triggered.
fn event_details(watch: &Watch, sight: &CheckResult) -> WatchEventDetails {
    match sight {
        CheckResult::Hotel(Some((_, current))) => WatchEventDetails::CurrentPrice(current.clone()),
        CheckResult::Hotel(None) => WatchEventDetails::None,
        CheckResult::Trip(_, matches) => {
            let met = matches
                .iter()
                .filter(|(total, _)| watch.trigger.is_met_by(*total));
            let named = met.take(MATCHES_MAX).map(|(_, found)| found.clone());
            WatchEventDetails::Matches(named.collect())
        }
    }
}
