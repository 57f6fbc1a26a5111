//! Replays of all deliveries that match a filter. A person or an operator begins them, a job does
//! them.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::jobs::worker::{JobError, JobHandler};
use crate::storage_failure::StorageFailure;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::error::WebhookError;
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};
use host_domain::audit::{Actor, AuditAction};
use host_domain::console::TenantScope;
use host_domain::id::{AccountId, BulkReplayId, SubscriptionId};
use host_domain::owner::{Mode, Tenant};
use host_domain::page::Cursor;
use host_domain::webhook::list::DeliveryScopeFilter;
use host_domain::webhook::{
    BulkReplay, BulkReplayProgress, BulkReplaySelection, BulkReplayState, Subscription,
};
use host_storage::{CommitError, Conflict, DatabaseError, StoredDelivery, UnitOfWork};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of deliveries that one bulk replay examines.
pub const DELIVERIES_MAX: u32 = 100_000;
/// Number of deliveries that are replayed in one run of the job.
const BATCH_SIZE: u32 = 200;
const CONCURRENT_WRITES_MAX: usize = 8;
/// Time for which an ended bulk replay is shown.
const SHOWN_S: i64 = 60 * 60;
/// Time for which an ended bulk replay is kept.
const KEPT_S: i64 = 30 * 24 * 60 * 60;

#[derive(Debug, thiserror::Error)]
pub enum BulkReplayError {
    /// No bulk replay has this id.
    #[error("no bulk replay has this id")]
    NotFound,
    /// More deliveries than [`DELIVERIES_MAX`] would have to be examined.
    #[error("more than {DELIVERIES_MAX} deliveries would be examined")]
    TooMany,
    /// No delivery matches.
    #[error("no delivery matches")]
    NothingMatches,
    /// The last bulk replay of the account, or of the admin listener, still runs.
    #[error("another bulk replay is running")]
    Running,
    #[error("the bulk replay could not be read or stored")]
    Storage(#[from] StorageFailure),
}

impl From<DatabaseError> for BulkReplayError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for BulkReplayError {
    fn from(error: CommitError) -> Self {
        Self::Storage(error.into())
    }
}

/// Begins, shows and stops bulk replays.
pub struct BulkReplayService {
    pub(crate) base: Base,
}

impl BulkReplayService {
    /// Begins to replay the deliveries of a scope that match now. `account` is the account of the
    /// person who begins it, `None` for a call of the admin listener.
    ///
    /// # Errors
    /// [`BulkReplayError`].
    pub async fn begin(
        &self,
        actor: &Actor,
        account: Option<&AccountId>,
        scope: TenantScope,
        filter: DeliveryScopeFilter,
    ) -> Result<BulkReplay, BulkReplayError> {
        let (store, now) = (&self.base.store, self.base.now());
        let examined_max = DELIVERIES_MAX.saturating_add(1);
        let count = store.count_scope_deliveries(&scope, &filter, now, examined_max);
        let count = count.await?;
        if count.examined > u64::from(DELIVERIES_MAX) {
            return Err(BulkReplayError::TooMany);
        }
        if count.matching == 0 {
            return Err(BulkReplayError::NothingMatches);
        }
        let bulk_replay = BulkReplay {
            id: BulkReplayId::from_bits(self.base.ids.generate()),
            account: account.cloned(),
            mode: scope.mode,
            selection: BulkReplaySelection {
                organizations: scope.organizations,
                filter,
            },
            total: count.matching,
            progress: BulkReplayProgress::default(),
            state: BulkReplayState::Running,
            created_at: now,
        };
        let concerned = self.concerned_organizations(&bulk_replay.selection).await?;
        let mut write = UnitOfWork::new(now);
        write.insert_bulk_replay(&bulk_replay, now.plus_s(-KEPT_S));
        write.schedule_job(BulkReplayJob::KIND, &job_subject(&bulk_replay), now);
        let action = AuditAction::BulkReplayStarted;
        self.audit(&mut write, actor, action, (&bulk_replay, concerned));
        let conflict = Conflict::BulkReplayRunning;
        match self.base.commit_unless(conflict, write).await? {
            true => Ok(bulk_replay),
            false => Err(BulkReplayError::Running),
        }
    }

