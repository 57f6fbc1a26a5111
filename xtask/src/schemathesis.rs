//! `cargo xtask schemathesis`: requests derived from the API document, valid
//! and broken, alone and in sequence, against a demo.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use crate::demo::Demo;
use crate::{cargo, phase, plugins, process, python, run};

const VERSION: &str = "4.32.5";
const VALIDATOR_VERSION: &str = "0.9.0";
/// The configuration file takes the key from here.
const KEY_VARIABLE: &str = "SCHEMATHESIS_API_KEY";
const HOOKS_VARIABLE: &str = "SCHEMATHESIS_HOOKS";
/// What it prints while something else is shown.
const REPORT: &str = "report.txt";
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
    let gateway = phase::run_beside(plugins::background(&[])?, || run::build_gateway(false))?;
    examine(&gateway, &install()?, options, None)
}

/// The same of a gateway that is built, while something else is shown; afterwards its
/// report is printed.
pub(crate) struct Beside(JoinHandle<Result<()>>, PathBuf);

impl Beside {
    /// Starts it, installed before so that nothing is downloaded in between.
    pub(crate) fn start(gateway: PathBuf) -> Result<Self> {
        let programs = install()?;
        let report = folder()?.join(REPORT);
        let file =
            File::create(&report).with_context(|| format!("cannot create {}", report.display()))?;
        let examining =
            thread::spawn(move || examine(&gateway, &programs, &Options::default(), Some(file)));
        Ok(Self(examining, report))
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Result<()> {
        let Self(examining, report) = self;
        let outcome = examining
            .join()
            .map_err(|_| anyhow!("the fuzzer's thread panicked"))?;
        let text = fs::read_to_string(&report)
            .with_context(|| format!("cannot read {}", report.display()))?;
        eprintln!("\n{text}");
        outcome
    }
}

fn folder() -> Result<PathBuf> {
    let folder = cargo::target("schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn examine(gateway: &Path, programs: &Path, options: &Options, report: Option<File>) -> Result<()> {
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
fn install() -> Result<PathBuf> {
    let environment = folder()?.join(format!("python-{VERSION}-{VALIDATOR_VERSION}"));
    let packages = [
        ("schemathesis", VERSION),
        ("openapi-spec-validator", VALIDATOR_VERSION),
    ];
    python::install(&environment, &packages, "Schemathesis")
}
