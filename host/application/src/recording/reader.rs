//! Reads of the request log for programs.

use host_domain::console::TenantScope;
use host_domain::id::RequestLogId;
use host_domain::owner::Tenant;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::request_log::{LoggedRequest, RequestLogFilter, StatusFilter};
use host_storage::{DatabaseError, Store};

/// Number of calls that a program gets first.
const FIRST_CALLS: u32 = 20;
/// Maximum number of calls that a program gets at once.
pub const CALLS_MAX: u32 = 500;

/// Reads API calls of the log.
pub struct RequestLogReader {
    pub(crate) store: Store,
}

impl RequestLogReader {
    /// Returns calls of a tenant, oldest first: the latest ones, or up to [`CALLS_MAX`] that follow
    /// `after`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn tail(
        &self,
        tenant: &Tenant,
        status: Option<StatusFilter>,
        after: Option<&RequestLogId>,
    ) -> Result<Vec<LoggedRequest>, DatabaseError> {
        let scope = TenantScope {
            organizations: Some(vec![tenant.organization.clone()]),
            mode: tenant.mode,
        };
        let filter = RequestLogFilter {
            status,
            ..RequestLogFilter::default()
        };
        if let Some(after) = after {
            let following = self
                .store
                .request_log_after(&scope, &filter, after, CALLS_MAX);
            return following.await;
        }
        let first = CursorRequest {
            after: None,
            limit: FIRST_CALLS,
        };
        let mut calls = self.list(&scope, &filter, &first).await?.items;
        calls.reverse();
        Ok(calls)
    }

    /// Returns calls of a scope, latest first. A page may have fewer calls than requested and be
    /// followed by another one, if the filter is rare.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(
        &self,
        scope: &TenantScope,
        filter: &RequestLogFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<LoggedRequest>, DatabaseError> {
        self.store.request_log_page(scope, filter, page).await
    }
}
