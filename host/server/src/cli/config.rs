//! `stopover config`: checks and shows the configuration without serving.

use crate::cli::{CliError, ConfigSource, plugins_dir, print_line};
use anyhow::bail;
use clap::{Args, Subcommand};
use host_application::config::{DEFAULTS, Environment};

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
            let config = source.load(&Environment::from_process())?;
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
    let config = source.load(&Environment::from_process())?;
    let folder = plugins_dir(&config);
    let missing: Vec<String> = config
        .suppliers
        .iter()
        .filter(|supplier| !folder.join(&supplier.component).is_file())
        .map(|supplier| {
            format!(
                "{} ({})",
                supplier.id,
                folder.join(&supplier.component).display()
            )
        })
        .collect();
    if !missing.is_empty() {
        bail!("plugin files are missing: {}", missing.join(", "));
    }
    print_line("the configuration is valid")
}
