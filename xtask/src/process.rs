//! Runs other programs. Every failure names the command, and nothing that was
//! started here outlives the tool, on ctrl-c neither.

use std::env;
use std::fs::{self, File};
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

/// How often a condition is looked at again.
const POLL: Duration = Duration::from_millis(20);

/// Process groups to stop when the tool is asked to stop.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Set while programs are stopped because another one failed.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// From now on SIGINT, SIGTERM and SIGHUP stop the programs started here, and
/// the tool goes on to its clean-up. A second signal kills them.
pub(crate) fn forward_signals() -> Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            let signal = if again { Signal::KILL } else { Signal::TERM };
            for group in running().iter() {
                // A group that has just ended is not an error.
                let _ = kill_process_group(*group, signal);
            }
        }
    });
    Ok(())
}

/// Asks every running program to end, and lets none start until the guard is dropped.
pub(crate) fn stop_all() -> StopGuard {
    let running = running();
    STOPPING.store(true, Ordering::SeqCst);
    for group in running.iter() {
        // A group that has just ended is not an error.
        let _ = kill_process_group(*group, Signal::TERM);
    }
    StopGuard
}

/// Keeps programs from starting as long as it lives.
#[must_use = "dropped at once, it keeps no program from starting"]
pub(crate) struct StopGuard;

impl Drop for StopGuard {
    fn drop(&mut self) {
        STOPPING.store(false, Ordering::SeqCst);
    }
}

/// Whether the tool was asked to stop.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Runs a command to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", describe(command));
    let mut program = Program::start(command)?;
    let status = program.wait()?;
    ensure!(status.success(), "`{}` failed: {status}", program.name);
    Ok(())
}

/// Runs a command to its end and gives its standard output. Standard error is
/// shown.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    command.stdout(Stdio::piped());
    let mut program = Program::start(command)?;
    let mut text = String::new();
    if let Some(mut stdout) = program.child.stdout.take() {
        stdout
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read what `{}` prints", program.name))?;
    }
    let status = program.wait()?;
    ensure!(status.success(), "`{}` failed: {status}", program.name);
    Ok(text)
}

/// Runs a command silently and says whether it could be run and succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Program::start(command)
        .and_then(|mut program| program.wait())
        .is_ok_and(|status| status.success())
}

/// Waits until the condition holds, at most `limit`; says whether it does.
pub(crate) fn wait_until(
    limit: Duration,
    mut condition: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    let start = Instant::now();
    loop {
        if condition()? {
            return Ok(true);
        }
        if interrupted() {
            bail!("interrupted");
        }
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
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    file.lock()
        .with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// The file that a command name stands for in `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Whether this tool may do what only the superuser may.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A program that runs in its own process group until it ends or is dropped.
pub(crate) struct Program {
    child: Child,
    group: Pid,
    name: String,
    ended: bool,
    /// Asks the program to end; a database, for example, wants SIGINT.
    pub(crate) stop_signal: Signal,
}

impl Program {
    /// Starts a command; fails when the tool was asked to stop meanwhile.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let name = describe(command);
        command.process_group(0);
        // The lock is held while the program starts, so that a signal either
        // finds it in the list or keeps it from starting.
        let mut running = running();
        if interrupted() || STOPPING.load(Ordering::SeqCst) {
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

    /// The command as one would type it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The program's standard output, when the command asked for a pipe.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait();
        self.forget();
        status.with_context(|| format!("cannot wait for `{}`", self.name))
    }

    /// The exit status if the program has ended.
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

    /// Asks the program to end, and ends it after ten seconds.
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

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command as one would type it, without folders before the program.
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
