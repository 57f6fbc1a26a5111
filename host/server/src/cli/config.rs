//! `stopover config`: checks and shows the configuration without serving.

use crate::cli::{CliError, ConfigSource, missing_plugins, print_line};
use anyhow::bail;
use clap::{Args, Subcommand};
use host_application::config::DEFAULTS;

/// Options of `stopover config`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct ConfigOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check the configuration and that the plugin files exist
    Check {
        #[command(flatten)]
        source: ConfigSource,
    },
    /// Show the effective configuration, without secrets
    Show {
        /// Show the defaults instead, with an explanation of every key
        #[arg(long)]
        defaults: bool,
        /// Print JSON instead of TOML
        #[arg(long, conflicts_with = "defaults")]
        json: bool,
        #[command(flatten)]
        source: ConfigSource,
    },
}

pub(super) fn run(options: &ConfigOptions) -> Result<(), CliError> {
    match &options.action {
        Action::Check { source } => check_config(source),
        Action::Show { defaults: true, .. } => print_line(DEFAULTS.trim_end()),
        Action::Show { json, source, .. } => {
            let config = source.load()?;
            let text = if *json {
                serde_json::to_string_pretty(&config)?
            } else {
                config.to_redacted_toml()?
            };
            print_line(text.trim_end())
        }
    }
}

fn check_config(source: &ConfigSource) -> Result<(), CliError> {
    let config = source.load()?;
    let missing: Vec<String> = (missing_plugins(&config).iter())
        .map(|(supplier, file)| format!("{supplier} ({})", file.display()))
        .collect();
    if !missing.is_empty() {
        bail!("plugin files are missing: {}", missing.join(", "));
    }
    print_line("the configuration is valid")
}
