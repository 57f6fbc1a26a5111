//! `cargo xtask lint` and `cargo xtask ci`: what must pass before a change is merged.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{cargo, process, structure, test};

/// Every check that runs nothing.
pub(crate) fn lint() -> Result<()> {
    let mut report = Report::default();
    lint_sections(&mut report)?;
    report.print();
    Ok(())
}

/// Every check, in the order of how soon it can fail.
pub(crate) fn ci() -> Result<()> {
    let mut report = Report::default();
    lint_sections(&mut report)?;
    report.section("tests", || test::test(&test::Options::default()))?;
    report.print();
    Ok(())
}

fn lint_sections(report: &mut Report) -> Result<()> {
    report.section("locked dependencies", cargo::check_lock_file)?;
    report.section("structure", || {
        structure::check(&structure::Options::default())
    })?;
    report.section("format", || cargo(&["fmt", "--all", "--check"]))?;
    // Guests too, as native libraries: in one go, so that what they depend on is
    // checked once.
    report.section("lints", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    report.section("documentation", || {
        cargo(&[
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ])
    })
}

fn cargo(arguments: &[&str]) -> Result<()> {
    process::run(
        cargo::command()
            .args(arguments)
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

/// How long each section took.
#[derive(Default)]
struct Report {
    sections: Vec<(&'static str, Duration)>,
}

impl Report {
    fn section(&mut self, title: &'static str, check: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("\n==> {title}");
        let start = Instant::now();
        check().with_context(|| title)?;
        let took = start.elapsed();
        eprintln!("<== {title}: {:.1} s", took.as_secs_f64());
        self.sections.push((title, took));
        Ok(())
    }

    fn print(&self) {
        eprintln!("\nAll checks passed");
        for (title, took) in &self.sections {
            eprintln!("{:>8.1} s  {title}", took.as_secs_f64());
        }
    }
}
