//! Resource use of a process as the kernel reports it.

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Unit of the times in `/proc`. It is the same on every Linux system that runs programs.
const TICK: Duration = Duration::from_millis(10);

/// Returns the processor time of a process so far, in steps of [`TICK`].
pub(crate) fn cpu_of(process: u32) -> Result<Duration> {
    let text = read(process, "stat")?;
    // The program's name in brackets may contain any character.
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

/// Returns the processor time of all threads of this process so far.
pub(crate) fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Returns the resident memory of a process in MB, including mapped files.
pub(crate) fn resident_mb(process: u32) -> Result<f64> {
    Ok(status_kib(process, "VmRSS:")? * 1_024.0 / 1e6)
}

/// Returns the largest resident memory of a process in MiB since [`reset_peak_resident`].
pub(crate) fn peak_resident_mib(process: u32) -> Result<f64> {
    Ok(status_kib(process, "VmHWM:")? / 1_024.0)
}

/// Sets the largest resident memory of a process to the current one.
pub(crate) fn reset_peak_resident(process: u32) -> Result<()> {
    let path = format!("/proc/{process}/clear_refs");
    std::fs::write(&path, "5").with_context(|| format!("cannot write {path}"))
}

/// Returns an amount of memory in KiB.
fn status_kib(process: u32, name: &str) -> Result<f64> {
    let text = read(process, "status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib = kib.with_context(|| format!("/proc/…/status has no {name}"))?;
    Ok(kib.trim().parse()?)
}

fn read(process: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{process}/{file}");
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}
