//! `cargo xtask run`: builds the demo from source and serves it.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::cargo::{self, Workspace};
use crate::{phase, plugins};

/// Names the folder from which the gateway loads plugins.
pub(crate) const PLUGINS_VARIABLE: &str = "STOPOVER_PLUGINS_DIR";

/// Configures suppliers without a file.
const SUPPLIERS_VARIABLE: &str = "STOPOVER_SUPPLIERS";

/// The plugins that `stopover serve --demo` loads. A test compares them with its source.
const DEMO_PLUGINS: [&str; 5] = [
    "fake-flights-jetbridge",
    "fake-flights-skylane",
    "fake-hotels",
    "fake-hotels-mini",
    "fake-payments",
];

#[derive(Args)]
pub(crate) struct Options {
    /// Build the gateway for production
    #[arg(long)]
    release: bool,
    /// Arguments of `stopover serve --demo`
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds the gateway and the plugins that it will load at the same time, then replaces
/// this process by the gateway.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut configuration = env::var(SUPPLIERS_VARIABLE).unwrap_or_default();
    if let Some(file) = config_file(&options.arguments) {
        // The gateway reports a file that cannot be read.
        configuration.push_str(&fs::read_to_string(file).unwrap_or_default());
    }
    let configured = component_names(&configuration);
    let known = plugins::names()?;
    let names: Vec<&str> = known
        .iter()
        .map(String::as_str)
        .filter(|name| DEMO_PLUGINS.contains(name) || configured.contains(name))
        .collect();
    let gateway = phase::run_beside(plugins::background(&names)?, || {
        build_gateway(options.release)
    })?;
    let error = Command::new(&gateway)
        .args(["serve", "--demo"])
        .args(&options.arguments)
        .env(PLUGINS_VARIABLE, plugins::folder())
        .exec();
    Err(error).with_context(|| format!("cannot start {}", gateway.display()))
}

/// Returns the file of the option `--config`.
fn config_file(arguments: &[String]) -> Option<&str> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            return arguments.next().map(String::as_str);
        }
        if let Some(file) = argument.strip_prefix("--config=") {
            return Some(file);
        }
    }
    None
}

/// Returns the names of the components in quotes, as in `"fake-hotels.wasm"`.
fn component_names(text: &str) -> Vec<&str> {
    text.split('"')
        .filter_map(|part| part.strip_suffix(".wasm"))
        .collect()
}

/// Builds the binary `stopover`, for production or for development.
pub(crate) fn build_gateway(release: bool) -> Result<PathBuf> {
    let mut command = cargo::command();
    command.args(["build", "--package", "host-server", "--bin", "stopover"]);
    let expected = if release {
        command.arg("--release");
        "10 to 15 min from nothing on 2 cores, about 2 min after a change"
    } else {
        "7 to 13 min from nothing on 2 cores, seconds after a change"
    };
    phase::run("gateway", expected, || gateway(&mut command))
}

/// Builds all tests and returns the debug gateway that they start.
///
/// Built alone, the gateway has fewer features in its dependencies, so that most of them
/// would be built twice.
pub(crate) fn debug_gateway() -> Result<PathBuf> {
    let expected = "10 to 15 min from nothing on 2 cores, else seconds";
    phase::run("gateway and tests", expected, || {
        gateway(cargo::command().args(["test", "--workspace", "--no-run"]))
    })
}

fn gateway(build: &mut Command) -> Result<PathBuf> {
    let workspace = Workspace::read()?;
    let package = workspace
        .packages
        .iter()
        .find(|package| package.name == "host-server")
        .context("the workspace has no package host-server")?;
    cargo::build_artifacts(build, package)?
        .into_iter()
        .find(|file| file.file_name().is_some_and(|name| name == "stopover"))
        .context("`cargo build` built no binary stopover")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demo_plugins_are_those_of_the_gateways_demo() {
        let source = cargo::root().join("host/server/src/demo.rs");
        let source = fs::read_to_string(source).unwrap();
        let mut loaded = component_names(&source);
        loaded.sort_unstable();
        assert_eq!(loaded, DEMO_PLUGINS);
    }

    #[test]
    fn config_file_is_found_in_both_spellings() {
        let file = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            config_file(&arguments).map(str::to_owned)
        };
        assert_eq!(
            file(&["--listen", "x", "--config", "a.toml"]).unwrap(),
            "a.toml"
        );
        assert_eq!(file(&["--config=b.toml"]).unwrap(), "b.toml");
        assert_eq!(file(&["--listen", "x"]), None);
    }

    #[test]
    fn component_names_are_read_from_a_configuration() {
        let text = "# asks \"nobody\"\ncomponent = \"nuitee-hotels.wasm\"\n";
        assert_eq!(component_names(text), ["nuitee-hotels"]);
    }
}
