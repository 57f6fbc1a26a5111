//! The audit log as people read it: operators all of it, the admins of an organization its share.

use crate::account::viewer::Viewer;
use crate::audit::entry::ChainHead;
use crate::audit::service::{AuditError, AuditRow, AuditService};
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::failure::ConsoleError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::console::visible_actors::VisibleActors;
use crate::storage_failure::StorageFailure;
use futures::Stream;
use host_domain::account::Permission;
use host_domain::audit::{AuditFilter, AuditScope};
use host_domain::time::Timestamp;
use std::sync::Arc;

/// A page of the audit log.
#[derive(Debug, Clone)]
pub struct ConsoleAuditList {
    pub list: ConsoleList<AuditRow>,
    /// The head of the chain of all entries.
    pub head: ChainHead,
}

/// The result of a verification of the chain of all entries. Its position and its hash are about all
/// organizations, so only operators get them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditVerification {
    Intact {
        head: Option<ChainHead>,
    },
    /// An entry was changed, added or removed.
    Broken {
        /// The position of the entry, or the one just after it.
        sequence: Option<i64>,
    },
}

/// Lists, exports and verifies the audit log within the roles of a person.
pub struct ConsoleAudit {
    pub(crate) base: Base,
    pub(crate) audit: Arc<AuditService>,
}

impl ConsoleAudit {
    /// Returns a page of entries of the session's mode and of entries without a mode.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if no role of the person reads the audit log.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<AuditFilter>,
    ) -> Result<ConsoleAuditList, ConsoleError> {
        let scope = AuditScope {
            mode: Some(viewer.mode),
            ..scope(viewer, request.organization.as_deref())?
        };
        let page = request.page();
        let filter = effective_filter(request);
        let mut found = self.audit.list(&scope, &filter, &page).await?;
        let entries = found.page.items.iter().filter_map(|row| row.entry.as_ref());
        let names = entries.map(|entry| entry.change.actor.name.as_str());
        let visible = VisibleActors::among(&self.base.store, viewer, names).await?;
        let rows = found.page.items.iter_mut();
        rows.for_each(|row| visible.mask_entry(row));
        let organizations = match viewer.organizations_with(Permission::ReadAuditLog) {
            Some(organizations) => organizations,
            None => readable_organizations(&self.base.store, viewer).await?,
        };
        Ok(ConsoleAuditList {
            list: ConsoleList {
                page: found.page,
                organizations,
            },
            head: found.head,
        })
    }

    /// Returns the entries of both modes that match, as lines of JSON. Without a filter, an operator
    /// gets the whole chain in its order, so that each entry has the hash of the one before it.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if no role of the person reads the audit log.
    pub async fn export(
        &self,
        viewer: &Viewer,
        request: ConsoleListRequest<AuditFilter>,
    ) -> Result<impl Stream<Item = Result<String, StorageFailure>> + Send + use<>, ConsoleError>
    {
        let scope = scope(viewer, request.organization.as_deref())?;
        // The entries say who was a member, so none may still wait when the names are read.
        self.audit.append_pending().await?;
        let visible = VisibleActors::of(&self.base.store, viewer).await?;
        let mask = move |row: &mut AuditRow| visible.mask_entry(row);
        Ok(Arc::clone(&self.audit).export(scope, effective_filter(&request), mask))
    }

    /// Verifies the chain of all entries. Only operators always make the gateway read the whole log;
    /// others may get the result of the last minute.
    ///
    /// # Errors
    /// [`ConsoleError::Access`] if no role of the person reads the audit log.
    pub async fn verify(&self, viewer: &Viewer) -> Result<AuditVerification, ConsoleError> {
        scope(viewer, None)?;
        let is_operator = viewer.is_operator();
        let verified = match is_operator {
            true => self.audit.verify().await,
            false => self.audit.verify_or_reuse().await,
        };
        match verified {
            Ok(head) => Ok(AuditVerification::Intact {
                head: is_operator.then_some(head),
            }),
            Err(AuditError::Broken { sequence }) => Ok(AuditVerification::Broken {
                sequence: is_operator.then_some(sequence),
            }),
            Err(AuditError::Storage(failure)) => Err(failure.into()),
        }
    }
}

/// Returns the filter of a request, or one that no entry meets if nothing is to match.
fn effective_filter(request: &ConsoleListRequest<AuditFilter>) -> AuditFilter {
    let mut filter = request.filter.clone();
    if request.matches_nothing {
        filter.until = Some(Timestamp(0));
    }
    filter
}

/// Returns the scope of what the person may read, in both modes.
fn scope(viewer: &Viewer, organization: Option<&str>) -> Result<AuditScope, AccessError> {
    let organizations = match organization {
        Some(organization) => {
            viewer.require(Permission::ReadAuditLog, organization)?;
            Some(vec![organization.to_owned()])
        }
        None => viewer.organizations_with(Permission::ReadAuditLog),
    };
    if organizations.as_ref().is_some_and(Vec::is_empty) {
        return Err(AccessError::Forbidden);
    }
    Ok(AuditScope {
        organizations,
        mode: None,
    })
}
