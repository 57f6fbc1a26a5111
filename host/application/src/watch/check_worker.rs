//! Runs due price checks: claims them, queries each price once, updates the watches that the price
//! triggers, and releases the check with its next due time. All state is in the database: if a
//! process dies, its checks run again once their leases have expired.

use crate::base::Base;
use crate::config::JobsConfig;
use crate::failpoint::{self, FailpointPhase};
use crate::metric_names::WATCH_CHECKS_TOTAL;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::policy::{self, CheckAction};
use crate::watch::price_check::{CheckResult, MATCHES_MAX, PriceChecker};
use crate::watch::service::{WatchError, WatchService};
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::time::Timestamp;
use host_domain::watch::ObservedPrice;
use host_domain::watch::{Watch, WatchTransitionEvent};
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
const CONCURRENT_UPDATES_MAX: usize = 8;

/// Name of the price check step, in failpoints and tests.
const CHECK_STEP: &str = "watch_check";
/// Name of the step that updates one watch.
const UPDATE_STEP: &str = "watch_update";

pub struct CheckWorker {
    pub(crate) base: Base,
    pub(crate) tasks: TaskSupervisor,
    pub(crate) price_checker: Arc<PriceChecker>,
    pub(crate) watches: Arc<WatchService>,
    pub(crate) jobs_config: JobsConfig,
    /// Interval between two checks of a price, in seconds.
    pub(crate) interval_s: i64,
    pub(crate) permits: Arc<Semaphore>,
}

