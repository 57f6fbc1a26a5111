//! The command line: parses arguments, runs the command and sets the exit code: 0 success, 1
//! failure, 2 invalid usage.

#[cfg(feature = "dashboard")]
mod accounts;
mod api_client;
mod audit;
mod bookings;
mod config;
mod deliveries;
#[cfg(feature = "demo")]
mod demo;
mod go_live;
mod keys;
mod listen;
mod logs;
mod mandates;
#[cfg(feature = "dashboard")]
mod members;
mod migrate;
mod overview;
mod parked_jobs;
mod plugin;
#[cfg(feature = "demo")]
mod sandbox;
mod search;
mod serve;
mod suppliers;
mod trigger;
mod unresolved;
mod watches;
mod webhooks;

use crate::system_clock::SystemClock;
use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use host_application::application::open_store;
use host_application::base::Base;
use host_application::config::{Config, ConfigError, Environment, data_dir_overlay};
use host_application::id_generator::UuidV7Generator;
#[cfg(feature = "dashboard")]
use host_domain::account::OrganizationRole;
use host_domain::account::is_organization_id;
use host_domain::audit::Actor;
use host_domain::event::EventType;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// One API for hotels and flights, with pluggable suppliers
#[derive(Debug, Parser)]
#[command(
    name = "stopover",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API
    Serve(serve::ServeOptions),
    /// Run the sandbox suppliers and card processor
    #[cfg(feature = "demo")]
    Sandbox(sandbox::SandboxOptions),
    /// Apply database migrations
    Migrate(migrate::MigrateOptions),
    /// Create, list and revoke API keys
    Keys(keys::KeysOptions),
    /// Create, list, disable and reset accounts of the dashboard, and change their roles
    #[cfg(feature = "dashboard")]
    Accounts(accounts::AccountsOptions),
    /// List, invite, change and remove members of organizations
    #[cfg(feature = "dashboard")]
    Members(members::MembersOptions),
    /// List and verify the audit log
    Audit(audit::AuditOptions),
    /// List deliveries of webhooks and send them again
    Deliveries(deliveries::DeliveriesOptions),
    /// Receive events without a public address and forward them
    Listen(listen::ListenOptions),
    /// Show the API calls of a running gateway
    Logs(logs::LogsOptions),
    /// Make an event happen in test mode
    Trigger(trigger::TriggerOptions),
    /// Show what waits for a person and the calls of a window of time, as JSON
    Overview(overview::OverviewOptions),
    /// Show which steps before going live have happened
    GoLive(go_live::GoLiveOptions),
    /// Find what an id or a reference belongs to
    Search(search::SearchOptions),
    /// List and show bookings without personal data
    Bookings(bookings::BookingsOptions),
    /// Show and change the suppliers of a running gateway
    Suppliers(suppliers::SuppliersOptions),
    /// Show and settle unknown outcomes and undecided refunds
    Unresolved(unresolved::UnresolvedOptions),
    /// List and retry jobs that failed too often
    ParkedJobs(parked_jobs::ParkedJobsOptions),
    /// Show and change the webhooks of all organizations
    Webhooks(webhooks::WebhooksOptions),
    /// List, show and cancel watches
    Watches(watches::WatchesOptions),
    /// List, show and revoke mandates
    Mandates(mandates::MandatesOptions),
    /// List and inspect plugins
    Plugin(plugin::PluginOptions),
    /// Check and show the configuration
    Config(config::ConfigOptions),
}

/// Options that select the configuration and the database.
#[derive(Debug, Clone, Args)]
struct ConfigSource {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder that holds all data, as in `serve --demo --data-dir`
    #[arg(long, value_name = "DIR", conflicts_with = "database")]
    data_dir: Option<PathBuf>,
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// Options that select mode and organization of what a command shows.
#[derive(Debug, Args)]
struct ScopeOptions {
    /// Mode: test or live
    #[arg(long, value_name = "MODE", default_value = "test", value_parser = mode)]
    mode: Mode,
    /// Only what belongs to this organization
    #[arg(long, value_name = "ID", value_parser = organization)]
    organization: Option<String>,
}

/// Error of a command, printed in one line with its causes.
type CliError = anyhow::Error;

/// Parses the command line and runs the command.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wrong_usage = error.use_stderr();
            // If even this cannot be printed, no output channel is left for an error.
            let _ = error.print();
            return ExitCode::from(if wrong_usage { 2 } else { 0 });
        }
    };
    match start(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(command: Command) -> Result<(), CliError> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(execute(command))
}

