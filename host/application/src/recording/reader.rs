//! Reads of the request log for programs.

use host_domain::console::TenantScope;
use host_domain::id::RequestLogId;
use host_domain::owner::{Mode, Tenant};
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::request_log::{
    LoggedBodies, LoggedCall, LoggedCallKind, LoggedRequest, RequestLogFilter, StatusFilter,
};
use host_storage::{DatabaseError, Store};

/// Number of calls that a program gets first.
const FIRST_CALLS: u32 = 20;
/// Maximum number of calls that a program gets at once.
pub const CALLS_MAX: u32 = 500;
/// Maximum number of calls with the same id.
const SAME_ID_MAX: u32 = 50;
/// Maximum number of supplier calls beneath an API call.
const SUPPLIER_CALLS_MAX: u32 = 500;

/// An API call with what belongs to it.
#[derive(Debug, Clone)]
pub struct RequestDetails {
    pub request: LoggedRequest,
    /// Other calls with the same id, latest first.
    pub others: Vec<LoggedRequest>,
    /// The bodies, unless the call is a read whose body the log did not take.
    pub bodies: Option<LoggedBodies>,
    /// Calls of suppliers, in the order in which they began. A call of a plugin comes before the
    /// HTTP requests that it made.
    pub calls: Vec<LoggedCall>,
}

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
    /// Returns the call of the log with the id `log_id`, or the latest one, among those to which a
    /// client gave the id `request_id`. `None` stands for all organizations and for both modes.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(
        &self,
        organizations: Option<&[String]>,
        mode: Option<Mode>,
        request_id: &str,
        log_id: Option<&RequestLogId>,
    ) -> Result<Option<RequestDetails>, DatabaseError> {
        let store = &self.store;
        let mut found = store
            .requests_with_id(organizations, mode, request_id, SAME_ID_MAX)
            .await?;
        let wanted = match log_id {
            Some(id) => found.iter().position(|request| request.id == *id),
            None => Some(0).filter(|_| !found.is_empty()),
        };
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let request = found.remove(wanted);
        let tenant = Tenant {
            organization: request.organization.clone(),
            mode: request.mode,
        };
        let (bodies, calls) = futures::try_join!(
            store.request_log_bodies(&tenant, &request.id),
            store.calls_of_request(&tenant, request_id, SUPPLIER_CALLS_MAX),
        )?;
        // The next call with the same id has its own supplier calls.
        let is_next = |other: &&LoggedRequest| {
            other.id > request.id
                && other.organization == tenant.organization
                && other.mode == tenant.mode
        };
        let next = found.iter().filter(is_next);
        let next = next.map(LoggedRequest::began_at).min();
        let mut calls: Vec<_> = calls
            .into_iter()
            .filter(|call| call.started_at >= request.began_at())
            .filter(|call| next.is_none_or(|next| call.started_at < next))
            .collect();
        calls.sort_by_key(|call| (call.started_at, call.kind == LoggedCallKind::Http));
        Ok(Some(RequestDetails {
            request,
            others: found,
            bodies,
            calls,
        }))
    }
}
