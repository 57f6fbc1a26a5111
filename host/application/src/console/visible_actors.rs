//! Actors that a person may see. Members of an organization see each other, also those who have left,
//! its programs and the gateway's tasks, but not who operates the installation, from where, and with
//! which notes.

use crate::account::viewer::Viewer;
use crate::audit::service::AuditRow;
use host_domain::account::Permission;
use host_domain::audit::{ActorKind, AuditAction};
use host_storage::{DatabaseError, Store};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Stands for the name of an operator.
const OPERATOR: &str = "an operator";

/// The e-mail addresses that a person may see. `None` for all. Cloning is cheap.
#[derive(Clone)]
pub(super) struct VisibleActors(Option<Arc<HashSet<String>>>);

impl VisibleActors {
    /// Reads the present and former members of the person's organizations. Reads nothing for
    /// operators.
    pub(super) async fn of(store: &Store, viewer: &Viewer) -> Result<Self, DatabaseError> {
        Self::read(store, viewer, None).await
    }

    /// Reads which of these actors the person may see. Reads nothing for operators.
    pub(super) async fn among<'a>(
        store: &Store,
        viewer: &Viewer,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, DatabaseError> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Self::read(store, viewer, Some(&names)).await
    }

    async fn read(
        store: &Store,
        viewer: &Viewer,
        among: Option<&[String]>,
    ) -> Result<Self, DatabaseError> {
        let Some(organizations) = viewer.organizations_with(Permission::Read) else {
            return Ok(Self(None));
        };
        let members = match among {
            Some([]) => Vec::new(),
            among => store.member_addresses(&organizations, among).await?,
        };
        Ok(Self(Some(Arc::new(members.into_iter().collect()))))
    }

    /// Replaces the name of a person that the viewer may not see.
    pub(super) fn mask_name(&self, name: &mut String) {
        if self.0.as_ref().is_some_and(|names| !names.contains(name)) {
            OPERATOR.clone_into(name);
        }
    }

    /// Removes what the viewer may not see from an entry of the audit log.
    pub(super) fn mask_entry(&self, row: &mut AuditRow) {
        let (Some(names), Some(entry)) = (&self.0, &mut row.entry) else {
            return;
        };
        let change = &mut entry.change;
        let is_visible = match change.actor.kind {
            ActorKind::ApiKey | ActorKind::System => true,
            ActorKind::Account => names.contains(&change.actor.name),
            ActorKind::AdminToken | ActorKind::Cli => false,
        };
        if !is_visible {
            OPERATOR.clone_into(&mut change.actor.name);
            change.actor.id.clear();
            change.source.address = None;
        }
        if change.action == AuditAction::BookingSettled.as_str()
            && let Value::Object(after) = &mut change.after
        {
            after.remove("note");
        }
    }
}