impl CheckWorker {
    pub async fn run(self: Arc<Self>) {
        let shutdown = self.tasks.shutdown_token();
        let mut wakeups = self.base.store.subscribe_wakeups(WorkQueue::PriceChecks);
        let poll_interval = self.jobs_config.poll_interval();
        while !shutdown.is_cancelled() {
            let may_have_more = tokio::select! {
                () = shutdown.cancelled() => return,
                may_have_more = self.claim_and_spawn() => may_have_more,
            };
            if may_have_more {
                continue;
            }
            let next_at = self.base.store.next_price_check_due_at().await;
            let wait = next_at.ok().flatten().map_or(poll_interval, |at| {
                duration_until(at, self.base.now()).min(poll_interval)
            });
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = wakeups.wait(wait) => {}
            }
        }
    }

    /// Claims and starts as many checks as permits are free. Returns whether more may be due.
    async fn claim_and_spawn(self: &Arc<Self>) -> bool {
        let Ok(first_permit) = Arc::clone(&self.permits).acquire_owned().await else {
            return false;
        };
        let limit = self.permits.available_permits().saturating_add(1);
        let token = format!("{:032x}", self.base.ids.generate());
        let claim = PriceCheckClaim {
            now: self.base.now(),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            lease_ms: self.jobs_config.lease_ms(),
            token: &token,
        };
        let checks = match self.base.store.claim_price_checks(claim).await {
            Ok(checks) => checks,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "price checks could not be claimed; they are claimed again at the next poll"
                );
                return false;
            }
        };
        let may_have_more = checks.len() >= limit;
        let run = |check: ClaimedPriceCheck| {
            let worker = Arc::clone(self);
            async move { worker.run_check(&check).await }
        };
        let (tasks, permits) = (&self.tasks, &self.permits);
        let spawned = tasks.spawn_with_permits("watch check", permits, first_permit, checks, run);
        spawned.await && may_have_more
    }

    async fn run_check(&self, check: &ClaimedPriceCheck) {
        let outcome = match self.process_check(check).await {
            Ok(outcome) => outcome,
            // Another worker holds the lease now and runs the check again.
            Err(WatchError::Storage(CommitError::Conflict(Conflict::LeaseLost))) => "lease_lost",
            Err(error) => {
                tracing::warn!(
                    price_check = %check.id,
                    error = &error as &dyn std::error::Error,
                    "a price check could not be processed; it runs again once its lease expires"
                );
                "error"
            }
        };
        metrics::counter!(WATCH_CHECKS_TOTAL, "outcome" => outcome).increment(1);
    }

    fn hit_failpoint(&self, step: &str, phase: FailpointPhase) {
        failpoint::hit(&self.jobs_config.abort_at, step, phase);
    }

    /// Processes a claimed price check. Returns its outcome label for the metrics.
    async fn process_check(&self, check: &ClaimedPriceCheck) -> Result<&'static str, WatchError> {
        match policy::check_action(check, self.base.now()) {
            CheckAction::Check => {}
            CheckAction::Expire => {
                self.expire_watches(check).await?;
                return self.delete_check(check).await;
            }
            CheckAction::Delete => return self.delete_check(check).await,
        }
        // The second half of the lease is reserved for storing the result.
        let time = Duration::from_millis(self.jobs_config.lease_ms().unsigned_abs()) / 2;
        self.hit_failpoint(CHECK_STEP, FailpointPhase::IntentCommitted);
        let result = self.price_checker.run_check(check, time).await;
        self.hit_failpoint(CHECK_STEP, FailpointPhase::ResponseReceived);
        let (observed, failure) = match result {
            Ok(result) => {
                let price = ObservedPrice {
                    observed_at: self.base.now(),
                    total: result.total(),
                };
                self.apply_price(check, &result, price).await?;
                (Some(price), None)
            }
            Err(error) => {
                tracing::info!(
                    price_check = %check.id,
                    error = &error as &dyn std::error::Error,
                    "a price check got no price"
                );
                (None, Some(error))
            }
        };
        let now = self.base.now();
        let next_at = policy::next_check_at(check, failure.as_ref(), self.interval_s, now);
        let mut write = UnitOfWork::new(now);
        write.release_price_check(check, PriceCheckRelease { observed, next_at });
        self.base.store.commit(write).await?;
        self.hit_failpoint(CHECK_STEP, FailpointPhase::OutcomeCommitted);
        Ok(if failure.is_none() {
            "checked"
        } else {
            "failed"
        })
    }

    /// Updates every watch that the price affects. If it affects none, nothing is written.
    async fn apply_price(
        &self,
        check: &ClaimedPriceCheck,
        result: &CheckResult,
        price: ObservedPrice,
    ) -> Result<(), WatchError> {
        loop {
            let (store, tenant) = (&self.base.store, &check.tenant);
            let watches =
                store.watches_affected_by_price(tenant, &check.id, price.total, WATCH_BATCH_SIZE);
            let watches = watches.await?;
            if watches.is_empty() {
                return Ok(());
            }
            // The price is stored before the watches are updated, because their events contain it.
            let mut write = self.base.unit_of_work();
            write.record_observed_price(check, price, self.jobs_config.lease_ms());
            self.base.store.commit(write).await?;
            let event = policy::price_event(price.total);
            let updates = watches.into_iter().map(|watch| {
                let details = event_details(&watch, result);
                self.update_watch(watch, Some(price), &event, details)
            });
            if !any_updated(updates).await? {
                return Ok(());
            }
        }
    }

    /// Expires every watch that waits. A watch that is being purchased ends with its purchase.
    async fn expire_watches(&self, check: &ClaimedPriceCheck) -> Result<(), WatchError> {
        loop {
            let (store, tenant) = (&self.base.store, &check.tenant);
            let watches = store.watches_awaiting_price(tenant, &check.id, WATCH_BATCH_SIZE);
            let watches = watches.await?;
            if watches.is_empty() {
                return Ok(());
            }
            let updates = watches.into_iter().map(|watch| {
                let (event, details) = (&WatchTransitionEvent::Expired, WatchEventDetails::None);
                self.update_watch(watch, None, event, details)
            });
            if !any_updated(updates).await? {
                return Ok(());
            }
        }
    }

    /// Deletes a price check. If a watch still needs it, it is scheduled again instead.
    async fn delete_check(&self, check: &ClaimedPriceCheck) -> Result<&'static str, WatchError> {
        let now = self.base.now();
        let mut write = UnitOfWork::new(now);
        write.delete_price_check(check);
        let conflict = Conflict::PriceCheckInUse;
        if self.base.commit_unless(conflict, write).await? {
            return Ok("deleted");
        }
        let mut write = UnitOfWork::new(now);
        // A purchase is still in progress after the query expired; the check runs again after that
        // purchase.
        let release = PriceCheckRelease {
            observed: None,
            next_at: now.plus_s(self.interval_s),
        };
        write.release_price_check(check, release);
        self.base.store.commit(write).await?;
        Ok("rescheduled")
    }

    /// Applies an event, unless another process was faster. Returns `false` if nothing changes.
    async fn update_watch(
        &self,
        watch: Watch,
        last_observed: Option<ObservedPrice>,
        event: &WatchTransitionEvent,
        details: WatchEventDetails,
    ) -> Result<bool, WatchError> {
        let stored = StoredWatch {
            watch,
            last_observed,
        };
        let mut write = self.base.unit_of_work();
        let (watches, event) = (&self.watches, event.clone());
        let updated = watches.apply_event_in(&mut write, &stored, event, &details);
        if !matches!(updated, Ok(Some(_))) {
            return Ok(false);
        }
        // If another process changed the watch first, the next batch may contain other watches.
        if self.base.try_commit(write).await? {
            self.hit_failpoint(UPDATE_STEP, FailpointPhase::OutcomeCommitted);
        }
        Ok(true)
    }
}

fn duration_until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(at.since(now).max(1).unsigned_abs())
}

async fn any_updated(
    updates: impl Iterator<Item = impl Future<Output = Result<bool, WatchError>>>,
) -> Result<bool, WatchError> {
    let updates: Vec<bool> = stream::iter(updates)
        .buffer_unordered(CONCURRENT_UPDATES_MAX)
        .try_collect()
        .await?;
    Ok(updates.contains(&true))
}

/// Returns the offer details for a watch's event, in case the watch is triggered.
fn event_details(watch: &Watch, result: &CheckResult) -> WatchEventDetails {
    match result {
        CheckResult::Hotel(Some((_, current))) => WatchEventDetails::CurrentPrice(current.clone()),
        CheckResult::Hotel(None) => WatchEventDetails::None,
        CheckResult::Trip(_, matches) => {
            let offers = matches
                .iter()
                .filter(|(total, _)| watch.trigger.is_met_by(*total))
                .map(|(_, offer)| offer.clone());
            WatchEventDetails::Matches(offers.take(MATCHES_MAX).collect())
        }
    }
}
