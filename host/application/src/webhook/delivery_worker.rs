//! Sends due deliveries: claims them, starts an attempt of each, and stores the results in batches.
//! All state is in the database: if a process dies, its deliveries are sent again once their leases
//! have expired.

use crate::base::Base;
use crate::config::{JobsConfig, WebhooksConfig};
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::failpoint::{self, FailpointPhase};
use crate::metric_names::{WEBHOOK_ATTEMPTS_TOTAL, WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL};
use crate::sealer::Sealer;
use crate::task_supervisor::TaskSupervisor;
use crate::webhook::attempt::{self, AttemptResult};
use crate::webhook::endpoint::{Endpoint, InFlight};
use crate::webhook::error::WebhookError;
use crate::webhook::http_sender::HttpSender;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::recipient::{ActiveSecrets, Recipient, SubscriptionUpdates};
use crate::webhook::service::{SubscriptionTransition, WebhookService};
use crate::webhook::signing_secret::{self, SecretSlot};
use host_domain::id::SubscriptionId;
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionEvent, SubscriptionStatus};
use host_storage::{DeliveryClaim, DeliveryRelease, DueSubscription, StoredDelivery, WorkQueue};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// Maximum number of deliveries in flight on this process, whose bodies take memory.
const IN_FLIGHT_MAX: u32 = 2048;
const SUBSCRIPTION_BATCH_SIZE: u32 = 200;
const RESULT_BATCH_SIZE: usize = 256;
/// Number of endpoints above which idle ones are removed.
const ENDPOINTS_MAX: usize = 10_000;
/// Maximum number of attempts to store results; after that, the leases expire.
const STORE_ATTEMPTS_MAX: u32 = 5;
const STORE_RETRY_DELAY: Duration = Duration::from_millis(500);
/// Time limit of updating one subscription after an attempt: this maximum, or this share of the
/// time for storing if that is less. Other results wait meanwhile.
const SUBSCRIPTION_UPDATE_TIMEOUT: Duration = Duration::from_secs(1);
const SUBSCRIPTION_UPDATE_SHARE: u32 = 10;

/// The report about a claimed delivery: its attempt, or that there was none.
type AttemptReport = (DeliveryRelease, AttemptEffect);

struct AttemptEffect {
    recipient: Arc<Recipient>,
    event: Option<SubscriptionEvent>,
    /// Counts the delivery as in flight until its result is stored.
    _in_flight: InFlight,
}

/// Name of the delivery step, in failpoints and tests.
const STEP: &str = "deliver";

pub struct DeliveryWorker {
    pub(crate) base: Base,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) policy: Arc<DeliveryPolicy>,
    pub(crate) sender: HttpSender,
    pub(crate) webhooks: Arc<WebhookService>,
    pub(crate) tasks: TaskSupervisor,
    pub(crate) config: WebhooksConfig,
    pub(crate) jobs_config: JobsConfig,
}

fn duration_until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(at.since(now).max(0).unsigned_abs())
}

impl DeliveryWorker {
    /// Sends due deliveries until the application stops.
    pub async fn run(self: Arc<Self>) {
        let stopping = self.tasks.shutdown_token();
        let capacity_freed = Arc::new(Notify::new());
        let (report, reports) = mpsc::channel(RESULT_BATCH_SIZE);
        let (recorder, notify) = (Arc::clone(&self), Arc::clone(&capacity_freed));
        self.tasks.spawn("webhook outcomes", async move {
            recorder.store_results(reports, &notify).await;
        });
        let poll_interval = self.jobs_config.poll_interval();
        let mut wakeups = self.base.store.subscribe_wakeups(WorkQueue::Deliveries);
        let mut dispatcher = DeliveryDispatcher {
            worker: Arc::clone(&self),
            endpoints: HashMap::new(),
            report,
        };
        while !stopping.is_cancelled() {
            let next_at = dispatcher.dispatch_due().await;
            let wait = next_at.map_or(poll_interval, |at| {
                duration_until(at, self.base.now()).min(poll_interval)
            });
            tokio::select! {
                () = stopping.cancelled() => return,
                () = capacity_freed.notified() => {}
                _ = wakeups.wait(wait) => {}
            }
        }
    }