    /// Returns an account's latest bulk replay of a mode, if it runs or has ended within the last
    /// hour.
    ///
    /// # Errors
    /// The database failed.
    pub async fn latest(
        &self,
        account: &AccountId,
        mode: Mode,
    ) -> Result<Option<BulkReplay>, DatabaseError> {
        let since = self.base.now().plus_s(-SHOWN_S);
        let store = &self.base.store;
        store.latest_bulk_replay(account, mode, since).await
    }

    /// Returns a bulk replay.
    ///
    /// # Errors
    /// [`BulkReplayError::NotFound`] or [`BulkReplayError::Storage`].
    pub async fn find(&self, id: &BulkReplayId) -> Result<BulkReplay, BulkReplayError> {
        let found = self.base.store.bulk_replay_unscoped(id).await?;
        found.ok_or(BulkReplayError::NotFound)
    }

    /// Stops a bulk replay and returns it. Deliveries that are replayed already are sent. One that
    /// has ended stays as it is.
    ///
    /// # Errors
    /// [`BulkReplayError::NotFound`] or [`BulkReplayError::Storage`].
    pub async fn stop(
        &self,
        actor: &Actor,
        id: &BulkReplayId,
    ) -> Result<BulkReplay, BulkReplayError> {
        let bulk_replay = self.find(id).await?;
        let concerned = self.concerned_organizations(&bulk_replay.selection).await?;
        let mut write = self.base.unit_of_work();
        write.stop_bulk_replay(id);
        let action = AuditAction::BulkReplayStopped;
        self.audit(&mut write, actor, action, (&bulk_replay, concerned));
        let conflict = Conflict::BulkReplayEnded;
        self.base.commit_unless(conflict, write).await?;
        self.find(id).await
    }

    /// Returns the organizations whose deliveries are replayed: that of the webhook, if the filter has
    /// one, or those of the scope. `None` if an operator replays the deliveries of all organizations.
    async fn concerned_organizations(
        &self,
        selection: &BulkReplaySelection,
    ) -> Result<Option<Vec<String>>, DatabaseError> {
        let organizations = selection.organizations.clone();
        let is_one = organizations.as_ref().is_some_and(|all| all.len() == 1);
        match &selection.filter.subscription {
            Some(webhook) if !is_one => {
                let webhook = self.base.store.subscription_unscoped(webhook).await?;
                let owner = webhook.map(|webhook| vec![webhook.tenant.organization]);
                Ok(owner.or(organizations))
            }
            Some(_) | None => Ok(organizations),
        }
    }

    /// Adds an entry to the audit log for each organization that is concerned, or one of the whole
    /// installation if these are not known.
    fn audit(
        &self,
        write: &mut UnitOfWork,
        actor: &Actor,
        action: AuditAction,
        (bulk_replay, concerned): (&BulkReplay, Option<Vec<String>>),
    ) {
        let filter = &bulk_replay.selection.filter;
        let status = match filter.is_waiting {
            true => json!("waiting"),
            false => json!(filter.status),
        };
        let after = |organization: Option<&str>, deliveries: Option<u64>| {
            json!({
                "mode": bulk_replay.mode,
                "organizations": organization.map(|one| [one]),
                "status": status,
                "webhook": filter.subscription,
                "event": filter.event_type.map(|event_type| event_type.as_str()),
                "from": filter.from.map(|at| at.to_string()),
                "to": filter.to.map(|at| at.to_string()),
                "deliveries": deliveries,
            })
        };
        let id = bulk_replay.id.as_str();
        let Some(organizations) = concerned else {
            let after = after(None, Some(bulk_replay.total));
            let change = AuditChange::new(action, id).after(after);
            return audit_in(write, &self.base, actor, change);
        };
        // The number is that of all organizations together.
        let deliveries = Some(bulk_replay.total).filter(|_| organizations.len() == 1);
        for organization in organizations {
            let after = after(Some(&organization), deliveries);
            let tenant = Tenant {
                organization,
                mode: bulk_replay.mode,
            };
            let change = AuditChange::new(action, id).of_tenant(&tenant);
            audit_in(write, &self.base, actor, change.after(after));
        }
    }
}

/// The subjects of jobs that belong to no booking begin with their mode.
fn job_subject(bulk_replay: &BulkReplay) -> String {
    format!("{}/{}", bulk_replay.mode.as_str(), bulk_replay.id)
}

/// Replays the deliveries of a bulk replay, a batch in each run.
pub(crate) struct BulkReplayJob {
    pub(crate) base: Base,
    pub(crate) deliveries: Arc<DeliveryService>,
}

impl BulkReplayJob {
    const KIND: &'static str = "bulk_replay";

