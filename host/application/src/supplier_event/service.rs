//! Webhooks that suppliers send: verified by the adapter and stored before they are acknowledged. A
//! background job applies them to the booking.

use crate::application::Application;
use crate::config::SupplierConfig;
use crate::metric_names::SUPPLIER_EVENTS_TOTAL;
use host_domain::id::BookingId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::{
    SupplierEvent, SupplierEventKind, SupplierWebhookRequest, VerifyError,
};
use host_runtime::{CallContext, Supplier};
use host_storage::{CommitError, Conflict, UnitOfWork};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// A webhook request that arrived on a supplier's path.
#[derive(Debug)]
pub struct InboundWebhook {
    /// The supplier whose path it is.
    pub supplier: SupplierConfig,
    pub delivery: SupplierWebhookRequest,
    pub request_id: String,
    pub deadline: Instant,
}

/// Reasons why a webhook is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Store(#[from] CommitError),
}

/// The identity of an event, as background jobs use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierEventKey {
    pub mode: Mode,
    pub supplier: SupplierId,
    /// The supplier's id of the event.
    pub id: String,
}

impl SupplierEventKey {
    /// The kind of the background job that applies an event to its booking.
    pub const JOB_KIND: &'static str = "supplier_event";

    /// Returns the subject of that job. Neither the mode nor the supplier contains a slash.
    pub fn job_subject(&self) -> String {
        format!("{}/{}/{}", self.mode.as_str(), self.supplier, self.id)
    }

    /// Parses the event's identity from a job's subject.
    pub fn from_job_subject(subject: &str) -> Option<Self> {
        let mut parts = subject.splitn(3, '/');
        let mode = parts.next()?;
        Some(Self {
            mode: Mode::parse(mode)?,
            supplier: SupplierId::parse(parts.next()?).ok()?,
            id: parts.next()?.to_owned(),
        })
    }

    /// Logs what became of an event and counts it.
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
            "supplier event"
        );
        metrics::counter!(SUPPLIER_EVENTS_TOTAL, "supplier" => supplier.to_owned(), "kind" => kind, "outcome" => outcome)
            .increment(1);
    }
}

impl Application {
    /// Stores the events of a webhook request, each once, and schedules the jobs that apply them.
    /// Returns the number of events. If a supplier serves both modes, each event is stored for
    /// both, because the mode of its booking is not known yet.
    pub async fn receive_supplier_events(
        &self,
        adapter: &Supplier,
        delivered: InboundWebhook,
    ) -> Result<usize, ReceiveError> {
        let context = CallContext {
            request_id: delivered.request_id,
            organization: String::new(),
            booking: None,
            deadline: delivered.deadline,
        };
        let digest: [u8; 32] = Sha256::digest(&delivered.delivery.body).into();
        let verified = adapter.verify_supplier_event(&context, delivered.delivery);
        let events = verified.await?;
        for event in &events {
            for mode in &delivered.supplier.modes {
                let key = SupplierEventKey {
                    mode: *mode,
                    supplier: delivered.supplier.id.clone(),
                    id: event.id.clone(),
                };
                self.store_supplier_event(&key, event, &digest).await?;
            }
        }
        Ok(events.len())
    }

    async fn store_supplier_event(
        &self,
        key: &SupplierEventKey,
        event: &SupplierEvent,
        digest: &[u8; 32],
    ) -> Result<(), CommitError> {
        let now = self.clock.now();
        let mut write = UnitOfWork::new(now);
        write.insert_supplier_event(key.mode, &key.supplier, event, digest);
        let outcome = if matches!(event.kind, SupplierEventKind::Irrelevant(_)) {
            write.mark_supplier_event_ignored(key.mode, &key.supplier, &key.id);
            "ignored"
        } else {
            write.schedule_job(SupplierEventKey::JOB_KIND, &key.job_subject(), now);
            "received"
        };
        match self.store.commit(write).await {
            Ok(()) => key.log_and_count(&event.kind, outcome, None),
            Err(CommitError::Conflict(Conflict::SupplierEventExists)) => {
                key.log_and_count(&event.kind, "duplicate", None);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