    fn reach_failpoint(&self, phase: FailpointPhase) {
        failpoint::hit(&self.jobs_config.abort_at, STEP, phase);
    }

    /// Stores the results of attempts until all senders are dropped.
    async fn store_results(
        &self,
        mut reports: mpsc::Receiver<AttemptReport>,
        capacity_freed: &Notify,
    ) {
        let mut batch = Vec::with_capacity(RESULT_BATCH_SIZE);
        while reports.recv_many(&mut batch, RESULT_BATCH_SIZE).await > 0 {
            let (releases, receivers): (Vec<_>, Vec<_>) = batch.drain(..).unzip();
            self.reach_failpoint(FailpointPhase::ResponseReceived);
            let events = receivers.iter();
            let events = events.filter_map(|one| Some((&*one.recipient, one.event.as_ref()?)));
            let updates = SubscriptionUpdates::collect(events, self.base.now());
            self.store_attempts(&releases, &updates.succeeded).await;
            self.reach_failpoint(FailpointPhase::OutcomeCommitted);
            for (subscription, event) in updates.others {
                self.apply_subscription_event(subscription, event).await;
            }
            drop(receivers);
            capacity_freed.notify_one();
        }
    }

    fn active_secrets(&self, due: &DueSubscription) -> Result<ActiveSecrets, WebhookError> {
        let Subscription { id, tenant, .. } = &due.subscription;
        let open =
            |column, sealed: &[u8]| signing_secret::open(&self.sealer, tenant, id, column, sealed);
        let current = open(SecretSlot::Current, &due.secrets.current)?;
        let expires_at = due.subscription.previous_secret_expires_at;
        let previous = match (&due.secrets.previous, expires_at) {
            (Some(sealed), Some(at)) if self.base.now() < at => {
                Some((open(SecretSlot::Previous, sealed)?, at))
            }
            (Some(_), _) | (None, _) => None,
        };
        Ok(ActiveSecrets { current, previous })
    }

    /// Sends a delivery. Returns `None` if it got no permit in time or the process is stopping.
    async fn attempt(
        &self,
        recipient: &Recipient,
        stored: &StoredDelivery,
        send_before: Instant,
    ) -> Option<(Timestamp, AttemptResult)> {
        let stopping = self.tasks.shutdown_token();
        let permit = tokio::time::timeout_at(send_before, recipient.endpoint.acquire_permit());
        let _permit = tokio::select! {
            biased;
            () = stopping.cancelled() => return None,
            permit = permit => permit.ok()??,
        };
        let now = self.base.now();
        let subscription = &recipient.subscription;
        let request = self.policy.delivery_request(recipient, stored, now);
        let attempted = self.sender.send(request, now).await;
        recipient.endpoint.record_latency(attempted.duration);
        let product = subscription.product.as_str();
        metrics::counter!(WEBHOOK_ATTEMPTS_TOTAL, "product" => product, "outcome" => attempted.outcome_label())
            .increment(1);
        tracing::debug!(
            subscription = %subscription.id,
            delivery = %stored.delivery.id,
            outcome = attempted.outcome_label(),
            cause = attempted.cause,
            ms = attempted.duration.as_millis(),
            "delivery attempt finished"
        );
        Some((now, attempted))
    }

