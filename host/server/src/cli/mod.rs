//! The command line: parse, run, exit code. 0 done, 1 failed, 2 wrong usage.

mod config;
mod keys;
mod migrate;
mod plugin;
mod sandbox;
mod serve;

use crate::config::{Config, ConfigError, Environment};
use crate::demo;
use clap::{Args, Parser, Subcommand};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One API for hotels and flights, in front of suppliers that are plugged in
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
    Serve(serve::Options),
    /// Run the sandbox: suppliers and a card processor that do what is asked of them
    Sandbox(sandbox::Options),
    /// Bring the database's schema up to date
    Migrate(migrate::Options),
    /// Make, list and revoke API keys
    Keys(keys::Options),
    /// Look at plugins
    Plugin(plugin::Options),
    /// Check and show the configuration
    Config(config::Options),
}

/// Where the configuration comes from, and which database is meant.
#[derive(Debug, Clone, Args)]
struct ConfigSource {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder that everything is kept in, as `serve --demo --data-dir` does
    #[arg(long, value_name = "DIR", conflicts_with = "database")]
    data_dir: Option<PathBuf>,
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// What a command cannot do, in one line with its causes.
type CliError = anyhow::Error;

/// Parses the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wrong_usage = error.use_stderr();
            // Nobody is left to tell when even this cannot be written.
            let _ = error.print();
            return ExitCode::from(if wrong_usage { 2 } else { 0 });
        }
    };
    let outcome = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime.block_on(execute(cli.command)),
        Err(error) => Err(CliError::new(error).context("no threads")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn execute(command: Command) -> Result<(), CliError> {
    match command {
        Command::Serve(options) => serve::run(options).await,
        Command::Sandbox(options) => sandbox::run(options).await,
        Command::Migrate(options) => migrate::run(options).await,
        Command::Keys(options) => keys::run(options).await,
        Command::Plugin(options) => plugin::run(options).await,
        Command::Config(options) => config::run(&options),
    }
}

/// A line on standard output. Whoever reads it may stop reading.
fn print_line(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

impl ConfigSource {
    /// The configuration that the options ask for.
    fn load(&self, environment: &Environment) -> Result<Config, ConfigError> {
        let overlay = self.data_dir.as_deref().map(demo::data_dir_overlay);
        let mut config = Config::load(overlay, self.config.as_deref(), environment)?;
        if let Some(database) = &self.database {
            config.database = database.clone().into();
        }
        Ok(config)
    }
}

/// Where plugins are: as configured, else beside the program.
fn plugins_dir(config: &Config) -> PathBuf {
    if !config.plugins_dir.as_os_str().is_empty() {
        return config.plugins_dir.clone();
    }
    let program = std::env::current_exe().ok();
    let beside = program
        .as_deref()
        .and_then(Path::parent)
        .map(|folder| folder.join("plugins"));
    beside.unwrap_or_else(|| PathBuf::from("plugins"))
}
