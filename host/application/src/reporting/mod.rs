//! Figures about the state of the gateway and of integrations, for people and operators.

pub mod go_live;
pub mod overview;
mod stale_value_cache;

use crate::base::Base;
use crate::recording::reader::RequestLogReader;
use crate::reporting::go_live::GoLiveReader;
use crate::reporting::overview::OverviewReader;
use crate::supplier::directory::SupplierDirectory;
use crate::task_supervisor::TaskSupervisor;
use std::sync::Arc;

/// The services of the request log, the overview and the go-live checklist.
pub struct ReportingServices {
    /// Reads the log of API calls.
    pub request_log: Arc<RequestLogReader>,
    pub overview: Arc<OverviewReader>,
    pub go_live: Arc<GoLiveReader>,
}

impl ReportingServices {
    pub(crate) fn new(
        base: &Base,
        suppliers: &Arc<SupplierDirectory>,
        tasks: &TaskSupervisor,
    ) -> Self {
        let overview = OverviewReader::new(base.clone(), Arc::clone(suppliers), tasks);
        Self {
            request_log: Arc::new(RequestLogReader {
                store: base.store.clone(),
            }),
            overview: Arc::new(overview),
            go_live: Arc::new(GoLiveReader { base: base.clone() }),
        }
    }
}