    /// Stores the results of attempts. Deliveries without a stored result are sent again.
    async fn store_attempts(&self, releases: &[DeliveryRelease], succeeded: &[&Subscription]) {
        let stopping = self.tasks.shutdown_token();
        for _ in 0..STORE_ATTEMPTS_MAX {
            let mut write = self.base.unit_of_work();
            write.release_deliveries(releases);
            write.clear_failing_since(succeeded);
            match self.base.store.commit(write).await {
                Ok(()) => return,
                Err(error) => log_warning(
                    &error,
                    "the results of deliveries were not stored; it is tried again",
                ),
            }
            let _ = tokio::time::timeout(STORE_RETRY_DELAY, stopping.cancelled()).await;
        }
        tracing::error!(
            deliveries = releases.len(),
            "the results of deliveries were not stored; these deliveries are sent again"
        );
    }

    async fn apply_subscription_event(&self, before: &Subscription, event: &SubscriptionEvent) {
        let (id, tenant, product) = (&before.id, &before.tenant, &before.product);
        let time = self.policy.queue_timeout() / SUBSCRIPTION_UPDATE_SHARE;
        let deadline = Deadline::from_now(time.min(SUBSCRIPTION_UPDATE_TIMEOUT));
        let context = RequestContext::for_background(tenant, id.as_str(), deadline);
        let webhooks = &self.webhooks;
        let transition = webhooks.apply_event(&context, *product, id, event, None);
        let SubscriptionTransition { from, subscription } = match transition.await {
            Ok(transition) => transition,
            Err(WebhookError::NotFound) => return,
            Err(error) => {
                tracing::warn!(
                    subscription = %id,
                    error = &error as &dyn std::error::Error,
                    "a subscription was not updated after an attempt; the next attempt updates it"
                );
                return;
            }
        };
        // Only the call that changed the status logs it, although several may have applied the same
        // event.
        if subscription.status == from {
            return;
        }
        let organization = &tenant.organization;
        match subscription.status {
            SubscriptionStatus::Disabled => {
                metrics::counter!(WEBHOOK_SUBSCRIPTIONS_DISABLED_TOTAL).increment(1);
                tracing::error!(subscription = %id, organization, "a subscription is disabled, because all deliveries to it have failed for days; tell its owner, who resumes it when its endpoint works");
            }
            SubscriptionStatus::Paused => {
                tracing::warn!(subscription = %id, organization, "a subscription is paused: its receiver answered 410 Gone");
            }
            SubscriptionStatus::Active => {}
        }
    }
}

/// The deliveries that this process is sending.
struct DeliveryDispatcher {
    worker: Arc<DeliveryWorker>,
    endpoints: HashMap<SubscriptionId, Arc<Endpoint>>,
    report: mpsc::Sender<AttemptReport>,
}

impl DeliveryDispatcher {
    /// Claims and starts as many deliveries as there is capacity for. Returns when more are due.
    async fn dispatch_due(&mut self) -> Option<Timestamp> {
        let stopping = self.worker.tasks.shutdown_token();
        // A delivery that is claimed while the process stops is released at once.
        while !stopping.is_cancelled() {
            if self.endpoints.len() > ENDPOINTS_MAX {
                self.endpoints.retain(|_, one| one.in_flight() > 0);
            }
            let now = self.worker.base.now();
            let due = self.due_subscriptions().await?;
            let later = due.iter().map(|one| one.due_at).find(|at| *at > now);
            let ready = due.into_iter().filter(|one| one.due_at <= now);
            let recipients: Vec<_> = ready.filter_map(|one| self.recipient(one)).collect();
            if self.claim(&recipients, now).await == 0 {
                return later;
            }
        }
        None
    }

    async fn due_subscriptions(&self) -> Option<Vec<DueSubscription>> {
        let endpoints = self.endpoints.iter();
        let full = endpoints.filter(|(_, one)| one.available_capacity() == 0);
        let full: Vec<&SubscriptionId> = full.map(|(id, _)| id).collect();
        let store = &self.worker.base.store;
        let due = store
            .due_subscriptions(&full, SUBSCRIPTION_BATCH_SIZE)
            .await;
        due.inspect_err(|error| {
            log_warning(
                error,
                "due subscriptions could not be read; the next poll reads them",
            )
        })
        .ok()
    }

