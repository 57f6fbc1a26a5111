//! Permissions of a person. No other module derives organizations from roles.

use crate::account::viewer::Viewer;
use host_domain::account::{AccountRole, Permission};
use host_domain::console::TenantScope;
use host_domain::owner::{Mode, Tenant};

/// Reason why a person may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The person may read the organization, but no role permits the change.
    #[error("no role permits this")]
    Forbidden,
    /// The object does not exist, or its organization is somebody else's. The person does not learn
    /// which.
    #[error("nothing in the person's organizations has this name")]
    NotFound,
    /// The object exists in this mode, to which the session is not set.
    #[error("the object is in {} mode", .0.as_str())]
    OtherMode(Mode),
}

impl Viewer {
    /// Returns what the person reads: one organization, or all that are open.
    ///
    /// # Errors
    /// [`AccessError::NotFound`] if the organization is somebody else's.
    pub fn scope(&self, organization: Option<&str>) -> Result<TenantScope, AccessError> {
        let Some(organization) = organization else {
            return Ok(self.whole_scope());
        };
        self.require(Permission::Read, organization)?;
        Ok(TenantScope {
            organizations: Some(vec![organization.to_owned()]),
            mode: self.mode,
        })
    }

    /// Returns all organizations that the person may read, in the session's mode.
    pub fn whole_scope(&self) -> TenantScope {
        TenantScope {
            organizations: self.organizations_with(Permission::Read),
            mode: self.mode,
        }
    }

    /// Checks whether the person may do something in an organization.
    ///
    /// # Errors
    /// [`AccessError::NotFound`] if the organization is somebody else's, otherwise
    /// [`AccessError::Forbidden`].
    pub fn require(&self, permission: Permission, organization: &str) -> Result<(), AccessError> {
        let is_permitted = |permission| {
            let mut roles = self.roles.iter();
            roles.any(|role| role.permits(permission, organization))
        };
        if is_permitted(permission) {
            Ok(())
        } else if is_permitted(Permission::Read) {
            Err(AccessError::Forbidden)
        } else {
            Err(AccessError::NotFound)
        }
    }

    /// Checks whether the person may do what only operators may.
    ///
    /// # Errors
    /// [`AccessError::Forbidden`].
    pub fn require_operator(&self) -> Result<(), AccessError> {
        self.is_operator()
            .then_some(())
            .ok_or(AccessError::Forbidden)
    }

    /// Checks whether the person may do something with an object of a tenant.
    ///
    /// # Errors
    /// [`AccessError::NotFound`] if the object is somebody else's, [`AccessError::OtherMode`] if
    /// the session shows the other mode, otherwise [`AccessError::Forbidden`].
    pub fn require_on(&self, permission: Permission, tenant: &Tenant) -> Result<(), AccessError> {
        self.require(Permission::Read, &tenant.organization)?;
        if tenant.mode != self.mode {
            return Err(AccessError::OtherMode(tenant.mode));
        }
        self.require(permission, &tenant.organization)
    }

    /// Returns the organizations in which a role permits something, in alphabetical order. `None`
    /// means all.
    pub fn organizations_with(&self, permission: Permission) -> Option<Vec<String>> {
        if self.is_operator() {
            return None;
        }
        let organizations = self.roles.iter().filter_map(|role| match role {
            AccountRole::Operator => None,
            AccountRole::Organization { organization, .. } => role
                .permits(permission, organization)
                .then(|| organization.clone()),
        });
        let mut organizations: Vec<String> = organizations.collect();
        organizations.sort_unstable();
        Some(organizations)
    }

    /// Returns whether a list of the person can have rows of several organizations.
    pub fn reads_several_organizations(&self) -> bool {
        let organizations = self.organizations_with(Permission::Read);
        organizations.is_none_or(|organizations| organizations.len() > 1)
    }

    /// Returns whether a role permits something in any organization.
    pub fn may_anywhere(&self, permission: Permission) -> bool {
        let organizations = self.organizations_with(permission);
        organizations.is_none_or(|organizations| !organizations.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_domain::account::{EmailAddress, OrganizationRole};
    use host_domain::id::{AccountId, SessionId};
    use host_domain::time::Timestamp;
    use std::net::Ipv4Addr;

    fn viewer(roles: &[AccountRole]) -> Viewer {
        Viewer {
            account: AccountId::from_bits(1),
            email: EmailAddress::parse("ada@example.com").unwrap(),
            roles: roles.to_vec(),
            mode: Mode::Test,
            session: SessionId::from_bits(1),
            signed_in_at: Timestamp(0),
            address: Ipv4Addr::LOCALHOST.into(),
        }
    }

    fn role(organization: &str, role: OrganizationRole) -> AccountRole {
        AccountRole::Organization {
            organization: organization.to_owned(),
            role,
        }
    }

    fn tenant(organization: &str, mode: Mode) -> Tenant {
        Tenant {
            organization: organization.to_owned(),
            mode,
        }
    }

    #[test]
    fn object_is_checked_by_organization_then_mode_then_role() {
        use AccessError::{Forbidden, NotFound, OtherMode};
        use OrganizationRole::{Admin, Developer, Viewer as Reader};
        let change = Permission::ManageLiveKeys;
        let (test, live) = (Mode::Test, Mode::Live);
        for (roles, organization, mode, expected) in [
            (vec![AccountRole::Operator], "acme", test, Ok(())),
            (
                vec![AccountRole::Operator],
                "acme",
                live,
                Err(OtherMode(live)),
            ),
            (vec![role("acme", Admin)], "acme", test, Ok(())),
            (
                vec![role("acme", Admin)],
                "acme",
                live,
                Err(OtherMode(live)),
            ),
            (vec![role("acme", Developer)], "acme", test, Err(Forbidden)),
            (vec![role("acme", Reader)], "acme", test, Err(Forbidden)),
            (
                vec![role("acme", Reader), role("other", Admin)],
                "acme",
                test,
                Err(Forbidden),
            ),
            (vec![role("other", Admin)], "acme", test, Err(NotFound)),
            (vec![role("other", Admin)], "acme", live, Err(NotFound)),
            (vec![], "acme", test, Err(NotFound)),
        ] {
            let found = viewer(&roles).require_on(change, &tenant(organization, mode));
            assert_eq!(found, expected, "{roles:?} {mode:?}");
        }
    }

    #[test]
    fn scope_has_only_the_organizations_of_the_roles() {
        use OrganizationRole::{Admin, Viewer as Reader};
        let member = [role("zoo", Reader), role("acme", Admin)];
        let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        for (roles, organization, expected) in [
            (&[AccountRole::Operator][..], None, Ok(None)),
            (&[AccountRole::Operator], Some("acme"), Ok(some(&["acme"]))),
            (&member, None, Ok(some(&["acme", "zoo"]))),
            (&member, Some("zoo"), Ok(some(&["zoo"]))),
            (&member, Some("other"), Err(AccessError::NotFound)),
            (&member, Some(""), Err(AccessError::NotFound)),
            (&[], None, Ok(some(&[]))),
        ] {
            let found = viewer(roles).scope(organization);
            let found = found.map(|scope| scope.organizations);
            assert_eq!(found, expected, "{roles:?} {organization:?}");
        }
    }
}
