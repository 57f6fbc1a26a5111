//! What suppliers tell on their own account: verified by the adapter, stored, and
//! only then answered. Telling the booking is background work.

use crate::app::Application;
use crate::config::SupplierConfig;
use crate::observe::SUPPLIER_EVENTS_TOTAL;
use host_domain::id::BookingId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::{
    SupplierWebhookRequest, SupplierEvent, SupplierEventKind, VerifyError,
};
use host_runtime::{CallContext, Supplier};
use host_storage::{CommitError, Conflict, UnitOfWork};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

/// A delivery that reached its supplier's path.
#[derive(Debug)]
pub(crate) struct InboundWebhook {
    /// Whose path.
    pub(crate) supplier: SupplierConfig,
    pub(crate) delivery: SupplierWebhookRequest,
    pub(crate) request_id: String,
    pub(crate) deadline: Instant,
}

/// Why it is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Store(#[from] CommitError),
}

/// An event, as background work knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SupplierEventKey {
    pub(crate) mode: Mode,
    pub(crate) supplier: SupplierId,
    /// The supplier's id of it.
    pub(crate) id: String,
}

impl SupplierEventKey {
    /// The kind of background work that tells an event's booking.
    pub(crate) const JOB_KIND: &'static str = "supplier_event";

    /// The subject of that work. Neither mode nor supplier has a slash.
    pub(crate) fn job_subject(&self) -> String {
        format!("{}/{}/{}", self.mode.as_str(), self.supplier, self.id)
    }

    /// The event of a subject.
    pub(crate) fn from_job_subject(subject: &str) -> Option<Self> {
        let mut parts = subject.splitn(3, '/');
        let mode = parts.next()?;
        Some(Self {
            mode: Mode::parse(mode)?,
            supplier: SupplierId::parse(parts.next()?).ok()?,
            id: parts.next()?.to_owned(),
        })
    }

    /// Says what came of an event: a line and a number.
    pub(crate) fn log_and_count(
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
    /// Stores the events of a delivery, each once, with the work of telling its
    /// booking; how many there are. A supplier that serves both modes tells in
    /// both: nobody knows yet in which the booking is.
    pub(crate) async fn receive_supplier_events(
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