    fn recipient(&mut self, due: DueSubscription) -> Option<Arc<Recipient>> {
        let secrets = match self.worker.active_secrets(&due) {
            Ok(secrets) => secrets,
            Err(error) => {
                tracing::error!(
                    subscription = %due.subscription.id,
                    error = &error as &dyn std::error::Error,
                    "the signing secrets of a subscription cannot be decrypted, so nothing is sent to it; add the key with which they were encrypted to old_master_keys"
                );
                return None;
            }
        };
        let config = &self.worker.config;
        let id = due.subscription.id.clone();
        let endpoint = self.endpoints.entry(id).or_insert_with(|| {
            let endpoint = Endpoint::new(config.endpoint_concurrency, config.endpoint_per_s);
            Arc::new(endpoint)
        });
        Some(Arc::new(Recipient {
            subscription: due.subscription,
            secrets,
            endpoint: Arc::clone(endpoint),
        }))
    }

    /// Claims deliveries for the recipients and starts them. Returns how many were claimed.
    async fn claim(&self, recipients: &[Arc<Recipient>], now: Timestamp) -> usize {
        let in_flight: u32 = self.endpoints.values().map(|one| one.in_flight()).sum();
        let mut left = IN_FLIGHT_MAX.saturating_sub(in_flight);
        let mut capacities = Vec::with_capacity(recipients.len());
        for recipient in recipients {
            let capacity = recipient.endpoint.available_capacity().min(left);
            left -= capacity;
            if capacity > 0 {
                capacities.push((&recipient.subscription.id, capacity));
            }
        }
        let token = format!("{:032x}", self.worker.base.ids.generate());
        let claim = DeliveryClaim {
            capacities: &capacities,
            now,
            lease_ms: self.worker.policy.lease_ms(),
            token: &token,
        };
        let send_before = Instant::now() + self.worker.policy.queue_timeout();
        if !capacities.is_empty() {
            self.worker.reach_failpoint(FailpointPhase::StepPlanned);
        }
        let claimed = match self.worker.base.store.claim_deliveries(claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                log_warning(
                    &error,
                    "deliveries could not be claimed; the next poll claims them",
                );
                return 0;
            }
        };
        let count = claimed.len();
        if count > 0 {
            self.worker.reach_failpoint(FailpointPhase::IntentCommitted);
        }
        for stored in claimed {
            let mut recipients = recipients.iter();
            let of = |one: &&Arc<Recipient>| one.subscription.id == stored.delivery.subscription;
            if let Some(recipient) = recipients.find(of) {
                self.spawn_attempt(Arc::clone(recipient), stored, &token, send_before);
            }
        }
        count
    }

    fn spawn_attempt(
        &self,
        recipient: Arc<Recipient>,
        stored: StoredDelivery,
        token: &str,
        send_before: Instant,
    ) {
        let (worker, report) = (Arc::clone(&self.worker), self.report.clone());
        let in_flight = recipient.endpoint.track();
        let token = token.to_owned();
        self.worker.tasks.spawn("delivery", async move {
            let attempted = worker.attempt(&recipient, &stored, send_before).await;
            let (policy, subscription) = (&worker.policy, &recipient.subscription);
            let event = attempted.as_ref();
            let event = event.map(|(_, one)| policy.subscription_event(subscription, one));
            let (product, now) = (subscription.product, worker.base.now());
            let jitter = attempt::jitter_permille(worker.base.ids.as_ref());
            let release = policy.apply_attempt(product, stored, attempted, token, jitter, now);
            let effect = AttemptEffect {
                recipient,
                event,
                _in_flight: in_flight,
            };
            // If the process ends, the report has no receiver; the lease then expires.
            let _ = report.send((release, effect)).await;
        });
    }
}

fn log_warning(error: &(dyn std::error::Error + 'static), what: &'static str) {
    tracing::warn!(error, "{what}");
}
