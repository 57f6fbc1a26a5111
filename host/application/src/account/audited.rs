//! Changes of accounts in the audit log. Each organization in which the account has a role gets an
//! entry of its own, without the roles in other organizations, so that its admins find the entry.

use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use host_domain::account::AccountRole;
use host_domain::audit::{Actor, AuditAction};
use host_storage::{StoredAccount, UnitOfWork};
use serde_json::Value;
use std::collections::BTreeSet;

/// Adds the entries of a change of an account to a write: one for each organization in which the
/// account has a role, and one of the whole installation if it is an operator or has no role. `before`
/// and `after` get the account with the roles that the entry may name.
pub(super) fn audit_account_in(
    write: &mut UnitOfWork,
    base: &Base,
    actor: &Actor,
    action: AuditAction,
    (before, after): (Option<&StoredAccount>, &StoredAccount),
    describe: impl Fn(&StoredAccount) -> Value,
) {
    let mut shares: BTreeSet<_> = after.roles.iter().map(organization_of).collect();
    if shares.is_empty() {
        shares.insert(None);
    }
    for organization in shares {
        let change = new_change(action, after, organization);
        let change = match before {
            Some(before) => change.before(describe(&share_of(before, organization))),
            None => change,
        };
        let change = change.after(describe(&share_of(after, organization)));
        audit_in(write, base, actor, change);
    }
}

/// Adds the entries of a change of an account's roles: one for each organization in which the role
/// changes, and one of the whole installation if the account begins or ends to be an operator.
pub(super) fn audit_roles_in(
    write: &mut UnitOfWork,
    base: &Base,
    actor: &Actor,
    (before, after): (&StoredAccount, &StoredAccount),
    describe: impl Fn(&StoredAccount) -> Value,
) {
    let is_changed =
        |role: &&AccountRole| before.roles.contains(role) != after.roles.contains(role);
    let roles = before.roles.iter().chain(&after.roles);
    let shares: BTreeSet<_> = roles.filter(is_changed).map(organization_of).collect();
    for organization in shares {
        let change = new_change(AuditAction::AccountRolesChanged, after, organization);
        let change = change.before(describe(&share_of(before, organization)));
        let change = change.after(describe(&share_of(after, organization)));
        audit_in(write, base, actor, change);
    }
}

fn new_change<'a>(
    action: AuditAction,
    account: &'a StoredAccount,
    organization: Option<&'a str>,
) -> AuditChange<'a> {
    let change = AuditChange::new(action, account.id.as_str());
    match organization {
        Some(organization) => change.of_organization(organization),
        None => change,
    }
}

/// Returns the account with its role in one organization only, or with all roles.
fn share_of(account: &StoredAccount, organization: Option<&str>) -> StoredAccount {
    let mut share = account.clone();
    if organization.is_some() {
        share
            .roles
            .retain(|role| organization_of(role) == organization);
    }
    share
}

/// Returns the organization of a role, or `None` for that of operators.
fn organization_of(role: &AccountRole) -> Option<&str> {
    match role {
        AccountRole::Operator => None,
        AccountRole::Organization { organization, .. } => Some(organization),
    }
}
