//! Suppliers with their recorded calls, for people and operators.

use crate::base::Base;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::plugin_report::SupplierStatus;
use host_domain::console::TenantScope;
use host_domain::request_log::LoggedCall;
use host_domain::statistics::{CallStatistics, TimeResolution};
use host_domain::supplier::SupplierId;
use host_storage::DatabaseError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time over which calls are counted, in milliseconds.
const WINDOW_MS: i64 = 24 * 60 * 60 * 1000;
const FAILURES_MAX: u32 = 20;

/// A supplier with the calls of the last 24 hours in a scope.
#[derive(Debug, Clone)]
pub struct ListedSupplier {
    pub status: SupplierStatus,
    pub calls: CallStatistics,
}

/// A supplier with its calls in a scope.
#[derive(Debug, Clone)]
pub struct SupplierDetails {
    pub status: SupplierStatus,
    /// The calls of the last 24 hours by function of the plugin, the most frequent first.
    pub functions: Vec<(String, CallStatistics)>,
    /// The last failed calls, latest first.
    pub failures: Vec<LoggedCall>,
    /// The requests of the failures that are API calls in the log. The others are background work, or
    /// were not recorded.
    pub logged_requests: Vec<String>,
}

/// Reads suppliers with the calls of a scope.
pub struct SupplierReader {
    base: Base,
    directory: Arc<SupplierDirectory>,
}

impl SupplierReader {
    pub(crate) fn new(base: Base, directory: &Arc<SupplierDirectory>) -> Self {
        Self {
            base,
            directory: Arc::clone(directory),
        }
    }

    /// Returns the suppliers of the scope's mode, ordered by id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, scope: &TenantScope) -> Result<Vec<ListedSupplier>, DatabaseError> {
        let mut calls = BTreeMap::<String, CallStatistics>::new();
        for (supplier, _, counted) in self.statistics(scope).await? {
            calls.entry(supplier).or_default().add(&counted);
        }
        let statuses = self.directory.statuses().into_iter();
        let of_mode = statuses.filter(|status| status.modes.contains(&scope.mode));
        let listed = of_mode.map(|status| ListedSupplier {
            calls: calls.remove(status.summary.id.as_str()).unwrap_or_default(),
            status,
        });
        Ok(listed.collect())
    }

    /// Returns a supplier of either mode, if it is configured.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(
        &self,
        scope: &TenantScope,
        id: &SupplierId,
    ) -> Result<Option<SupplierDetails>, DatabaseError> {
        let Some(status) = self.directory.status(id) else {
            return Ok(None);
        };
        let (statistics, failures) = futures::try_join!(
            self.statistics(scope),
            self.base.store.failed_calls(scope, id, FAILURES_MAX),
        )?;
        let ids: Vec<String> = failures
            .iter()
            .map(|call| call.request_id.clone())
            .collect();
        let logged_requests = self.base.store.logged_request_ids(scope, &ids).await?;
        let own = statistics.into_iter();
        let own = own.filter(|(supplier, _, _)| supplier == id.as_str());
        Ok(Some(SupplierDetails {
            status,
            functions: own.map(|(_, function, calls)| (function, calls)).collect(),
            failures,
            logged_requests,
        }))
    }

    /// Returns the calls of the last 24 hours by supplier and function.
    async fn statistics(
        &self,
        scope: &TenantScope,
    ) -> Result<Vec<(String, String, CallStatistics)>, DatabaseError> {
        let resolution = TimeResolution::Hour;
        let since = resolution.floor(self.base.now().plus_ms(-WINDOW_MS));
        let store = &self.base.store;
        let groups = store.supplier_statistics(scope, resolution, since).await?;
        let rows = groups.into_iter();
        Ok(rows
            .map(|group| (group.name, group.operation, group.calls))
            .collect())
    }
}
