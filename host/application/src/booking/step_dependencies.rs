//! Dependencies of the steps of a booking.

use crate::base::Base;
use crate::booking::interpret::{ScheduleContext, SupplierGuarantees};
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::retry_schedules::RetrySchedules;
use crate::payment_instrument::PaymentInstrumentService;
use crate::recording::recorder::TrafficRecorder;
use crate::supplier::directory::SupplierDirectory;
use host_domain::time::Timestamp;
use host_runtime::Supplier;
use std::sync::Arc;

pub struct StepDependencies {
    pub base: Base,
    pub suppliers: Arc<SupplierDirectory>,
    pub instruments: Arc<PaymentInstrumentService>,
    /// Counts what was booked.
    pub recorder: Arc<TrafficRecorder>,
    pub passenger_secrets: PassengerSecrets,
    pub schedules: RetrySchedules,
}

impl StepDependencies {
    /// Returns the context of interpreting the response to a request that was made at
    /// `requested_at`.
    pub fn schedule_context(&self, requested_at: Timestamp) -> ScheduleContext<'_> {
        ScheduleContext {
            now: self.base.now(),
            requested_at,
            reconcile: &self.schedules.reconcile,
            call_retry: &self.schedules.call_retry,
            absence_recheck: &self.schedules.absence_recheck,
            undeclared_reads_ms: self.schedules.undeclared_reads_ms,
        }
    }

    /// Returns when a call that is sent now is first reconciled if its response is lost.
    pub fn first_reconcile_at(&self) -> Timestamp {
        let now = self.base.now();
        self.schedules.reconcile.next_after(now, now)
    }
}

/// Returns the guarantees that the adapter of a supplier or processor declares, and the limit of its
/// calls. One that is not configured guarantees nothing.
pub fn declared_guarantees(supplier: Option<&Supplier>) -> SupplierGuarantees {
    supplier.map_or(SupplierGuarantees::default(), |supplier| {
        let description = &supplier.info().description;
        SupplierGuarantees {
            reads_consistent_after_ms: description.reads_consistent_after_ms,
            call_ms_max: supplier.call_ms_max(),
            supports_idempotent_resend: description.supports_idempotent_resend,
        }
    })
}
