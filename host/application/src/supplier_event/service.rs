//! Webhooks that suppliers send: verified by the adapter and stored before they are acknowledged. A
//! background job applies them to the booking.

use crate::base::Base;
use crate::config::SupplierConfig;
use crate::metric_names::SUPPLIER_EVENTS_TOTAL;
use crate::storage_failure::StorageFailure;
use crate::supplier::directory::{EventEndpoint, SupplierDirectory};
use host_domain::id::BookingId;
use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::{
    SupplierEvent, SupplierEventKind, SupplierWebhookRequest, VerifyError,
};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, Supplier};
use host_storage::{Conflict, DatabaseError, UnitOfWork};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Maximum number of webhook requests that are handled at the same time. Anyone may send one, of up
/// to 1 MiB. The limit keeps memory use low and, by default, leaves half of an adapter's concurrent
/// calls to bookings.
const CONCURRENT_WEBHOOKS_MAX: usize = 32;

/// Seconds for which events are kept. A supplier that sends an event again does so within days.
const EVENT_RETENTION_S: i64 = 30 * 24 * 60 * 60;

pub(crate) const PURGE_INTERVAL: Duration = Duration::from_secs(60 * 60);

const PURGE_BATCH_SIZE: u32 = 200;

/// A webhook request whose path is valid and whose body may now be read. It occupies a permit.
pub struct AdmittedWebhook {
    supplier: SupplierConfig,
    adapter: Supplier,
    received_at: Timestamp,
    _permit: OwnedSemaphorePermit,
}

/// Reasons why the body of a webhook request is not read.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    #[error("no supplier has webhooks at this path")]
    NotFound,
    #[error("the supplier's adapter is not loaded")]
    NotLoaded,
    #[error("too many webhook requests are handled at the same time")]
    Overloaded,
}

/// The content of an admitted webhook request.
#[derive(Debug)]
pub struct InboundWebhook {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub request_id: String,
    pub deadline: Instant,
}

#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Store(#[from] StorageFailure),
}

/// The identity of an event, as background jobs use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierEventKey {
    pub mode: Mode,
    pub supplier: SupplierId,
    pub id: String,
}

impl SupplierEventKey {
    /// The kind of the background job that applies an event to its booking.
    pub const JOB_KIND: &'static str = "supplier_event";

    /// Returns the subject of that job. Neither the mode nor the supplier contains a slash.
    pub fn job_subject(&self) -> String {
        format!("{}/{}/{}", self.mode.as_str(), self.supplier, self.id)
    }

    pub fn from_job_subject(subject: &str) -> Option<Self> {
        let mut parts = subject.splitn(3, '/');
        let mode = parts.next()?;
        Some(Self {
            mode: Mode::parse(mode)?,
            supplier: SupplierId::parse(parts.next()?).ok()?,
            id: parts.next()?.to_owned(),
        })
    }

    pub fn log_and_count(
        &self,
        kind: &SupplierEventKind,
        outcome: &'static str,
        booking: Option<&BookingId>,
    ) {
        let (supplier, kind) = (self.supplier.as_str(), kind.as_str());
        let mode = self.mode.as_str();
        let booking = booking.map(BookingId::as_str);
        tracing::info!(
            supplier,
            mode,
            event = self.id,
            kind,
            outcome,
            booking,
            "a supplier reported an event"
        );
        metrics::counter!(SUPPLIER_EVENTS_TOTAL, "supplier" => supplier.to_owned(), "kind" => kind, "outcome" => outcome)
            .increment(1);
    }
}

pub struct SupplierEventService {
    base: Base,
    suppliers: Arc<SupplierDirectory>,
    permits: Arc<Semaphore>,
}

impl SupplierEventService {
    pub fn new(base: Base, suppliers: Arc<SupplierDirectory>) -> Self {
        Self {
            base,
            suppliers,
            permits: Arc::new(Semaphore::new(CONCURRENT_WEBHOOKS_MAX)),
        }
    }

    /// Admits a webhook request by its path, with or without a token, before its body is read.
    pub fn admit(
        &self,
        supplier: &SupplierId,
        token: Option<&str>,
    ) -> Result<AdmittedWebhook, AdmitError> {
        let (supplier, adapter) = match self.suppliers.resolve_event_endpoint(supplier, token) {
            EventEndpoint::NotFound => return Err(AdmitError::NotFound),
            EventEndpoint::NotLoaded => return Err(AdmitError::NotLoaded),
            EventEndpoint::Ready(supplier, adapter) => (supplier.clone(), adapter),
        };
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        Ok(AdmittedWebhook {
            supplier,
            adapter,
            _permit: permit.map_err(|_| AdmitError::Overloaded)?,
            received_at: self.base.now(),
        })
    }

    /// Stores the events of a webhook request, each once, and schedules the jobs that apply them.
    /// Returns the number of events. If a supplier serves both modes, each event is stored for
    /// both, because the mode of its booking is not known yet.
    pub async fn receive(
        &self,
        admitted: &AdmittedWebhook,
        webhook: InboundWebhook,
    ) -> Result<usize, ReceiveError> {
        let context = CallContext {
            request_id: webhook.request_id,
            organization: String::new(),
            mode: None,
            booking: None,
            personal: PersonalWords::default(),
            deadline: webhook.deadline,
        };
        let digest: [u8; 32] = Sha256::digest(&webhook.body).into();
        let request = SupplierWebhookRequest {
            headers: webhook.headers,
            body: webhook.body,
            received_at: admitted.received_at,
        };
        let verified = admitted.adapter.verify_supplier_event(&context, request);
        let events = verified.await?;
        for event in &events {
            for mode in &admitted.supplier.modes {
                let key = SupplierEventKey {
                    mode: *mode,
                    supplier: admitted.supplier.id.clone(),
                    id: event.id.clone(),
                };
                self.store(&key, event, &digest).await?;
            }
        }
        Ok(events.len())
    }

    async fn store(
        &self,
        key: &SupplierEventKey,
        event: &SupplierEvent,
        digest: &[u8; 32],
    ) -> Result<(), StorageFailure> {
        let now = self.base.now();
        let mut write = UnitOfWork::new(now);
        write.insert_supplier_event(key.mode, &key.supplier, event, digest);
        let outcome = if matches!(event.kind, SupplierEventKind::Irrelevant(_)) {
            write.mark_supplier_event_processed(key.mode, &key.supplier, &key.id, None);
            "ignored"
        } else {
            write.schedule_job(SupplierEventKey::JOB_KIND, &key.job_subject(), now);
            "received"
        };
        let conflict = Conflict::SupplierEventExists;
        let is_new = self.base.commit_unless(conflict, write).await?;
        let outcome = if is_new { outcome } else { "duplicate" };
        key.log_and_count(&event.kind, outcome, None);
        Ok(())
    }

    pub(crate) async fn purge_expired(&self) -> Result<(), DatabaseError> {
        let store = &self.base.store;
        let before = self.base.now().plus_s(-EVENT_RETENTION_S);
        let purge = || store.purge_supplier_events(before, PURGE_BATCH_SIZE);
        while purge().await? > 0 {}
        Ok(())
    }
}
