//! Runs other programs. Every error names the command. No started program outlives this
//! tool, also after ctrl-c.

use std::env;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::files;

/// Interval between two checks of a condition.
const POLL: Duration = Duration::from_millis(20);

/// Process groups that receive the signals of this tool.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Set while programs are stopped because another one failed.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP stop the running programs, after which the tool cleans
/// up. A second signal kills them.
pub(crate) fn forward_signals() -> Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            let signal = if again { Signal::KILL } else { Signal::TERM };
            for group in running().iter() {
                // Fails harmlessly if the group has just ended.
                let _ = kill_process_group(*group, signal);
            }
        }
    });
    Ok(())
}

/// Sends SIGTERM to every running program. None can start until the guard is dropped.
pub(crate) fn stop_all() -> StopGuard {
    let running = running();
    STOPPING.store(true, Ordering::SeqCst);
    for group in running.iter() {
        // Fails harmlessly if the group has just ended.
        let _ = kill_process_group(*group, Signal::TERM);
    }
    StopGuard
}

/// Prevents programs from starting until it is dropped.
#[must_use = "programs can start again as soon as the guard is dropped"]
pub(crate) struct StopGuard;

impl Drop for StopGuard {
    fn drop(&mut self) {
        STOPPING.store(false, Ordering::SeqCst);
    }
}

/// Returns whether this tool has received a signal to stop.
pub(crate) fn was_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Runs a command to its end. It shares the standard streams of this tool.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", describe(command));
    Program::start(command)?.wait_for_success()
}

/// Runs a command to its end and returns its standard output. Standard error is inherited.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    command.stdout(Stdio::piped());
    let mut program = Program::start(command)?;
    let mut text = String::new();
    if let Some(mut stdout) = program.child.stdout.take() {
        stdout
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read the output of `{}`", program.name))?;
    }
    program.wait_for_success()?;
    Ok(text)
}

/// Runs a command without output. Returns whether it started and exited with status 0.
pub(crate) fn exits_successfully(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Program::start(command)
        .and_then(|mut program| program.wait())
        .is_ok_and(|status| status.success())
}

/// Waits at most `limit` until the condition holds. Returns whether it does.
pub(crate) fn wait_until(
    limit: Duration,
    mut condition: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    let start = Instant::now();
    loop {
        if condition()? {
            return Ok(true);
        }
        ensure!(!was_interrupted(), "interrupted");
        if start.elapsed() >= limit {
            return Ok(false);
        }
        thread::sleep(POLL);
    }
}

/// Waits until no other process holds the lock file, and holds it until the returned
/// file is dropped.
pub(crate) fn lock(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        files::create_folder(folder)?;
    }
    let file = files::create(path)?;
    file.lock()
        .with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Returns the first file with this name in the folders of `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A program in its own process group. It is stopped on drop.
pub(crate) struct Program {
    child: Child,
    group: Pid,
    name: String,
    ended: bool,
    /// The signal that stops the program; PostgreSQL needs SIGINT.
    pub(crate) stop_signal: Signal,
}

impl Program {
    /// Starts a command. Fails if programs are being stopped.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = describe(command);
        command.process_group(0);
        // The lock is held while the program starts. A signal therefore either finds the
        // program in the list or prevents its start.
        let mut running = running();
        if was_interrupted() || STOPPING.load(Ordering::SeqCst) {
            bail!("stopped before `{name}`");
        }
        let child = command
            .spawn()
            .with_context(|| format!("cannot start `{name}`"))?;
        let group = Pid::from_child(&child);
        running.push(group);
        Ok(Self {
            child,
            group,
            name,
            ended: false,
            stop_signal: Signal::TERM,
        })
    }

    /// Takes the program's standard output, if the command connected it to a pipe.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait();
        self.forget();
        status.with_context(|| format!("cannot wait for `{}`", self.name))
    }

    /// Waits until the program has ended. Fails unless it succeeded.
    pub(crate) fn wait_for_success(&mut self) -> Result<()> {
        let status = self.wait()?;
        ensure!(status.success(), "`{}` failed: {status}", self.name);
        Ok(())
    }

    pub(crate) fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
        let status = self
            .child
            .try_wait()
            .with_context(|| format!("cannot wait for `{}`", self.name))?;
        if status.is_some() {
            self.forget();
        }
        Ok(status)
    }

    fn forget(&mut self) {
        self.ended = true;
        running().retain(|group| *group != self.group);
    }

    /// Sends the stop signal, and kills the program after ten seconds.
    fn stop(&mut self) {
        let _ = kill_process_group(self.group, self.stop_signal);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(POLL);
        }
        let _ = kill_process_group(self.group, Signal::KILL);
        let _ = self.child.wait();
        self.forget();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.ended {
            self.stop();
        }
    }
}

/// Keeps tests that start programs apart: a failure stops every program of the process.
#[cfg(test)]
pub(crate) fn only_test_that_runs_programs() -> MutexGuard<'static, ()> {
    static PROGRAMS: Mutex<()> = Mutex::new(());
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the command line without the folder of the program.
fn describe(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let mut text = program.file_name().map_or_else(
        || program.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        text.push(' ');
        if argument.contains(' ') || argument.is_empty() {
            text.push_str(&format!("'{argument}'"));
        } else {
            text.push_str(&argument);
        }
    }
    text
}