    async fn replay_batch(&self, subject: &str, lease_token: &str) -> Result<(), WebhookError> {
        let store = &self.base.store;
        let id = subject.split_once('/').map_or(subject, |(_, id)| id);
        let found = match BulkReplayId::parse(id) {
            Ok(id) => store.bulk_replay_unscoped(&id).await?,
            Err(_) => None,
        };
        let Some(bulk_replay) = found.filter(|one| one.state == BulkReplayState::Running) else {
            return self.complete(subject, lease_token).await;
        };
        let BulkReplaySelection {
            organizations,
            filter,
        } = bulk_replay.selection;
        let scope = TenantScope {
            organizations,
            mode: bulk_replay.mode,
        };
        let until = bulk_replay.created_at;
        let mut progress = bulk_replay.progress;
        let after = progress.after.as_ref();
        let batch = store.scope_deliveries_after(&scope, &filter, until, after, BATCH_SIZE);
        let batch = batch.await?;
        let last = batch.last().map(|stored| {
            let delivery = &stored.delivery;
            Cursor::new(delivery.created_at, delivery.id.as_str())
        });
        let seen = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let replayed = self.replay_all(batch).await?;
        progress.replayed = progress.replayed.saturating_add(replayed);
        progress.skipped = progress
            .skipped
            .saturating_add(seen.saturating_sub(replayed));
        let has_ended = seen < u64::from(BATCH_SIZE);
        progress.after = last.or(progress.after);
        let mut write = self.base.unit_of_work();
        if has_ended {
            write.update_bulk_replay(&bulk_replay.id, &progress, BulkReplayState::Finished);
            write.complete_job(Self::KIND, subject, lease_token);
        } else {
            write.update_bulk_replay(&bulk_replay.id, &progress, BulkReplayState::Running);
            let now = self.base.now();
            write.release_job(Self::KIND, subject, lease_token, now);
        }
        let conflict = Conflict::BulkReplayEnded;
        match self.base.commit_unless(conflict, write).await? {
            true => Ok(()),
            // Somebody stopped it.
            false => self.complete(subject, lease_token).await,
        }
    }

    async fn complete(&self, subject: &str, lease_token: &str) -> Result<(), WebhookError> {
        let mut write = self.base.unit_of_work();
        write.complete_job(Self::KIND, subject, lease_token);
        Ok(self.base.store.commit(write).await?)
    }

    /// Replays deliveries and returns how many could be replayed.
    async fn replay_all(&self, batch: Vec<StoredDelivery>) -> Result<u64, WebhookError> {
        let mut subscriptions: HashMap<SubscriptionId, Option<Subscription>> = HashMap::new();
        for stored in &batch {
            let id = &stored.delivery.subscription;
            if !subscriptions.contains_key(id) {
                let found = self.base.store.subscription_unscoped(id).await?;
                subscriptions.insert(id.clone(), found);
            }
        }
        let are_replayed: Vec<bool> = stream::iter(batch)
            .map(|stored| {
                let id = &stored.delivery.subscription;
                let subscription = subscriptions.get(id).and_then(Option::as_ref);
                async move {
                    match subscription {
                        Some(subscription) => self.replay_one(subscription, stored).await,
                        None => Ok(false),
                    }
                }
            })
            .buffer_unordered(CONCURRENT_WRITES_MAX)
            .try_collect()
            .await?;
        Ok(are_replayed.into_iter().map(u64::from).sum())
    }

    async fn replay_one(
        &self,
        subscription: &Subscription,
        stored: StoredDelivery,
    ) -> Result<bool, WebhookError> {
        match self.deliveries.replay_stored(subscription, stored).await {
            Err(WebhookError::SubscriptionNotActive | WebhookError::ReplayNotAllowed(_)) => {
                Ok(false)
            }
            result => result,
        }
    }
}

impl JobHandler for BulkReplayJob {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn run<'a>(
        &'a self,
        subject: &'a str,
        lease_token: &'a str,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move { Ok(self.replay_batch(subject, lease_token).await?) }.boxed()
    }
}
