//! The configurations in `examples/`, as the READMEs use them.

use crate::server::{binary, target_dir};
use crate::upstream::MockServer;
use std::path::{Path, PathBuf};
use std::process::Command;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
}

/// Returns an example configuration in which mock servers replace the vendor's hosts. A caller may
/// append to the text, because the example's tables come last.
///
/// # Panics
/// Panics if the example does not name one of the hosts.
pub fn example_at(name: &str, hosts: &[(&str, &MockServer)]) -> String {
    let mut text = std::fs::read_to_string(path(name)).unwrap();
    for (host, here) in hosts {
        let origin = format!("https://{host}");
        assert!(text.contains(&origin), "{name} does not name {host}");
        text = text.replace(&origin, &here.url).replace(host, here.host());
    }
    text
}

/// Runs `config check` on an example. A variable without a value is removed from the environment.
/// Returns whether the example is valid, and the output.
pub fn check_example(name: &str, variables: &[(&str, Option<&str>)]) -> (bool, String) {
    let mut command = Command::new(binary());
    command
        .args(["config", "check", "--config"])
        .arg(path(name))
        .env("STOPOVER_PLUGINS_DIR", target_dir().join("plugins"));
    for (variable, value) in variables {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    let checked = command.output().unwrap();
    let said = String::from_utf8(checked.stderr).unwrap();
    (checked.status.success(), said)
}
