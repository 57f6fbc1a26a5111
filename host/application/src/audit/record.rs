//! Records a change in the transaction of the change.

use crate::audit::entry::{AuditActor, AuditTarget, RecordedChange};
use crate::base::Base;
use host_domain::audit::{Actor, AuditAction};
use host_domain::id::AuditEntryId;
use host_domain::owner::{Mode, Tenant};
use host_storage::UnitOfWork;
use serde_json::Value;

/// A change of an object. It has no secrets and no personal data of travellers.
#[derive(Debug, Clone)]
#[must_use = "a change is not recorded until it is added to a unit of work"]
pub(crate) struct AuditChange<'a> {
    action: AuditAction,
    target: &'a str,
    organization: Option<&'a str>,
    mode: Option<Mode>,
    before: Value,
    after: Value,
}

impl<'a> AuditChange<'a> {
    /// Builds a change of the object with the id `target`, which belongs to the whole installation.
    pub(crate) const fn new(action: AuditAction, target: &'a str) -> Self {
        Self {
            action,
            target,
            organization: None,
            mode: None,
            before: Value::Null,
            after: Value::Null,
        }
    }

    /// Sets the organization and the mode of the object.
    pub(crate) fn of_tenant(self, tenant: &'a Tenant) -> Self {
        Self {
            organization: Some(&tenant.organization),
            mode: Some(tenant.mode),
            ..self
        }
    }

    /// Sets the organization of an object that belongs to both modes.
    #[cfg(feature = "dashboard")]
    pub(crate) fn of_organization(self, organization: &'a str) -> Self {
        Self {
            organization: Some(organization),
            ..self
        }
    }

    /// Sets the changed properties as they were before. Without them, the object is new.
    pub(crate) fn before(self, before: Value) -> Self {
        Self { before, ..self }
    }

    /// Sets the changed properties as they are now. Without them, the object is gone.
    pub(crate) fn after(self, after: Value) -> Self {
        Self { after, ..self }
    }
}

/// Adds a change to the write that makes it.
pub(crate) fn audit_in(
    write: &mut UnitOfWork,
    base: &Base,
    actor: &Actor,
    change: AuditChange<'_>,
) {
    let at = base.now();
    let recorded = RecordedChange {
        at: at.to_string(),
        actor: AuditActor::from(actor),
        action: change.action.as_str().to_owned(),
        target: AuditTarget {
            kind: change.action.target_type().to_owned(),
            id: change.target.to_owned(),
        },
        organization: change.organization.map(str::to_owned),
        mode: change.mode,
        source: actor.source,
        before: change.before,
        after: change.after,
    };
    let id = AuditEntryId::from_bits(base.ids.generate());
    write.insert_pending_audit_entry(&id, at, &recorded);
}
