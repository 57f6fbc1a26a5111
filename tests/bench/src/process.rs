//! What a process uses, as the kernel counts it.

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A tick of the times in `/proc`, the same on every Linux that has programs.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of a process so far, in steps of [`TICK`].
pub(crate) fn cpu_of(process: u32) -> Result<Duration> {
    let text = read(process, "stat")?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = text
        .rsplit_once(')')
        .context("/proc/…/stat names the program")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u32>)
        .sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

/// Processor time of this process so far, of all its threads.
pub(crate) fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Memory of a process that is in RAM, in MB, files that it maps included.
pub(crate) fn resident_mb(process: u32) -> Result<f64> {
    let text = read(process, "status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .context("/proc/…/status tells VmRSS")?
        .trim()
        .parse()?;
    Ok(kib * 1_024.0 / 1e6)
}

fn read(process: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{process}/{file}");
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}
