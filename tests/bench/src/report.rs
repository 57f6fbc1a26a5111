//! The results and their targets, for people, for programs and for the documentation.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fmt;

/// The target of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// No target: the result explains others.
    None,
}

/// The definitions of all results.
const DEFINITIONS: &str = include_str!("results.txt");

/// A measured value with the id of its definition.
pub(crate) struct Measured {
    id: String,
    value: f64,
}

pub(crate) fn measured(id: impl Into<String>, value: f64) -> Measured {
    let id = id.into();
    Measured { id, value }
}

/// A result.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Stable id, so that runs can be compared.
    id: String,
    what: &'static str,
    target: Target,
    measured: f64,
    unit: &'static str,
}

impl Row {
    /// Returns the result of a measured value.
    ///
    /// # Errors
    /// Fails if the value is not defined or if its target cannot be read.
    pub(crate) fn new(measured: Measured) -> Result<Self> {
        let mut rows = DEFINITIONS
            .lines()
            .map(|line| line.splitn(4, '|').map(str::trim));
        let defined = rows.find_map(|mut cells| {
            (cells.next()? == measured.id).then_some((cells.next()?, cells.next()?, cells.next()?))
        });
        let (unit, target, what) =
            defined.with_context(|| format!("{} is not defined", measured.id))?;
        let target = match target.split_once(' ') {
            Some(("<=", most)) => Target::AtMost(most.parse()?),
            Some((">=", least)) => Target::AtLeast(least.parse()?),
            _ => Target::None,
        };
        Ok(Self {
            id: measured.id,
            what,
            target,
            measured: measured.value,
            unit,
        })
    }

    fn met(&self) -> Option<bool> {
        match self.target {
            Target::AtMost(most) => Some(self.measured <= most),
            Target::AtLeast(least) => Some(self.measured >= least),
            Target::None => None,
        }
    }

    fn target_text(&self) -> String {
        match self.target {
            Target::AtMost(most) => format!("≤ {} {}", round(most), self.unit),
            Target::AtLeast(least) => format!("≥ {} {}", round(least), self.unit),
            Target::None => String::new(),
        }
    }

    fn met_text(&self) -> &'static str {
        match self.met() {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        }
    }

    fn cells(&self) -> [String; 4] {
        [
            self.what.to_owned(),
            self.target_text(),
            format!("{} {}", round(self.measured), self.unit),
            self.met_text().to_owned(),
        ]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, target, measured, met] = self.cells();
        write!(f, "{what}: {measured} {target} {met}")
    }
}

/// Rounds to three significant digits and omits trailing decimals without meaning.
fn round(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        _ => {
            let text = format!("{value:.2}");
            text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
        }
    }
}

/// All results of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

const HEAD: [&str; 4] = ["What", "Target", "Measured", "Met?"];

impl Report {
    pub(crate) fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let (kind, target) = match row.target {
                Target::AtMost(most) => (json!("at_most"), json!(most)),
                Target::AtLeast(least) => (json!("at_least"), json!(least)),
                Target::None => (Value::Null, Value::Null),
            };
            json!({
                "id": row.id,
                "what": row.what,
                "target_kind": kind,
                "target": target,
                "measured": row.measured,
                "unit": row.unit,
                "met": row.met(),
            })
        });
        json!({ "machine": machine(), "measures": rows.collect::<Vec<_>>() })
    }

    /// Returns the documentation page with this run's table.
    pub(crate) fn page(&self) -> String {
        include_str!("page.md")
            .replace("{{machine}}", &machine())
            .replace("{{table}}", self.to_string().trim_end())
    }
}

/// Formats the results as an aligned table, which is valid Markdown.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![HEAD.map(str::to_owned)];
        lines.extend(self.rows.iter().map(Row::cells));
        let mut widths = [0; 4];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for (number, line) in lines.iter().enumerate() {
            let cells = line
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:<width$}"));
            writeln!(f, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
            if number == 0 {
                let rules = widths.map(|width| "-".repeat(width));
                writeln!(f, "| {} |", rules.join(" | "))?;
            }
        }
        Ok(())
    }
}

/// Describes the machine by its processor count and memory only.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<u64>()
            .ok()
    });
    let gib = kib.unwrap_or_default().div_ceil(1 << 20);
    format!("{cores} cores, {gib} GiB")
}