async fn execute(command: Command) -> Result<(), CliError> {
    match command {
        #[cfg(feature = "demo")]
        Command::Serve(options) if options.demo => demo::run(&options).await,
        Command::Serve(options) => serve::run(options).await,
        #[cfg(feature = "demo")]
        Command::Sandbox(options) => sandbox::run(options).await,
        Command::Migrate(options) => migrate::run(options).await,
        Command::Keys(options) => keys::run(options).await,
        #[cfg(feature = "dashboard")]
        Command::Accounts(options) => accounts::run(options).await,
        #[cfg(feature = "dashboard")]
        Command::Members(options) => members::run(options).await,
        Command::Audit(options) => audit::run(options).await,
        Command::Deliveries(options) => deliveries::run(options).await,
        Command::Listen(options) => listen::run(options).await,
        Command::Logs(options) => logs::run(options).await,
        Command::Trigger(options) => trigger::run(options).await,
        Command::Overview(options) => overview::run(&options).await,
        Command::GoLive(options) => go_live::run(&options).await,
        Command::Search(options) => search::run(&options).await,
        Command::Bookings(options) => bookings::run(options).await,
        Command::Suppliers(options) => suppliers::run(options).await,
        Command::Unresolved(options) => unresolved::run(options).await,
        Command::ParkedJobs(options) => parked_jobs::run(options).await,
        Command::Webhooks(options) => webhooks::run(options).await,
        Command::Watches(options) => watches::run(options).await,
        Command::Mandates(options) => mandates::run(options).await,
        Command::Plugin(options) => plugin::run(options).await,
        Command::Config(options) => config::run(&options),
    }
}

/// Opens the database of a configuration and brings its schema up to date.
async fn open_base(config: &Config) -> Result<Base, CliError> {
    let store = open_store(config).await?;
    store.migrate().await?;
    Ok(Base {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidV7Generator),
    })
}

/// Parses a value by the rules of its type, such as an id.
fn parse<T>(text: &str) -> Result<T, String>
where
    T: TryFrom<String>,
    T::Error: ToString,
{
    T::try_from(text.to_owned()).map_err(|error| error.to_string())
}

/// Returns a parsed value, or the error that says which values are valid.
fn or_expected<T>(parsed: Option<T>, valid: &str) -> Result<T, String> {
    parsed.ok_or_else(|| format!("expected {valid}"))
}

/// Parses the id of an organization.
fn organization(text: &str) -> Result<String, String> {
    let valid = is_organization_id(text).then(|| text.to_owned());
    or_expected(valid, "1 to 64 of [A-Za-z0-9._-]")
}

/// Parses a role in an organization.
#[cfg(feature = "dashboard")]
fn organization_role(text: &str) -> Result<OrganizationRole, String> {
    or_expected(OrganizationRole::parse(text), "admin, developer or viewer")
}

/// Parses a mode.
fn mode(text: &str) -> Result<Mode, String> {
    or_expected(Mode::parse(text), "test or live")
}

/// Parses a time.
fn time(text: &str) -> Result<Timestamp, String> {
    or_expected(
        Timestamp::parse(text),
        "a timestamp such as 2027-01-31T12:00:00Z",
    )
}

/// Parses the type of an event.
fn event_type(text: &str) -> Result<EventType, String> {
    let valid = "an event type, of which `stopover trigger --list` names all";
    or_expected(EventType::parse(text), valid)
}

/// Returns the user of the operating system who runs the command, as the audit log names them.
fn actor() -> Actor {
    Actor::cli(whoami::username().unwrap_or_default())
}

/// Prints a line to standard output. A closed pipe is not an error.
fn print_line(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

impl ConfigSource {
    /// Loads the configuration that the options select.
    fn load(&self) -> Result<Config, ConfigError> {
        let overlay = self.data_dir.as_deref().map(data_dir_overlay);
        let environment = Environment::from_process();
        let mut config = Config::load(overlay, self.config.as_deref(), &environment)?;
        if let Some(database) = &self.database {
            config.database = database.clone().into();
        }
        Ok(config)
    }
}

impl ScopeOptions {
    /// Returns the parameters of the admin listener that are set.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let organization = self.organization.clone();
        let organization = organization.map(|id| ("organization", id));
        let mode = ("mode", self.mode.as_str().to_owned());
        [mode].into_iter().chain(organization).collect()
    }
}

/// Returns the suppliers whose plugin file does not exist, each with that file.
fn missing_plugins(config: &Config) -> Vec<(&SupplierId, PathBuf)> {
    let folder = plugins_dir(config);
    let files =
        (config.suppliers.iter()).map(|supplier| (&supplier.id, folder.join(&supplier.component)));
    files.filter(|(_, file)| !file.is_file()).collect()
}

/// Returns the folder of the plugins: the configured one, or `plugins` beside the program.
fn plugins_dir(config: &Config) -> PathBuf {
    if !config.plugins_dir.as_os_str().is_empty() {
        return config.plugins_dir.clone();
    }
    let program = std::env::current_exe().unwrap_or_default();
    program.with_file_name("plugins")
}
