//! `stopover members`: manages the members of organizations and the invitations to them, even while
//! the server is running.

use crate::cli::{
    CliError, ConfigSource, actor, open_base, organization, organization_role, parse, print_line,
};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use host_application::account::members::{MemberService, MemberSummary, OpenInvitation};
use host_application::account::service::AccountService;
use host_application::config::DashboardConfig;
use host_domain::account::{EmailAddress, OrganizationRole};
use host_domain::page::CursorRequest;
use serde_json::{Value, json};

/// Number of members that are read at a time.
const PAGE_LIMIT: u32 = 500;

/// Options of `stopover members`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct MembersOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List members with their roles, and the open invitations
    List(List),
    /// Invite an address and print the link with which its owner joins, valid once for 24 hours
    Invite(Membership),
    /// Revoke the open invitation of an address
    RevokeInvitation(Subject),
    /// Change the role of a member
    SetRole(Membership),
    /// Remove a member; the account remains
    Remove(Subject),
}

#[derive(Debug, Args)]
struct List {
    /// Only members of this organization
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
    /// Print a JSON object with the arrays `members` and `invitations`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: ConfigSource,
}

/// A person and an organization.
#[derive(Debug, Args)]
struct Subject {
    /// E-mail address of the person
    #[arg(value_parser = parse::<EmailAddress>)]
    email: EmailAddress,
    /// The organization
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: String,
    #[command(flatten)]
    source: ConfigSource,
}

/// The role of a person in an organization.
#[derive(Debug, Args)]
struct Membership {
    #[command(flatten)]
    subject: Subject,
    /// Role in the organization: admin, developer or viewer
    #[arg(long, value_name = "ROLE", value_parser = organization_role)]
    role: OrganizationRole,
}

pub(super) async fn run(options: MembersOptions) -> Result<(), CliError> {
    let source = match &options.action {
        Action::List(list) => &list.source,
        Action::Invite(membership) | Action::SetRole(membership) => &membership.subject.source,
        Action::RevokeInvitation(subject) | Action::Remove(subject) => &subject.source,
    };
    let config = source.load()?;
    let base = open_base(&config).await?;
    let members = MemberService::new(base.clone());
    let done = match options.action {
        Action::List(options) => list(&members, &options).await,
        Action::Invite(membership) => {
            let accounts = AccountService::new(base.clone());
            invite(&members, &accounts, &config.dashboard, &membership).await
        }
        Action::RevokeInvitation(subject) => revoke_invitation(&members, &subject).await,
        Action::SetRole(membership) => set_role(&members, &membership).await,
        Action::Remove(subject) => remove(&members, &subject).await,
    };
    base.store.close().await;
    done
}

async fn list(members: &MemberService, options: &List) -> Result<(), CliError> {
    let organizations = options.organization.clone().map(|id| vec![id]);
    let organizations = organizations.as_deref();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = CursorRequest {
            after,
            limit: PAGE_LIMIT,
        };
        let page = members.list(organizations, &page).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let invitations = members.invitations(organizations).await?;
    if options.json {
        let members: Vec<Value> = found.iter().map(MemberSummary::to_json).collect();
        let invitations: Vec<Value> = invitations.iter().map(OpenInvitation::to_json).collect();
        let list = json!({ "members": members, "invitations": invitations });
        return print_line(&serde_json::to_string_pretty(&list)?);
    }
    for member in found {
        let (organization, email) = (member.organization, member.email);
        let (role, state) = (member.role.as_str(), member.state.as_str());
        print_line(&format!("{organization}  {email}  {role}  {state}"))?;
    }
    for invitation in invitations {
        let (organization, email) = (invitation.organization, invitation.email);
        let (role, end) = (invitation.role.as_str(), invitation.expires_at);
        print_line(&format!(
            "{organization}  {email}  {role}  invitation until {end}"
        ))?;
    }
    Ok(())
}

async fn invite(
    members: &MemberService,
    accounts: &AccountService,
    dashboard: &DashboardConfig,
    Membership { subject, role }: &Membership,
) -> Result<(), CliError> {
    let links = accounts.setup_links(dashboard).await?;
    let token = members
        .invite(&actor(), &subject.organization, &subject.email, *role)
        .await
        .with_context(|| format!("cannot invite {}", subject.email))?;
    print_line(&links.url(&token))
}

async fn revoke_invitation(members: &MemberService, subject: &Subject) -> Result<(), CliError> {
    let Subject {
        email,
        organization,
        ..
    } = subject;
    let revoked = members
        .revoke_invitation(&actor(), organization, email)
        .await;
    if !revoked.with_context(|| format!("cannot revoke the invitation of {email}"))? {
        bail!("{organization} has no open invitation of {email}");
    }
    print_line(&format!(
        "the invitation of {email} to {organization} is revoked"
    ))
}

async fn set_role(
    members: &MemberService,
    Membership { subject, role }: &Membership,
) -> Result<(), CliError> {
    let cannot = || format!("cannot change {}", subject.email);
    let account = members.account_of(&subject.email).await;
    let account = account.with_context(cannot)?;
    let organization = &subject.organization;
    let changed = members
        .set_role(&actor(), organization, &account, *role)
        .await;
    changed.with_context(cannot)?;
    let role = role.as_str();
    print_line(&format!("{} is {role} of {organization}", subject.email))
}

async fn remove(members: &MemberService, subject: &Subject) -> Result<(), CliError> {
    let cannot = || format!("cannot remove {}", subject.email);
    let account = members.account_of(&subject.email).await;
    let account = account.with_context(cannot)?;
    let organization = &subject.organization;
    let removed = members.remove(&actor(), organization, &account).await;
    removed.with_context(cannot)?;
    print_line(&format!(
        "{} is no longer a member of {organization}",
        subject.email
    ))
}
