//! The context in which a person acts for an organization.

use crate::account::viewer::Viewer;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::id_generator::new_request_id;
use host_domain::owner::{Owner, Tenant};
use std::sync::Arc;
use std::time::Duration;

/// Time for a change. It is shorter than the time after which the dashboard gives up a request.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Builds the context of a change that a person makes for a tenant.
pub(super) fn viewer_context(viewer: &Viewer, tenant: Tenant) -> RequestContext {
    let owner = Owner {
        tenant,
        user: Owner::ORGANIZATION_USER.to_owned(),
    };
    let deadline = Deadline::from_now(CHANGE_TIMEOUT);
    let actor = Arc::new(viewer.actor());
    RequestContext::for_actor(actor, owner, new_request_id().into(), deadline)
}
