//! API calls as people read them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use host_domain::id::RequestLogId;
use host_domain::owner::Tenant;
use host_domain::page::CursorPage;
use host_domain::request_log::{
    LoggedBodies, LoggedCall, LoggedCallKind, LoggedRequest, RequestLogFilter,
};

/// Maximum number of calls with the same id.
const SAME_ID_MAX: u32 = 50;
/// Maximum number of supplier calls beneath an API call.
const SUPPLIER_CALLS_MAX: u32 = 500;

/// An API call with what belongs to it.
#[derive(Debug, Clone)]
pub struct RequestDetails {
    pub request: LoggedRequest,
    /// Other calls of the session's mode with the same id, latest first.
    pub others: Vec<LoggedRequest>,
    /// The bodies of a change or a failure.
    pub bodies: Option<LoggedBodies>,
    /// Calls of suppliers, in the order in which they began. A call of a plugin comes before the
    /// HTTP requests that it made.
    pub calls: Vec<LoggedCall>,
}

/// Lists and finds API calls within the roles of a person.
pub struct ConsoleRequests {
    pub(crate) base: Base,
}

impl ConsoleRequests {
    /// Returns a page of the calls of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the organization is somebody else's.
    pub async fn page(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<RequestLogFilter>,
    ) -> Result<CursorPage<LoggedRequest>, ConsoleError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, page) = (&self.base.store, request.page());
        let found = store.request_log_page(&scope, &request.filter, &page);
        Ok(found.await?)
    }

    /// Returns a page as [`ConsoleRequests::page`] does, with the organizations to choose from.
    ///
    /// # Errors
    /// As of [`ConsoleRequests::page`].
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<RequestLogFilter>,
    ) -> Result<ConsoleList<LoggedRequest>, ConsoleError> {
        Ok(ConsoleList {
            page: self.page(viewer, request).await?,
            organizations: readable_organizations(&self.base.store, viewer).await?,
        })
    }

    /// Returns the call of the log with the id `log_id`, or the latest one, among those to which a
    /// client gave the id `request_id`.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if the person may read no such call, or none of the session's mode.
    pub async fn find(
        &self,
        viewer: &Viewer,
        request_id: &str,
        log_id: Option<&RequestLogId>,
    ) -> Result<RequestDetails, ConsoleError> {
        let store = &self.base.store;
        let organizations = viewer.whole_scope().organizations;
        let found = store.requests_with_id(organizations.as_deref(), request_id, SAME_ID_MAX);
        let (mut own, other): (Vec<_>, Vec<_>) = found
            .await?
            .into_iter()
            .partition(|request| request.mode == viewer.mode);
        let wanted = match log_id {
            Some(id) => own.iter().position(|request| request.id == *id),
            None => Some(0).filter(|_| !own.is_empty()),
        };
        let Some(wanted) = wanted else {
            let mode = other.first().map(|request| request.mode);
            return Err(mode
                .map_or(AccessError::NotFound, AccessError::OtherMode)
                .into());
        };
        let request = own.remove(wanted);
        let tenant = Tenant {
            organization: request.organization.clone(),
            mode: request.mode,
        };
        let (bodies, calls) = futures::try_join!(
            store.request_log_bodies(&tenant, &request.id),
            store.calls_of_request(&tenant, request_id, SUPPLIER_CALLS_MAX),
        )?;
        // The next call with the same id has its own supplier calls.
        let next = own.iter().filter(|other| other.id > request.id);
        let next = next.map(LoggedRequest::began_at).min();
        let mut calls: Vec<_> = calls
            .into_iter()
            .filter(|call| call.started_at >= request.began_at())
            .filter(|call| next.is_none_or(|next| call.started_at < next))
            .collect();
        calls.sort_by_key(|call| (call.started_at, call.kind == LoggedCallKind::Http));
        Ok(RequestDetails {
            request,
            others: own,
            bodies,
            calls,
        })
    }
}
