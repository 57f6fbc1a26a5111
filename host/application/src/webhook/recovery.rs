//! Recovery: replays of all deliveries to a subscription that failed in a period. The request replays
//! the first ones, and a job the rest, which may take longer than a request.

use crate::base::Base;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::idempotency::IdempotentRequest;
use crate::jobs::worker::{JobError, JobHandler};
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use crate::webhook::maintenance::PENDING_RETENTION_S;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::audit::AuditAction;
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionStatus};
use host_storage::StoredDelivery;
use std::sync::Arc;

/// Number of deliveries that are read and replayed at once.
const BATCH_SIZE: u32 = 200;
/// Number of batches that the request replays before it leaves the rest to the job.
const REQUEST_BATCHES_MAX: u32 = 5;
const CONCURRENT_WRITES_MAX: usize = 8;
/// Delay before the job looks again at a subscription that is not ACTIVE.
const INACTIVE_DELAY_S: i64 = 60;

/// The deliveries to a subscription that failed in a period, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Recovery {
    mode: Mode,
    subscription: SubscriptionId,
    since: Timestamp,
    until: Timestamp,
}

/// The result of a batch.
struct RecoveredBatch {
    replayed: u64,
    /// Whether no failed delivery is left.
    is_last: bool,
}

/// The state of a recovery after a run of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecoveryState {
    Finished,
    /// Time of the next run.
    Continues(Timestamp),
}

impl Recovery {
    /// Returns the subject of the job. The subjects of jobs that belong to no booking begin with
    /// their mode.
    fn job_subject(&self) -> String {
        let (mode, id) = (self.mode.as_str(), &self.subscription);
        format!("{mode}/{id}/{}/{}", self.since.0, self.until.0)
    }

    /// Parses the subject of a job; `None` if it is not valid.
    fn parse_job_subject(subject: &str) -> Option<Self> {
        let mut parts = subject.split('/');
        let recovery = Self {
            mode: Mode::parse(parts.next()?)?,
            subscription: SubscriptionId::parse(parts.next()?).ok()?,
            since: Timestamp(parts.next()?.parse().ok()?),
            until: Timestamp(parts.next()?.parse().ok()?),
        };
        parts.next().is_none().then_some(recovery)
    }
}

impl DeliveryService {
    /// Replays the deliveries that failed since a given time, and returns their number. A job replays
    /// those for which the request has no time. If this ends early, the replays stored so far
    /// remain, and another request continues. With the same key it covers the deliveries that had
    /// failed when the key was first used.
    pub async fn recover(
        &self,
        context: &RequestContext,
        product: Product,
        id: &SubscriptionId,
        since: Timestamp,
        key: Option<&IdempotentRequest>,
    ) -> Result<u64, WebhookError> {
        let tenant = &context.owner.tenant;
        let subscription = self.webhooks.find(tenant, product, id).await?;
        if subscription.status != SubscriptionStatus::Active {
            return Err(WebhookError::SubscriptionNotActive);
        }
        let mut write = self.base.unit_of_work();
        self.audit_in(
            &mut write,
            context,
            AuditAction::WebhookRecovered,
            id.as_str(),
        );
        if !write.is_empty() {
            self.base.store.commit(write).await?;
        }
        let recovery = Recovery {
            mode: tenant.mode,
            subscription: id.clone(),
            since,
            until: self.recovery_cutoff(key).await?,
        };
        let first = self.recover_first_batches(&subscription, &recovery, context.deadline);
        let (replayed, are_all) = first.await?;
        if are_all {
            return Ok(replayed);
        }
        let store = &self.base.store;
        let (since, until) = (recovery.since, recovery.until);
        let rest = store.count_failed_deliveries(tenant, id, since, until);
        let rest = rest.await?;
        let mut write = self.base.unit_of_work();
        let now = self.base.now();
        write.schedule_job(RecoveryJob::KIND, &recovery.job_subject(), now);
        store.commit(write).await?;
        Ok(replayed.saturating_add(rest))
    }

    /// Returns the time up to which failures are replayed: now, or the first use of the key.
    async fn recovery_cutoff(
        &self,
        key: Option<&IdempotentRequest>,
    ) -> Result<Timestamp, WebhookError> {
        let now = self.base.now();
        let Some(key) = key else { return Ok(now) };
        self.base
            .claim_idempotency_key(key, &now.to_string())
            .await?;
        let first_use = self.base.find_idempotent_result(Some(key)).await?;
        Ok(first_use
            .and_then(|at| Timestamp::parse(&at))
            .unwrap_or(now))
    }

