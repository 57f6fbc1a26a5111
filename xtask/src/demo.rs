//! A demo gateway of our own: free ports, a temporary data folder, stopped when
//! dropped.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::process::Program;
use crate::run::PLUGINS_VARIABLE;
use crate::{plugins, process};

/// The first start compiles every plugin.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A demo that serves.
pub(crate) struct Demo {
    /// Base address of the API, without a slash at its end.
    pub(crate) api: String,
    /// A test key with every scope that the demo gives.
    pub(crate) key: String,
    // Fields are dropped in this order: the data goes when nobody uses it.
    program: Program,
    _data: TempDir,
}

impl Demo {
    /// Starts the binary and waits until it has printed its addresses and a key.
    /// A file is its configuration, and variables set more of it; its log goes to a file.
    pub(crate) fn start(
        gateway: &Path,
        config: &Path,
        variables: &[(&str, &str)],
        log: &PathBuf,
    ) -> Result<Self> {
        let data = tempfile::Builder::new()
            .prefix("stopover-demo-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        let log_file =
            File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
        let mut program = Program::start(
            Command::new(gateway)
                .args(["serve", "--demo", "--data-dir"])
                .arg(data.path())
                .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
                .arg("--config")
                .arg(config)
                .env(PLUGINS_VARIABLE, plugins::folder())
                .envs(variables.iter().copied())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(log_file),
        )?;
        let stdout = program.take_stdout().context("the demo has no output")?;
        let printed = wait_for_greeting(&lines(stdout))
            .with_context(|| format!("the demo does not start; its log is {}", log.display()))?;
        Ok(Self {
            api: printed.0,
            key: printed.1,
            program,
            _data: data,
        })
    }

    /// Whether the gateway still serves.
    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.program.try_wait()?.is_none())
    }
}

/// What a program prints, a line at a time. Reading goes on to the end, so that
/// the program is never blocked.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Nobody listens after the greeting.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Address and key, from the lines `api  http://…` and whatever line shows the key.
fn wait_for_greeting(lines: &Receiver<String>) -> Result<(String, String)> {
    let start = Instant::now();
    let (mut api, mut key) = (None, None);
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                api = api.or_else(|| address(&line));
                key = key.or_else(|| test_key(&line));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("it ended"),
        }
        if let (Some(api), Some(key)) = (&api, &key) {
            return Ok((api.clone(), key.clone()));
        }
        if process::interrupted() {
            bail!("interrupted");
        }
        if start.elapsed() > START_LIMIT {
            bail!("after {START_LIMIT:?} it has printed no address and key");
        }
    }
}

fn address(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let is_api = words.next()?.eq_ignore_ascii_case("api");
    let address = words.find(|word| word.starts_with("http://"))?;
    is_api.then(|| address.trim_end_matches('/').to_owned())
}

fn test_key(line: &str) -> Option<String> {
    let from = line.find("sk_test_")?;
    let key = line.get(from..)?;
    let end = key
        .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .unwrap_or(key.len());
    key.get(..end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_address_is_told_from_the_others() {
        assert_eq!(
            address("api      http://127.0.0.1:4000/").as_deref(),
            Some("http://127.0.0.1:4000")
        );
        assert_eq!(address("sandbox  http://127.0.0.1:4001"), None);
        assert_eq!(address("the api starts"), None);
    }

    #[test]
    fn the_key_is_found_inside_a_command_line() {
        let line = "curl -H 'x-api-key: sk_test_aB3dE' http://127.0.0.1:4000/v1/hotels";
        assert_eq!(test_key(line).as_deref(), Some("sk_test_aB3dE"));
        assert_eq!(test_key("curl http://127.0.0.1:4000"), None);
    }
}
