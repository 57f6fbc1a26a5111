//! Starts the program as a child process in its own folder.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
#[cfg(feature = "demo")]
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
};

/// Returns a command of the program with arguments, separated by spaces, and an empty environment.
pub(crate) fn stopover(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopover"));
    command.args(line.split_whitespace());
    command.current_dir(folder).env_clear();
    command
}

pub(crate) fn run(folder: &Path, line: &str) -> Output {
    stopover(folder, line).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a command that must succeed and returns its output.
pub(crate) fn printed(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    stdout(&output)
}

/// Runs a command that must fail with the exit code 1 and returns its error output.
pub(crate) fn failed(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(1), "{line}");
    stderr(&output)
}

/// Runs a command that must succeed and returns its output as JSON.
pub(crate) fn printed_json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&printed(folder, line)).unwrap()
}

/// Options that let all listeners use free ports.
#[cfg(all(feature = "demo", feature = "dashboard"))]
pub(crate) const FREE_PORTS: &str =
    "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --dashboard-listen 127.0.0.1:0";
#[cfg(all(feature = "demo", not(feature = "dashboard")))]
pub(crate) const FREE_PORTS: &str = "--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0";

#[cfg(feature = "demo")]
pub(crate) fn send_signal(process: &Child, name: &str) {
    let mut command = Command::new("kill");
    let sent = command.args([name, &process.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// A running demo whose plugins are broken files. These tests do not need plugins, and a broken
/// plugin must not keep the demo from starting.
#[cfg(feature = "demo")]
pub(crate) struct Demo {
    pub(crate) process: Child,
    pub(crate) greeting: Vec<String>,
}

#[cfg(feature = "demo")]
impl Demo {
    pub(crate) fn start(folder: &Path) -> Self {
        let plugins = folder.join("plugins");
        fs::create_dir_all(&plugins).unwrap();
        for name in [
            "fake-hotels",
            "fake-hotels-mini",
            "fake-payments",
            "fake-flights-skylane",
            "fake-flights-jetbridge",
        ] {
            fs::write(plugins.join(name).with_extension("wasm"), "not a component").unwrap();
        }
        let line = format!("serve --demo --data-dir data --plugins-dir plugins {FREE_PORTS}");
        let mut process = stopover(folder, &line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut greeting: Vec<String> = Vec::new();
        while greeting.last().is_none_or(|line| line != "ready") {
            match lines.next() {
                Some(line) => greeting.push(line.unwrap()),
                None => panic!("it ended: {}", stderr(&process.wait_with_output().unwrap())),
            }
        }
        Self { process, greeting }
    }

    /// Returns the word after a name at the beginning of a line.
    pub(crate) fn printed(&self, name: &str) -> Option<String> {
        let mut lines = self.greeting.iter().map(|line| line.split_whitespace());
        let mut words =
            lines.find_map(|mut words| (words.next() == Some(name)).then_some(words))?;
        words.next().map(str::to_owned)
    }

    pub(crate) fn stop(mut self) -> String {
        send_signal(&self.process, "-TERM");
        let status = self.process.wait().unwrap();
        let mut stderr = self.process.stderr.take().unwrap();
        let mut log = String::new();
        stderr.read_to_string(&mut log).unwrap();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }
}

#[cfg(feature = "demo")]
#[expect(
    clippy::disallowed_methods,
    reason = "a test speaks to the program from outside"
)]
pub(crate) fn client() -> reqwest::Client {
    reqwest::Client::new()
}
