//! A demo gateway for tests: on free ports, with a temporary data folder, stopped on drop.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::process::Program;
use crate::run::PLUGINS_VARIABLE;
use crate::{files, plugins, process};

/// Time for a start. The first one compiles every plugin.
const START_LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Demo {
    /// Base URL of the API, without a trailing slash.
    pub(crate) api: String,
    /// The demo's test key, which has every scope.
    pub(crate) key: String,
    // Fields are dropped in this order: the program stops before its data is removed.
    program: Program,
    _data: TempDir,
}

impl Demo {
    /// Starts the gateway and waits until it has printed its addresses and a key.
    ///
    /// The configuration is the file `config`, overridden by `variables`. Standard error
    /// goes to the file `log`.
    pub(crate) fn start(
        gateway: &Path,
        config: &Path,
        variables: &[(&str, &str)],
        log: &Path,
    ) -> Result<Self> {
        let data = tempfile::Builder::new()
            .prefix("stopover-demo-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        let log_file = files::create(log)?;
        let mut program = Program::start(
            Command::new(gateway)
                .args(["serve", "--demo", "--data-dir"])
                .arg(data.path())
                .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
                .args(["--dashboard-listen", "127.0.0.1:0"])
                .arg("--config")
                .arg(config)
                .env(PLUGINS_VARIABLE, plugins::folder())
                .envs(variables.iter().copied())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(log_file),
        )?;
        let stdout = program.take_stdout().context("the demo has no output")?;
        let printed = wait_until_ready(&lines(stdout))
            .with_context(|| format!("the demo does not start; see {}", log.display()))?;
        Ok(Self {
            api: printed.0,
            key: printed.1,
            program,
            _data: data,
        })
    }

    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.program.try_wait()?.is_none())
    }
}

/// Sends each line of a program's output. Reads to the end even if there is no receiver,
/// so that a full pipe never blocks the program.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // The receiver is dropped once the demo is ready.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Waits for the API's address and the key. The address stands in a line
/// `api  http://…`, the key in any line.
fn wait_until_ready(lines: &Receiver<String>) -> Result<(String, String)> {
    let start = Instant::now();
    let (mut api, mut key) = (None, None);
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => {
                api = api.or_else(|| address(&line));
                key = key.or_else(|| test_key(&line));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("the gateway exited"),
        }
        if let (Some(api), Some(key)) = (&api, &key) {
            return Ok((api.clone(), key.clone()));
        }
        ensure!(!process::was_interrupted(), "interrupted");
        if start.elapsed() > START_LIMIT {
            bail!("no address and key were printed within {START_LIMIT:?}");
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
    fn address_is_read_from_the_api_line_only() {
        assert_eq!(
            address("api      http://127.0.0.1:4000/").as_deref(),
            Some("http://127.0.0.1:4000")
        );
        assert_eq!(address("sandbox  http://127.0.0.1:4001"), None);
        assert_eq!(address("the api starts"), None);
    }

    #[test]
    fn key_is_found_inside_a_command_line() {
        let line = "curl -H 'x-api-key: sk_test_aB3dE' http://127.0.0.1:4000/v1/hotels";
        assert_eq!(test_key(line).as_deref(), Some("sk_test_aB3dE"));
        assert_eq!(test_key("curl http://127.0.0.1:4000"), None);
    }
}
