//! Phases of long commands. Each phase prints a line when it begins and when it ends; two
//! phases may run at the same time.
//!
//! Two cargo processes do not block each other if their target folders differ. Only one
//! of them can draw a progress bar, so the output of the other goes to a log file.

use std::fmt;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow};

use crate::process::{self, Program, StopGuard};
use crate::{cargo, files};

/// Removes cargo's progress bar from the current line of a terminal.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Runs one phase. `expected` is its approximate duration, for the user.
pub(crate) fn run<T>(title: &str, expected: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    report(format_args!("==> {title} ({expected})"));
    let start = Instant::now();
    let outcome = work().with_context(|| title.to_owned())?;
    report(format_args!("<== {title}: {}", Elapsed(start.elapsed())));
    Ok(outcome)
}

/// A command that runs while another phase is shown.
pub(crate) struct Background {
    pub(crate) title: &'static str,
    pub(crate) expected: &'static str,
    pub(crate) command: Command,
}

/// Runs `background` and `shown` at the same time. If one fails, the other is stopped.
///
/// The output of `background` goes to a file under `target/logs`, which is printed when
/// it fails.
pub(crate) fn run_beside<T>(
    mut background: Background,
    shown: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let log = log_file(background.title)?;
    let file = files::create(&log)?;
    background
        .command
        .stdin(Stdio::null())
        .stdout(file.try_clone().context("cannot share the log")?)
        .stderr(file);
    report(format_args!(
        "==> {} ({}), in the background; log: {}",
        background.title,
        background.expected,
        log.strip_prefix(cargo::root()).unwrap_or(&log).display()
    ));

    let start = Instant::now();
    let mut program = Program::start(&mut background.command)?;
    let first_failure = FirstFailure::default();
    let value = thread::scope(|scope| {
        scope.spawn(|| {
            let elapsed = || Elapsed(start.elapsed());
            match program.wait_for_success() {
                Ok(()) => report(format_args!("<== {}: {}", background.title, elapsed())),
                Err(error) => {
                    if first_failure.record(error.context(background.title)) {
                        print_log(background.title, &log);
                    }
                }
            }
        });
        let outcome = shown();
        outcome.map_err(|error| first_failure.record(error)).ok()
    });
    match (value, first_failure.into_error()) {
        (Some(value), None) => Ok(value),
        (_, Some(error)) => Err(error),
        (None, None) => Err(anyhow!("a phase failed without an error")),
    }
}

/// The error of the phase that failed first.
#[derive(Default)]
struct FirstFailure(Mutex<Option<(Error, StopGuard)>>);

impl FirstFailure {
    /// Keeps the first error and stops the other phase. Returns whether this is the first.
    fn record(&self, error: Error) -> bool {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_some() {
            return false;
        }
        *first = Some((error, process::stop_all()));
        true
    }

    fn into_error(self) -> Option<Error> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map(|(error, _)| error)
    }
}

fn log_file(title: &str) -> Result<PathBuf> {
    let folder = cargo::target("logs");
    files::create_folder(&folder)?;
    Ok(folder.join(format!("{title}.log")))
}

/// Prints the log of a failed phase, unless the user stopped the command.
fn print_log(title: &str, log: &PathBuf) {
    if process::was_interrupted() {
        return;
    }
    let text = fs::read_to_string(log).unwrap_or_else(|error| format!("cannot be read: {error}"));
    report(format_args!("<== {title} failed; {}:", log.display()));
    report(format_args!("{}", text.trim_end()));
}

fn report(line: fmt::Arguments<'_>) {
    let clear = if io::stderr().is_terminal() {
        CLEAR_LINE
    } else {
        ""
    };
    eprintln!("{clear}{line}");
}

/// Displays a duration as `12.3 s` or `2 min 05 s`.
pub(crate) struct Elapsed(pub(crate) Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        if seconds < 60 {
            write!(formatter, "{:.1} s", self.0.as_secs_f64())
        } else {
            write!(formatter, "{} min {:02} s", seconds / 60, seconds % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_script_beside<T>(script: &str, shown: impl FnOnce() -> Result<T>) -> Result<T> {
        let _guard = process::only_test_that_runs_programs();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let background = Background {
            title: "phase-test",
            expected: "no time",
            command,
        };
        run_beside(background, shown)
    }

    #[test]
    fn durations_are_printed_in_minutes_from_one_minute_on() {
        let printed = |milliseconds| Elapsed(Duration::from_millis(milliseconds)).to_string();
        assert_eq!(printed(59_940), "59.9 s");
        assert_eq!(printed(125_000), "2 min 05 s");
    }

    #[test]
    fn value_of_shown_phase_is_returned_when_both_succeed() {
        assert_eq!(run_script_beside("exit 0", || Ok(7)).unwrap(), 7);
    }

    #[test]
    fn failure_of_shown_phase_stops_the_background_command() {
        let start = Instant::now();
        let outcome: Result<()> = run_script_beside("exec sleep 60", || Err(anyhow!("shown")));
        assert_eq!(outcome.unwrap_err().to_string(), "shown");
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn failure_of_background_command_stops_the_shown_phase_and_is_returned() {
        let start = Instant::now();
        let outcome = run_script_beside("exit 3", || process::run(Command::new("sleep").arg("60")));
        let error = format!("{:#}", outcome.unwrap_err());
        assert!(
            error.contains("phase-test") && error.contains("exit status: 3"),
            "{error}"
        );
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
