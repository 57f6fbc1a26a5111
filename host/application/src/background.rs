//! Background tasks and the handlers of jobs. Each task ends when the application shuts down.

#[cfg(feature = "dashboard")]
use crate::account::maintenance::{self as account_maintenance, AccountMaintenance};
use crate::audit::chain::{self, AuditChain};
use crate::base::Base;
use crate::booking::engine::WorkflowEngine;
use crate::booking::job::BookingJob;
use crate::booking::reader::{BookingReader, FLIGHT_COUNT_INTERVAL};
use crate::booking::resolution::ResolutionService;
use crate::booking::settlement_job::SettlementJob;
use crate::jobs::unresolved_monitor::{self, UnresolvedMonitor};
use crate::jobs::worker::JobHandler;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::overrides::{self, SupplierControl};
use crate::supplier_event::job::SupplierEventJob;
use crate::supplier_event::service::{PURGE_INTERVAL, SupplierEventService};
use crate::task_supervisor::TaskSupervisor;
use crate::webhook::bulk_replay::BulkReplayJob;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::maintenance::{self, WebhookMaintenance};
use crate::webhook::recovery::RecoveryJob;
use futures::FutureExt;
use host_domain::flight::FlightBookingDetails;
use host_domain::hotel::HotelBookingDetails;
use std::sync::Arc;

pub fn job_handlers(
    base: &Base,
    engine: &Arc<WorkflowEngine>,
    resolutions: &Arc<ResolutionService>,
    suppliers: &Arc<SupplierDirectory>,
    deliveries: &Arc<DeliveryService>,
    purchase: Arc<dyn JobHandler>,
) -> Vec<Arc<dyn JobHandler>> {
    let hotels = BookingJob::<HotelBookingDetails>::new(base.clone(), Arc::clone(engine));
    let flights = BookingJob::<FlightBookingDetails>::new(base.clone(), Arc::clone(engine));
    let supplier_events = SupplierEventJob {
        base: base.clone(),
        suppliers: Arc::clone(suppliers),
    };
    let settlements = SettlementJob {
        base: base.clone(),
        resolutions: Arc::clone(resolutions),
    };
    let bulk_replays = BulkReplayJob {
        base: base.clone(),
        deliveries: Arc::clone(deliveries),
    };
    let recoveries = RecoveryJob {
        base: base.clone(),
        deliveries: Arc::clone(deliveries),
    };
    vec![
        Arc::new(hotels),
        Arc::new(flights),
        Arc::new(settlements),
        Arc::new(supplier_events),
        Arc::new(bulk_replays),
        Arc::new(recoveries),
        purchase,
    ]
}

fn spawn_audit_tasks(base: &Base, tasks: &TaskSupervisor) {
    let chain = AuditChain { base: base.clone() };
    tasks.run_periodically(
        (
            "audit chain",
            "recorded changes could not be appended to the audit log",
        ),
        chain::CHAIN_INTERVAL,
        chain.clone(),
        |chain| async move { chain.append_pending().await.map(drop) }.boxed(),
    );
    tasks.run_periodically(
        (
            "audit head",
            "the head of the audit log could not be reported",
        ),
        chain::REPORT_INTERVAL,
        chain,
        |chain| chain.report_head().boxed(),
    );
}

pub fn spawn_periodic_tasks(
    base: &Base,
    tasks: &TaskSupervisor,
    bookings: &Arc<BookingReader>,
    supplier_events: &Arc<SupplierEventService>,
    supplier_control: &Arc<SupplierControl>,
) {
    tasks.run_periodically(
        (
            "supplier changes",
            "changes of suppliers by operators could not be read",
        ),
        overrides::REFRESH_INTERVAL,
        Arc::clone(supplier_control),
        |control| control.refresh().boxed(),
    );
    tasks.run_periodically(
        (
            "webhook maintenance",
            "expired deliveries and deleted subscriptions could not be removed",
        ),
        maintenance::INTERVAL,
        WebhookMaintenance { base: base.clone() },
        |maintenance| maintenance.run_once().boxed(),
    );
    tasks.run_periodically(
        (
            "unresolved",
            "unresolved calls and parked jobs could not be counted",
        ),
        unresolved_monitor::CHECK_INTERVAL,
        UnresolvedMonitor { base: base.clone() },
        |monitor| monitor.report().boxed(),
    );
    tasks.run_periodically(
        (
            "supplier events",
            "expired supplier events could not be purged",
        ),
        PURGE_INTERVAL,
        Arc::clone(supplier_events),
        |events| events.purge_expired().boxed(),
    );
    tasks.run_periodically(
        (
            "flight counts",
            "the counts of flight bookings could not be updated",
        ),
        FLIGHT_COUNT_INTERVAL,
        Arc::clone(bookings),
        |bookings| bookings.compact_flight_booking_counts().boxed(),
    );
    spawn_audit_tasks(base, tasks);
    #[cfg(feature = "dashboard")]
    tasks.run_periodically(
        (
            "account maintenance",
            "ended sessions and links could not be purged",
        ),
        account_maintenance::INTERVAL,
        AccountMaintenance { base: base.clone() },
        |maintenance| maintenance.run_once().boxed(),
    );
}
