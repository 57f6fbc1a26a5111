//! API calls as people read them.

use crate::account::viewer::Viewer;
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::recording::reader::{RequestDetails, RequestLogReader};
use host_domain::id::RequestLogId;
use host_domain::page::CursorPage;
use host_domain::request_log::{LoggedRequest, RequestLogFilter};
use std::sync::Arc;

/// Lists and finds API calls within the roles of a person.
pub struct ConsoleRequests {
    pub(crate) base: Base,
    pub(crate) log: Arc<RequestLogReader>,
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
        let page = request.page();
        let calls = self.log.list(&scope, &request.filter, &page);
        Ok(request.read_page(calls).await?)
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
        let organizations = viewer.whole_scope().organizations;
        let find = async |mode, log_id| {
            let organizations = organizations.as_deref();
            self.log.find(organizations, mode, request_id, log_id).await
        };
        if let Some(found) = find(Some(viewer.mode), log_id).await? {
            return Ok(found);
        }
        let any = find(None, None).await?.map(|found| found.request.mode);
        let other = any.filter(|mode| *mode != viewer.mode);
        Err(other
            .map_or(AccessError::NotFound, AccessError::OtherMode)
            .into())
    }
}
