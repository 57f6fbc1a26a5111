//! `cargo xtask schemathesis`: fuzzes the API of a demo. Requests are derived from the API
//! document: valid and invalid, single and in sequences.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::demo::Demo;
use crate::{cargo, files, phase, plugins, process, python, run};

const VERSION: &str = "4.32.5";
const VALIDATOR_VERSION: &str = "0.9.0";
/// Contains the API key; `schemathesis.toml` reads it.
const KEY_VARIABLE: &str = "SCHEMATHESIS_API_KEY";
const HOOKS_VARIABLE: &str = "SCHEMATHESIS_HOOKS";
/// The output of a background run.
const REPORT: &str = "report.txt";
/// The operations that never succeeded; `schemathesis.py` writes it.
const UNREACHED_FILE: &str = "unreached.txt";
/// The secret of supplier webhooks: a signing key, or a part of the URL.
const EVENTS_SECRET: (&str, &str) = (
    "SCHEMATHESIS_EVENTS_SECRET",
    "0123456789abcdef0123456789abcdef",
);
/// Lifts the rate limits, which have their own tests and would slow down the fuzzer.
const VARIABLES: [(&str, &str); 4] = [
    ("STOPOVER_LIMITS_REQUESTS_PER_S", "10000"),
    ("STOPOVER_LIMITS_BURST", "20000"),
    ("STOPOVER_LIMITS_CALENDAR_PER_MINUTE", "100000"),
    EVENTS_SECRET,
];
/// Python code that validates the API document at the URL in its argument.
const VALIDATE: &str = "\
import json, sys, urllib.request
from openapi_spec_validator import validate
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer:
    validate(json.load(answer))
";

#[derive(Args)]
pub(crate) struct Options {
    /// Duration in seconds; rounds are repeated until then
    #[arg(long, default_value_t = 300)]
    max_time: u32,
    /// Seed of the generated requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Arguments of `schemathesis run`, for example `--include-path /v1/hotels`
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

/// Starts a demo, validates its API document and fuzzes its API. Fails on any finding.
pub(crate) fn schemathesis(options: &Options) -> Result<()> {
    let gateway = phase::run_beside(plugins::background(&[])?, || run::build_gateway(false))?;
    run_fuzzer(&gateway, &install()?, options, None)
}

/// A run against a gateway that is built already, beside other work. Its report is printed
/// at the end.
pub(crate) struct BackgroundRun(JoinHandle<Result<()>>, PathBuf);

impl BackgroundRun {
    /// Installs the fuzzer, then starts the run in a thread.
    pub(crate) fn start(gateway: PathBuf) -> Result<Self> {
        let programs = install()?;
        let report = folder()?.join(REPORT);
        let file = files::create(&report)?;
        let examining =
            thread::spawn(move || run_fuzzer(&gateway, &programs, &Options::default(), Some(file)));
        Ok(Self(examining, report))
    }

    /// Waits for the end of the run and prints its report.
    pub(crate) fn finish(self) -> Result<()> {
        let Self(examining, report) = self;
        let outcome = examining
            .join()
            .map_err(|_| anyhow!("the fuzzer's thread panicked"))?;
        let text = files::read_text(&report)?;
        eprintln!("\n{text}");
        outcome
    }
}

fn folder() -> Result<PathBuf> {
    let folder = cargo::target("schemathesis");
    files::create_folder(&folder)?;
    Ok(folder)
}

fn run_fuzzer(
    gateway: &Path,
    programs: &Path,
    options: &Options,
    report: Option<File>,
) -> Result<()> {
    let folder = folder()?;
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
    let mut fuzzer = fuzzer(&programs.join("schemathesis"), &folder, options, &demo);
    if let Some(report) = report {
        fuzzer.stderr(report.try_clone()?).stdout(report);
    }
    let outcome = process::run(&mut fuzzer);
    ensure!(
        demo.is_running()?,
        "the gateway exited during the run; see {}",
        log.display()
    );
    outcome.with_context(|| format!("the log of the gateway is {}", log.display()))?;
    // A selection of operations may not reach the others.
    if options.arguments.is_empty() {
        check_all_operations_reached(&folder)?;
    }
    Ok(())
}

fn fuzzer(program: &Path, folder: &Path, options: &Options, demo: &Demo) -> Command {
    let sources = cargo::root().join("xtask");
    let mut fuzzer = Command::new(program);
    fuzzer
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
        .arg(format!("{}/openapi.json", demo.api));
    fuzzer
}

/// Fails if an operation never succeeded: only its errors were tested.
fn check_all_operations_reached(folder: &Path) -> Result<()> {
    let unreached = files::read_text(&folder.join(UNREACHED_FILE))?;
    let names: Vec<&str> = unreached.lines().collect();
    ensure!(
        names.is_empty(),
        "these operations never succeeded: {}; give them links or examples",
        names.join(", ")
    );
    Ok(())
}

/// Installs fuzzer and validator into their own environment, once for each pair of
/// versions. Returns the folder of their programs.
fn install() -> Result<PathBuf> {
    let environment = folder()?.join(format!("python-{VERSION}-{VALIDATOR_VERSION}"));
    let packages = [
        ("schemathesis", VERSION),
        ("openapi-spec-validator", VALIDATOR_VERSION),
    ];
    python::install(&environment, &packages, "Schemathesis")
}
