//! Background tasks and the handlers of jobs. Each task ends when the application shuts down.

use crate::base::Base;
use crate::booking::engine::WorkflowEngine;
use crate::booking::job::BookingJob;
use crate::booking::reader::BookingReader;
use crate::jobs::unresolved_monitor::UnresolvedMonitor;
use crate::jobs::worker::{JobHandler, JobWorker};
use crate::supplier::directory::SupplierDirectory;
use crate::supplier_event::job::SupplierEventJob;
use crate::supplier_event::service::SupplierEventService;
use crate::task_supervisor::TaskSupervisor;
use host_domain::flight::FlightBookingDetails;
use host_domain::hotel::HotelBookingDetails;
use std::sync::Arc;

/// Returns the handlers of all kinds of jobs.
pub fn job_handlers(
    base: &Base,
    engine: &Arc<WorkflowEngine>,
    suppliers: &Arc<SupplierDirectory>,
    purchase: Arc<dyn JobHandler>,
) -> Vec<Arc<dyn JobHandler>> {
    let hotels = BookingJob::<HotelBookingDetails>::new(base.clone(), Arc::clone(engine));
    let flights = BookingJob::<FlightBookingDetails>::new(base.clone(), Arc::clone(engine));
    let supplier_events = SupplierEventJob::new(base.clone(), Arc::clone(suppliers));
    vec![
        Arc::new(hotels),
        Arc::new(flights),
        Arc::new(supplier_events),
        purchase,
    ]
}

/// The services and workers that run in the background.
pub struct BackgroundTasks {
    /// Updates the counts of flight bookings.
    pub bookings: Arc<BookingReader>,
    /// Runs due jobs.
    pub job_worker: Arc<JobWorker>,
    /// Purges expired supplier events.
    pub supplier_events: Arc<SupplierEventService>,
    /// Reports unresolved work.
    pub unresolved_monitor: UnresolvedMonitor,
}

impl BackgroundTasks {
    /// Starts the tasks.
    pub fn spawn(self, tasks: &TaskSupervisor) {
        let Self {
            bookings,
            job_worker,
            supplier_events,
            unresolved_monitor,
        } = self;
        let supervisor = tasks.clone();
        tasks.spawn("unresolved", async move {
            unresolved_monitor.run(&supervisor).await;
        });
        let supervisor = tasks.clone();
        tasks.spawn("supplier events", async move {
            supplier_events.run_purge(&supervisor).await;
        });
        let supervisor = tasks.clone();
        tasks.spawn("flight counts", async move {
            bookings.run_flight_counts(&supervisor).await;
        });
        tasks.spawn("worker", job_worker.run());
    }
}
