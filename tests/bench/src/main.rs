//! The benchmarks and their targets. `cargo xtask bench` builds what is measured, starts PostgreSQL
//! and runs this program. A slow result does not fail a benchmark; a wrong response does, because
//! its cost means nothing.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program that measures by the clock and prints what it found"
)]

mod http_connection;
mod load;
mod measure;
mod native;
mod paired_rounds;
mod peer;
mod plugin;
mod process;
mod receiver;
mod report;
mod rows;
mod sample;
mod setup;

use crate::peer::Peer;
use crate::report::{Report, Row};
use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::path::{Path, PathBuf};

/// Measures, and compares the results with the targets.
#[derive(Parser)]
#[command(name = "cargo xtask bench", disable_help_subcommand = true)]
struct Arguments {
    /// Only the measures whose name contains this. `pages` is measured only if it is named
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Also write the results to a file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the results into docs/bench.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
    /// Run as the peer of a measurement instead
    #[arg(long, hide = true)]
    peer: Option<Peer>,
    /// Parameters of the peer
    #[arg(long, hide = true, requires = "peer")]
    with: Option<String>,
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(peer) = arguments.peer {
        return peer.run(arguments.with.as_deref().unwrap_or_default());
    }
    let report = measure_all(arguments.only.as_deref())?;
    println!("\n{report}");
    let json = serde_json::to_string_pretty(&report.json())?;
    println!("{json}");
    if let Some(file) = &arguments.json {
        write(file, &format!("{json}\n"))?;
    }
    if arguments.write {
        write(&Path::new(ROOT).join("docs/bench.md"), &report.page())?;
    }
    Ok(())
}

fn measure_all(only: Option<&str>) -> Result<Report> {
    let mut report = Report::default();
    let mut found = false;
    for (name, measure) in measure::ALL {
        let is_wanted = match only {
            Some(part) => name.contains(part),
            None => !measure::ONLY_IF_NAMED.contains(&name),
        };
        if !is_wanted {
            continue;
        }
        found = true;
        eprintln!("measuring {name}");
        let values = measure().with_context(|| format!("{name} cannot be measured"))?;
        for value in values {
            let row = Row::new(value)?;
            eprintln!("  {row}");
            report.rows.push(row);
        }
    }
    let names: Vec<&str> = measure::ALL.iter().map(|(name, _)| *name).collect();
    ensure!(
        found,
        "no measure has this name; the measures are: {}",
        names.join(", ")
    );
    Ok(report)
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
