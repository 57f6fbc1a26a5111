//! `stopover plugin`: lists configured plugins and inspects component files.

use crate::cli::{CliError, ConfigSource, plugins_dir, print_line};
use crate::system_clock::SystemClock;
use anyhow::bail;
use clap::{Args, Subcommand};
use host_application::config::Config;
use host_application::error_chain::describe_error_chain;
use host_application::supplier::plugin_report::PluginReport;
use host_domain::supplier::SupplierId;
use host_runtime::{NoSink, PluginSpec, Runtime, RuntimeConfig};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `stopover plugin`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct PluginOptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Load every configured plugin, as `serve` does, and describe it with its promises
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: ConfigSource,
    },
    /// Describe a component: digest, capabilities, promises, and the hosts and secrets that it requests
    Inspect {
        /// Path of the component file
        file: PathBuf,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
}

pub(super) async fn run(options: PluginOptions) -> Result<(), CliError> {
    match options.action {
        Action::List { json, source } => list(&source.load()?, json).await,
        Action::Inspect { file, json } => inspect(file, json).await,
    }
}

fn runtime() -> Result<Runtime, CliError> {
    let mut config = RuntimeConfig::new(Arc::new(SystemClock));
    // One call at a time is enough, because plugins are only described.
    config.calls_max = 1;
    Ok(Runtime::new(config, Arc::new(NoSink))?)
}

async fn list(config: &Config, as_json: bool) -> Result<(), CliError> {
    let runtime = runtime()?;
    let folder = plugins_dir(config);
    let mut shown: Vec<Value> = Vec::new();
    let mut broken = 0;
    for supplier in &config.suppliers {
        shown.push(match runtime.load(supplier.plugin_spec(&folder)).await {
            Ok(info) => serde_json::to_value(PluginReport::from(&info))?,
            Err(error) => {
                broken += 1;
                json!({ "id": supplier.id.as_str(), "error": describe_error_chain(&error) })
            }
        });
    }
    if as_json {
        print_line(&serde_json::to_string_pretty(&shown)?)?;
    } else {
        shown.iter().try_for_each(print_members)?;
    }
    if broken > 0 {
        bail!("{broken} of {} plugins cannot be loaded", shown.len());
    }
    Ok(())
}

async fn inspect(file: PathBuf, as_json: bool) -> Result<(), CliError> {
    let spec = PluginSpec::new(SupplierId::parse("INSPECTED")?, file);
    let info = runtime()?.inspect(&spec).await?;
    let mut shown = serde_json::to_value(PluginReport::from(&info))?;
    if let Some(members) = shown.as_object_mut() {
        for not_of_the_file in [
            "id",
            "modes",
            "missing_hosts",
            "missing_secrets",
            "loaded_at",
        ] {
            members.remove(not_of_the_file);
        }
        let schema = serde_json::from_str(&info.description.settings_schema).unwrap_or(Value::Null);
        members.insert("settings_schema".to_owned(), schema);
    }
    if as_json {
        print_line(&serde_json::to_string_pretty(&shown)?)
    } else {
        print_members(&shown)
    }
}

/// Prints one member a line.
fn print_members(shown: &Value) -> Result<(), CliError> {
    for (name, value) in shown.as_object().into_iter().flatten() {
        let text = match value {
            Value::Array(items) => items.iter().map(to_text).collect::<Vec<_>>().join(", "),
            other => to_text(other),
        };
        print_line(&format!("{name:30} {text}"))?;
    }
    print_line("")
}

/// Returns a text without its quotes, and any other value as JSON.
fn to_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
