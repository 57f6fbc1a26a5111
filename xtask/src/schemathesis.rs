//! `cargo xtask schemathesis`: requests derived from the API document, valid
//! and broken, alone and in sequence, against a demo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::demo::Demo;
use crate::{cargo, plugins, process, python, run};

const VERSION: &str = "4.32.5";
const VALIDATOR_VERSION: &str = "0.9.0";
/// The configuration file takes the key from here.
const KEY_VARIABLE: &str = "SCHEMATHESIS_API_KEY";
const HOOKS_VARIABLE: &str = "SCHEMATHESIS_HOOKS";
/// What `schemathesis.py` writes: the operations that never succeeded.
const UNREACHED: &str = "unreached.txt";
/// What suppliers sign with, or call at, when they tell something.
const EVENTS_SECRET: (&str, &str) = (
    "SCHEMATHESIS_EVENTS_SECRET",
    "0123456789abcdef0123456789abcdef",
);
/// The limits have their own tests; here they would only slow down what is tested.
const VARIABLES: [(&str, &str); 4] = [
    ("STOPOVER_LIMITS_REQUESTS_PER_S", "10000"),
    ("STOPOVER_LIMITS_BURST", "20000"),
    ("STOPOVER_LIMITS_CALENDAR_PER_MINUTE", "100000"),
    EVENTS_SECRET,
];
/// Reads the document from the address in its argument and validates it.
const VALIDATE: &str = "\
import json, sys, urllib.request
from openapi_spec_validator import validate
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer:
    validate(json.load(answer))
";

/// Options of `cargo xtask schemathesis`.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for everything; what is left after one round goes into more of them
    #[arg(long, default_value_t = 300)]
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
            max_time: 300,
            seed: 1,
            arguments: Vec::new(),
        }
    }
}

/// Starts a demo, validates its API document, and fails on whatever the fuzzer finds.
pub(crate) fn schemathesis(options: &Options) -> Result<()> {
    plugins::build(&plugins::Options::default())?;
    examine(&run::build_gateway(false)?, options)
}

/// The same of a gateway that is built, beside its plugins.
pub(crate) fn examine(gateway: &Path, options: &Options) -> Result<()> {
    let folder = cargo::target("schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let programs = install(&folder)?;
    let log = folder.join("gateway.log");
    let suppliers = cargo::root().join("xtask/schemathesis-suppliers.toml");
    let mut demo = Demo::start(gateway, &suppliers, &VARIABLES, &log)?;

    let document = format!("{}/openapi.json", demo.api);
    process::run(
        Command::new(programs.join("python"))
            .args(["-c", VALIDATE])
            .arg(&document),
    )
    .context("the API document is not valid OpenAPI")?;
    let outcome = fuzz(&programs.join("schemathesis"), &folder, options, &demo);
    ensure!(
        demo.is_running()?,
        "the gateway ended while it was tested; its log is {}",
        log.display()
    );
    outcome.with_context(|| format!("the gateway's log is {}", log.display()))?;
    // A part of the operations may not lead to all the others.
    if options.arguments.is_empty() {
        everything_was_reached(&folder)?;
    }
    Ok(())
}

fn fuzz(fuzzer: &Path, folder: &Path, options: &Options, demo: &Demo) -> Result<()> {
    let sources = cargo::root().join("xtask");
    process::run(
        Command::new(fuzzer)
            .current_dir(folder)
            .arg("--config-file")
            .arg(sources.join("schemathesis.toml"))
            .args(["run", "--no-color", "--checks=all"])
            .arg("--phases=examples,coverage,fuzzing,stateful")
            .arg(format!("--seed={}", options.seed))
            .arg(format!("--max-time={}", options.max_time))
            .arg("--generation-database=none")
            .arg("--report-junit-path=report.xml")
            .args(&options.arguments)
            .env(KEY_VARIABLE, &demo.key)
            .env(EVENTS_SECRET.0, EVENTS_SECRET.1)
            .env(HOOKS_VARIABLE, sources.join("schemathesis.py"))
            .arg(format!("{}/openapi.json", demo.api)),
    )
}

/// An operation that never succeeded was only tested for its refusals.
fn everything_was_reached(folder: &Path) -> Result<()> {
    let file = folder.join(UNREACHED);
    let unreached =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let names: Vec<&str> = unreached.lines().collect();
    ensure!(
        names.is_empty(),
        "no call of these succeeded: {}",
        names.join(", ")
    );
    Ok(())
}

/// Installs fuzzer and validator into a folder of their own, once for each pair of
/// versions. Answers the folder of their programs.
fn install(folder: &Path) -> Result<PathBuf> {
    let environment = folder.join(format!("python-{VERSION}-{VALIDATOR_VERSION}"));
    let packages = [
        ("schemathesis", VERSION),
        ("openapi-spec-validator", VALIDATOR_VERSION),
    ];
    python::install(&environment, &packages, "Schemathesis")
}