    /// Replays the first of the deliveries, until half of the time to `deadline` has passed. Returns
    /// their number, and whether they are all.
    async fn recover_first_batches(
        &self,
        subscription: &Subscription,
        recovery: &Recovery,
        deadline: Deadline,
    ) -> Result<(u64, bool), WebhookError> {
        let end = Deadline::from_now(deadline.remaining() / 2);
        let mut replayed: u64 = 0;
        for _ in 0..REQUEST_BATCHES_MAX {
            let batch = self.recover_batch(subscription, recovery, Some(end));
            let batch = batch.await?;
            replayed = replayed.saturating_add(batch.replayed);
            if batch.is_last {
                return Ok((replayed, true));
            }
            if end.remaining().is_zero() {
                break;
            }
        }
        Ok((replayed, false))
    }

    /// Replays a batch of the deliveries. None is begun after `end`.
    async fn recover_batch(
        &self,
        subscription: &Subscription,
        recovery: &Recovery,
        end: Option<Deadline>,
    ) -> Result<RecoveredBatch, WebhookError> {
        let (tenant, id) = (&subscription.tenant, &subscription.id);
        let store = &self.base.store;
        let (since, until) = (recovery.since, recovery.until);
        let failed = store.failed_deliveries(tenant, id, since, until, BATCH_SIZE);
        let failed = failed.await?;
        let is_full = failed.len() >= usize::try_from(BATCH_SIZE).unwrap_or(usize::MAX);
        let replay = |stored: StoredDelivery| async move {
            if end.is_some_and(|end| end.remaining().is_zero()) {
                return Ok(None);
            }
            self.replay_stored(subscription, stored).await.map(Some)
        };
        // `None` for a delivery whose replay was not begun.
        let replays: Vec<Option<bool>> = stream::iter(failed)
            .map(replay)
            .buffer_unordered(CONCURRENT_WRITES_MAX)
            .try_collect()
            .await?;
        let is_complete = replays.iter().all(Option::is_some);
        Ok(RecoveredBatch {
            replayed: replays.into_iter().flatten().map(u64::from).sum(),
            is_last: is_complete && !is_full,
        })
    }

    /// Replays the next batch, for the job. Deliveries to a subscription that is no longer ACTIVE
    /// wait for it, as those do that are replayed already.
    async fn continue_recovery(&self, recovery: &Recovery) -> Result<RecoveryState, WebhookError> {
        let now = self.base.now();
        let found = self
            .base
            .store
            .subscription_unscoped(&recovery.subscription);
        let Some(subscription) = found.await? else {
            return Ok(RecoveryState::Finished);
        };
        if subscription.status != SubscriptionStatus::Active {
            return Ok(match now > recovery.until.plus_s(PENDING_RETENTION_S) {
                true => RecoveryState::Finished,
                false => RecoveryState::Continues(now.plus_s(INACTIVE_DELAY_S)),
            });
        }
        let batch = self.recover_batch(&subscription, recovery, None).await?;
        Ok(match batch.is_last {
            true => RecoveryState::Finished,
            false => RecoveryState::Continues(now),
        })
    }
}

/// Replays the deliveries of a recovery that the request left, a batch in each run.
pub(crate) struct RecoveryJob {
    pub(crate) base: Base,
    pub(crate) deliveries: Arc<DeliveryService>,
}

impl RecoveryJob {
    const KIND: &'static str = "delivery_recovery";

    async fn run_once(&self, subject: &str, lease_token: &str) -> Result<(), WebhookError> {
        let state = match Recovery::parse_job_subject(subject) {
            Some(recovery) => self.deliveries.continue_recovery(&recovery).await?,
            None => RecoveryState::Finished,
        };
        let mut write = self.base.unit_of_work();
        match state {
            RecoveryState::Finished => write.complete_job(Self::KIND, subject, lease_token),
            RecoveryState::Continues(due_at) => {
                write.release_job(Self::KIND, subject, lease_token, due_at)
            }
        };
        Ok(self.base.store.commit(write).await?)
    }
}

impl JobHandler for RecoveryJob {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move { Ok(self.run_once(subject, lease_token).await?) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_parsed_from_the_subject_of_its_job() {
        let recovery = Recovery {
            mode: Mode::Test,
            subscription: SubscriptionId::from_bits(1),
            since: Timestamp(-5),
            until: Timestamp(7),
        };
        let subject = recovery.job_subject();
        assert!(subject.starts_with("test/whs_"), "{subject}");
        assert_eq!(Recovery::parse_job_subject(&subject), Some(recovery));
        for other in [
            "test/brp_1",
            "test/whs_1/1",
            "test/whs_1/1/x",
            "other/whs_1/1/2",
            "test/whs_1/1/2/3",
        ] {
            assert_eq!(Recovery::parse_job_subject(other), None, "{other}");
        }
    }
}
