//! `cargo xtask lint` and `cargo xtask ci`: what must pass before a change is merged.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cargo::{self, Workspace};
use crate::{process, test};

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
    report.section("locked dependencies", || {
        process::output(cargo::command().args(["metadata", "--locked", "--format-version", "1"]))
            .map(drop)
            .context("Cargo.lock does not match the manifests")
    })?;
    report.section("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    let workspace = Workspace::read()?;
    let guests: Vec<&str> = workspace
        .guests()
        .iter()
        .flat_map(|guest| ["--package", &guest.name])
        .collect();
    report.section("lints", || {
        let options = ["--all-targets", "--", "-D", "warnings"];
        cargo(&["clippy"], &options)?;
        for_guests(&["clippy", "--all-features"], &guests, &options)
    })?;
    report.section("documentation", || {
        let options = ["--no-deps", "--document-private-items"];
        cargo(&["doc"], &options)?;
        for_guests(&["doc", "--all-features"], &guests, &options)
    })
}

/// Guests are no default members; here they are checked as native libraries.
fn for_guests(command: &[&str], guests: &[&str], options: &[&str]) -> Result<()> {
    if guests.is_empty() {
        return Ok(());
    }
    cargo(&[command, guests].concat(), options)
}

fn cargo(command: &[&str], options: &[&str]) -> Result<()> {
    process::run(
        cargo::command()
            .args(command)
            .args(options)
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
