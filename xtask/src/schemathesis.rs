//! `cargo xtask schemathesis`: requests derived from the API document, valid
//! and broken, alone and in sequence, against a demo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::demo::Demo;
use crate::{apt, cargo, plugins, process, run};

const VERSION: &str = "4.32.5";
/// The configuration file takes the key from here.
const KEY_VARIABLE: &str = "SCHEMATHESIS_API_KEY";

/// Options of `cargo xtask schemathesis`.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for everything; what is left after one round goes into more of them
    #[arg(long, default_value_t = 120)]
    max_time: u32,
    /// The same seed makes the same requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Passed on to `schemathesis run`, for example `--include-path /v1/hotels`
    #[arg(last = true)]
    arguments: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_time: 120,
            seed: 1,
            arguments: Vec::new(),
        }
    }
}

/// Starts a demo and fails on whatever the fuzzer finds.
pub(crate) fn schemathesis(options: &Options) -> Result<()> {
    let folder = cargo::target("schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let fuzzer = install(&folder)?;
    plugins::build(&plugins::Options::default())?;
    let gateway = run::build_gateway(false)?;
    let log = folder.join("gateway.log");
    let mut demo = Demo::start(&gateway, &log)?;

    let outcome = process::run(
        Command::new(fuzzer)
            .current_dir(&folder)
            .arg("--config-file")
            .arg(cargo::root().join("xtask/schemathesis.toml"))
            .args(["run", "--no-color", "--checks=all"])
            .arg("--phases=examples,coverage,fuzzing,stateful")
            .arg(format!("--seed={}", options.seed))
            .arg(format!("--max-time={}", options.max_time))
            .arg("--generation-database=none")
            .arg("--report-junit-path=report.xml")
            .args(&options.arguments)
            .env(KEY_VARIABLE, &demo.key)
            .arg(format!("{}/openapi.json", demo.api)),
    );
    ensure!(
        demo.is_running()?,
        "the gateway ended while it was tested; its log is {}",
        log.display()
    );
    outcome.with_context(|| format!("the gateway's log is {}", log.display()))
}

/// Installs the fuzzer into a folder of its own, once for each version.
fn install(folder: &Path) -> Result<PathBuf> {
    let environment = folder.join(format!("python-{VERSION}"));
    let fuzzer = environment.join("bin/schemathesis");
    if process::succeeds(Command::new(&fuzzer).arg("--version")) {
        return Ok(fuzzer);
    }
    if !python_is_usable() {
        apt::install(&["python3", "python3-venv"], "Schemathesis")?;
    }
    process::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
    )?;
    process::run(
        Command::new(environment.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet"])
            .arg("--disable-pip-version-check")
            .arg(format!("schemathesis=={VERSION}")),
    )?;
    Ok(fuzzer)
}

fn python_is_usable() -> bool {
    process::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}
