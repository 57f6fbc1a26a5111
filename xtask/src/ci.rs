//! `cargo xtask lint` and `cargo xtask ci`: the checks that must pass before a merge.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{cargo, process, structure, test};

/// Tests of the program alone. All packages but the dashboard are selected, so that cargo gives most
/// dependencies the features with which the other tests have built them.
const WITHOUT_DEMO_AND_DASHBOARD: &str =
    "test --workspace --exclude host-dashboard --no-default-features --bin stopover --test cli";

/// Runs every check that executes no tests.
pub(crate) fn lint() -> Result<()> {
    let mut report = Report::default();
    lint_sections(&mut report)?;
    report.print();
    Ok(())
}

/// Runs every check, the fastest first.
pub(crate) fn ci() -> Result<()> {
    let mut report = Report::default();
    lint_sections(&mut report)?;
    report.section("tests", || test::test(&test::Options::default()))?;
    report.section(
        "tests of the program without the demo and the dashboard",
        || cargo(WITHOUT_DEMO_AND_DASHBOARD),
    )?;
    report.print();
    Ok(())
}

fn lint_sections(report: &mut Report) -> Result<()> {
    report.section("locked dependencies", cargo::check_lock_file)?;
    report.section("structure", structure::check)?;
    report.section("format", || cargo("fmt --all --check"))?;
    // Includes plugins, as native libraries. One command checks shared dependencies once.
    report.section("lints", || {
        cargo("clippy --workspace --all-targets -- -D warnings")
    })?;
    report.section("documentation", || {
        cargo("doc --workspace --no-deps --document-private-items")
    })
}

fn cargo(arguments: &str) -> Result<()> {
    let mut command = cargo::command();
    command.args(arguments.split_whitespace());
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

#[derive(Default)]
struct Report {
    sections: Vec<(&'static str, Duration)>,
}

impl Report {
    fn section(&mut self, title: &'static str, check: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("\n==> {title}");
        let start = Instant::now();
        check().with_context(|| title)?;
        let duration = start.elapsed();
        eprintln!("<== {title}: {:.1} s", duration.as_secs_f64());
        self.sections.push((title, duration));
        Ok(())
    }

    fn print(&self) {
        eprintln!("\nAll checks passed");
        for (title, duration) in &self.sections {
            eprintln!("{:>8.1} s  {title}", duration.as_secs_f64());
        }
    }
}
