//! `stopover accounts`: manages the accounts of people who use the dashboard, even while the server
//! is running.

use crate::cli::{
    CliError, ConfigSource, actor, open_base, organization, organization_role, parse, print_line,
};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use host_application::account::service::{AccountError, AccountService, AccountSummary};
use host_application::config::DashboardConfig;
use host_domain::account::{AccountRole, EmailAddress, OrganizationRole};
use serde_json::Value;

/// Options of `stopover accounts`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct AccountsOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create an account and print the link that sets its password, valid once for 24 hours
    Create(Create),
    /// List accounts
    List(List),
    /// Disable an account; its sessions end at once
    Disable(Subject),
    /// Remove the password and the second factor of an account, end its sessions, and print a link
    /// that sets a new password
    Reset(Subject),
    /// Give an account a role, which replaces its role in the same organization
    SetRole(SetRole),
    /// Take a role from an account
    RemoveRole(RemoveRole),
}

#[derive(Debug, Args)]
struct Create {
    /// E-mail address, which names the account
    #[arg(long, value_name = "EMAIL", value_parser = parse::<EmailAddress>)]
    email: EmailAddress,
    /// Role in the whole installation
    #[arg(long, value_name = "ROLE")]
    role: Option<InstallationRole>,
    /// Organization in which the account has the role --org-role
    #[arg(long, value_name = "ID", value_parser = organization, requires = "org_role")]
    organization: Option<String>,
    /// Role in the organization: admin, developer or viewer
    #[arg(long, value_name = "ROLE", value_parser = organization_role, requires = "organization")]
    org_role: Option<OrganizationRole>,
    #[command(flatten)]
    source: ConfigSource,
}

/// A role that belongs to no organization.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum InstallationRole {
    /// May do everything, in all organizations
    Operator,
}

#[derive(Debug, Args)]
struct List {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct Subject {
    /// E-mail address of the account
    #[arg(value_parser = parse::<EmailAddress>)]
    email: EmailAddress,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct SetRole {
    /// E-mail address of the account
    #[arg(value_parser = parse::<EmailAddress>)]
    email: EmailAddress,
    /// Role in the whole installation
    #[arg(
        long,
        value_name = "ROLE",
        required_unless_present = "organization",
        conflicts_with = "organization"
    )]
    role: Option<InstallationRole>,
    /// Organization in which the account gets the role --org-role
    #[arg(long, value_name = "ID", value_parser = organization, requires = "org_role")]
    organization: Option<String>,
    /// Role in the organization: admin, developer or viewer
    #[arg(long, value_name = "ROLE", value_parser = organization_role, requires = "organization")]
    org_role: Option<OrganizationRole>,
    #[command(flatten)]
    source: ConfigSource,
}

#[derive(Debug, Args)]
struct RemoveRole {
    /// E-mail address of the account
    #[arg(value_parser = parse::<EmailAddress>)]
    email: EmailAddress,
    /// Role in the whole installation
    #[arg(
        long,
        value_name = "ROLE",
        required_unless_present = "organization",
        conflicts_with = "organization"
    )]
    role: Option<InstallationRole>,
    /// Organization in which the account loses its role
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
    #[command(flatten)]
    source: ConfigSource,
}

pub(super) async fn run(options: AccountsOptions) -> Result<(), CliError> {
    let source = match &options.action {
        Action::Create(create) => &create.source,
        Action::List(list) => &list.source,
        Action::Disable(subject) | Action::Reset(subject) => &subject.source,
        Action::SetRole(change) => &change.source,
        Action::RemoveRole(change) => &change.source,
    };
    let config = source.load()?;
    let base = open_base(&config).await?;
    let accounts = AccountService::new(base.clone());
    let done = run_action(&accounts, &config.dashboard, options.action).await;
    base.store.close().await;
    done
}

async fn run_action(
    accounts: &AccountService,
    dashboard: &DashboardConfig,
    action: Action,
) -> Result<(), CliError> {
    match action {
        Action::Create(create) => {
            let (email, roles) = (create.email.clone(), create.roles());
            let links = accounts.setup_links(dashboard).await?;
            match accounts.create(&actor(), &email, roles).await {
                Ok(token) => print_line(&links.url(&token)),
                Err(AccountError::Exists) => bail!(
                    "the account {email} exists; `stopover accounts set-role` changes its roles, and `stopover accounts reset` makes a new link for it"
                ),
                Err(error) => Err(error.into()),
            }
        }
        Action::List(options) => list(accounts, options.json).await,
        Action::Disable(subject) => {
            let disabled = accounts.disable(&actor(), &subject.email).await;
            disabled.with_context(|| format!("cannot disable {}", subject.email))?;
            print_line(&format!("{} is disabled", subject.email))
        }
        Action::Reset(subject) => {
            let links = accounts.setup_links(dashboard).await?;
            let reset = accounts.reset(&actor(), &subject.email).await;
            let token = reset.with_context(|| format!("cannot reset {}", subject.email))?;
            print_line(&links.url(&token))
        }
        Action::SetRole(SetRole {
            email,
            organization,
            org_role,
            ..
        }) => {
            let role = match organization.zip(org_role) {
                Some((organization, role)) => AccountRole::Organization { organization, role },
                None => AccountRole::Operator,
            };
            let changed = accounts.set_role(&actor(), &email, &role).await;
            let changed = changed.with_context(|| format!("cannot change {email}"))?;
            print_line(&line(&changed))
        }
        Action::RemoveRole(RemoveRole {
            email,
            organization,
            ..
        }) => {
            let organization = organization.as_deref();
            let changed = accounts.remove_role(&actor(), &email, organization).await;
            let changed = changed.with_context(|| format!("cannot change {email}"))?;
            print_line(&line(&changed))
        }
    }
}

impl Create {
    fn roles(self) -> Vec<AccountRole> {
        let operator = self.role.map(|role| match role {
            InstallationRole::Operator => AccountRole::Operator,
        });
        let member = self.organization.zip(self.org_role);
        let member =
            member.map(|(organization, role)| AccountRole::Organization { organization, role });
        operator.into_iter().chain(member).collect()
    }
}

async fn list(accounts: &AccountService, as_json: bool) -> Result<(), CliError> {
    let accounts = accounts.list().await?;
    if as_json {
        let accounts: Vec<Value> = accounts.iter().map(AccountSummary::to_json).collect();
        return print_line(&serde_json::to_string_pretty(&accounts)?);
    }
    for account in &accounts {
        print_line(&line(account))?;
    }
    Ok(())
}

/// Returns an account as one line: id, address, state and roles.
fn line(account: &AccountSummary) -> String {
    let roles: Vec<String> = account.roles.iter().map(role_text).collect();
    let (id, email, state) = (&account.id, &account.email, account.state.as_str());
    let line = format!("{id}  {email}  {state}  {}", roles.join(","));
    line.trim_end().to_owned()
}

/// Returns `operator`, or the role and its organization as in `admin@acme`.
fn role_text(role: &AccountRole) -> String {
    match role {
        AccountRole::Operator => "operator".to_owned(),
        AccountRole::Organization { organization, role } => {
            format!("{}@{organization}", role.as_str())
        }
    }
}
