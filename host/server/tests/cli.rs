//! The program as an operator runs it: commands, exit codes, what is printed.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

fn stopover(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stopover"));
    command.args(arguments).current_dir(folder).env_clear();
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    stopover(folder, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a command prints that succeeds.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    stdout(&output)
}

/// A running demo whose plugins are broken files: what is tested here does not
/// need them, and they must not keep it from starting.
struct Demo {
    process: Child,
    greeting: Vec<String>,
}

impl Demo {
    fn start(folder: &Path) -> Self {
        let plugins = folder.join("plugins");
        fs::create_dir_all(&plugins).unwrap();
        for name in ["fake-hotels", "fake-hotels-mini", "fake-payments"] {
            fs::write(plugins.join(name).with_extension("wasm"), "not a component").unwrap();
        }
        let arguments = [
            "serve",
            "--demo",
            "--data-dir",
            "data",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--plugins-dir",
            "plugins",
        ];
        let mut process = stopover(folder, &arguments)
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

    /// The word after a name at the beginning of a line.
    fn told(&self, name: &str) -> Option<String> {
        let line = self
            .greeting
            .iter()
            .find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([name, &self.process.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    fn stop(mut self) -> String {
        self.signal("-TERM");
        let status = self.process.wait().unwrap();
        let mut log = String::new();
        self.process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }
}

#[tokio::test]
async fn a_demo_greets_serves_and_stops_cleanly() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let [api, admin, sandbox, key] =
        ["api", "admin", "sandbox", "key"].map(|name| demo.told(name).unwrap());
    assert!(
        demo.greeting
            .iter()
            .any(|line| line.contains("curl") && line.contains(&key) && line.contains(&api))
    );
    let client = client();
    let suppliers = client
        .get(format!("{api}/v1/suppliers"))
        .header("x-api-key", &key)
        .send()
        .await
        .unwrap();
    let suppliers: serde_json::Value = suppliers.json().await.unwrap();
    let known: Vec<(&str, &str)> = suppliers["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].as_str().unwrap(), one["health"].as_str().unwrap()))
        .collect();
    assert_eq!(
        known,
        [
            ("SANDBOX_HOTELS", "down"),
            ("SANDBOX_MINI", "down"),
            ("SANDBOX_PAYMENTS", "down")
        ]
    );
    let metrics = client
        .get(format!("{admin}/metrics"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(metrics.contains("stopover_http_requests_total"));
    assert_eq!(
        client
            .get(format!("{api}/metrics"))
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
    let ledger = client
        .get(format!("{sandbox}/control/ledger"))
        .send()
        .await
        .unwrap();
    assert_eq!(ledger.text().await.unwrap(), "[]");
    let broken = client
        .post(format!("{admin}/plugins/SANDBOX_HOTELS/reload"))
        .send()
        .await
        .unwrap();
    assert_eq!(broken.status(), 502);
    demo.signal("-HUP");
    let log = demo.stop();
    assert!(log.contains("a plugin cannot be loaded"), "{log}");
    assert!(
        log.contains("route=\"/v1/suppliers\"") && !log.contains(&key),
        "{log}"
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test speaks to the program from outside"
)]
fn client() -> reqwest::Client {
    reqwest::Client::new()
}

#[tokio::test]
async fn keys_are_managed_while_the_demo_runs_and_survive_it() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let api = demo.told("api").unwrap();
    let key = printed(
        folder.path(),
        &[
            "keys",
            "create",
            "--organization",
            "acme",
            "--mode",
            "test",
            "--scopes",
            "read",
            "--name",
            "Ada",
            "--data-dir",
            "data",
        ],
    );
    let key = key.trim_end();
    assert!(
        key.starts_with("sk_test_") && key.len() == 46 && !key.contains(char::is_whitespace),
        "{key}"
    );
    let client = client();
    let status = async || {
        client
            .get(format!("{api}/v1/suppliers"))
            .header("x-api-key", key)
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    assert_eq!(status().await, 200);

    let listed: serde_json::Value = serde_json::from_str(&printed(
        folder.path(),
        &["keys", "list", "--json", "--data-dir", "data"],
    ))
    .unwrap();
    let mine = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["organization"] == "acme")
        .unwrap();
    assert_eq!(
        (
            &mine["name"],
            &mine["mode"],
            &mine["scopes"],
            &mine["revoked_at"]
        ),
        (
            &"Ada".into(),
            &"test".into(),
            &serde_json::json!(["read"]),
            &serde_json::Value::Null
        )
    );
    let members: Vec<&String> = mine.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "created_at",
            "expires_at",
            "id",
            "last_used_at",
            "mode",
            "name",
            "organization",
            "revoked_at",
            "scopes"
        ]
    );
    assert!(!printed(folder.path(), &["keys", "list", "--data-dir", "data"]).contains(key));

    printed(
        folder.path(),
        &[
            "keys",
            "revoke",
            mine["id"].as_str().unwrap(),
            "--data-dir",
            "data",
        ],
    );
    let until_refused = async {
        let mut ticks = tokio::time::interval(std::time::Duration::from_millis(100));
        while status().await != 401 {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), until_refused)
        .await
        .unwrap();

    let first = demo.told("key").unwrap();
    demo.stop();
    let mode = fs::metadata(folder.path().join("data/master.key"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = Demo::start(folder.path());
    assert_eq!(again.told("key"), None);
    let reply = client
        .get(format!("{}/v1/suppliers", again.told("api").unwrap()))
        .header("x-api-key", first)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 200);
    again.stop();
}

#[test]
fn keys_take_scopes_and_an_end() {
    let folder = TempDir::new().unwrap();
    let create = |more: &[&str]| {
        let mut arguments = vec![
            "keys",
            "create",
            "--organization",
            "acme",
            "--mode",
            "live",
            "--database",
            "sqlite:keys.sqlite3",
        ];
        arguments.extend(more);
        run(folder.path(), &arguments)
    };
    assert!(stdout(&create(&["--expires", "2027-01-31"])).starts_with("sk_live_"));
    assert!(
        stdout(&create(&[
            "--expires",
            "2020-01-01T12:00:00Z",
            "--scopes",
            "webhooks,read,read"
        ]))
        .starts_with("sk_live_")
    );
    let listed = printed(
        folder.path(),
        &[
            "keys",
            "list",
            "--json",
            "--database",
            "sqlite:keys.sqlite3",
        ],
    );
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let seen: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["expires_at"].as_str().unwrap(),
                one["scopes"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("2027-02-01T00:00:00.000Z", 3),
            ("2020-01-01T12:00:00.000Z", 2)
        ]
    );
    for wrong in [
        ["--expires", "tomorrow"],
        ["--scopes", "all"],
        ["--name", "a\nb"],
    ] {
        assert_eq!(create(&wrong).status.code(), Some(2), "{wrong:?}");
    }
    let unknown = run(
        folder.path(),
        &[
            "keys",
            "revoke",
            "key_1",
            "--database",
            "sqlite:keys.sqlite3",
        ],
    );
    assert_eq!(
        (unknown.status.code(), stderr(&unknown).trim_end()),
        (Some(1), "error: there is no key key_1")
    );
}

#[test]
fn every_command_explains_itself() {
    let folder = TempDir::new().unwrap();
    for command in [
        "",
        "serve",
        "sandbox",
        "migrate",
        "keys",
        "keys create",
        "keys list",
        "keys revoke",
        "plugin",
        "plugin list",
        "plugin inspect",
        "config",
        "config check",
        "config show",
    ] {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        assert!(
            printed(folder.path(), &arguments).contains("Usage: stopover"),
            "{command}"
        );
    }
    assert!(printed(folder.path(), &["--version"]).starts_with("stopover "));
}

#[test]
fn wrong_usage_is_two_and_failure_is_one() {
    let folder = TempDir::new().unwrap();
    for wrong in [
        vec![],
        vec!["nonsense"],
        vec!["serve", "--listen", "here"],
        vec!["keys"],
        vec!["keys", "create"],
        vec!["serve", "--sandbox", "http://x"],
    ] {
        assert_eq!(
            run(folder.path(), &wrong).status.code(),
            Some(2),
            "{wrong:?}"
        );
    }
    for (failing, reason) in [
        (vec!["serve"], "no master key is configured"),
        (
            vec!["serve", "--config", "missing.toml"],
            "missing.toml cannot be read",
        ),
        (
            vec!["migrate", "--database", "mysql://x"],
            "sqlite:PATH or postgres://",
        ),
        (vec!["plugin", "inspect", "missing.wasm"], "missing.wasm"),
    ] {
        let output = run(folder.path(), &failing);
        assert_eq!(output.status.code(), Some(1), "{failing:?}");
        assert!(
            stderr(&output).starts_with("error: ") && stderr(&output).contains(reason),
            "{failing:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{failing:?}");
    }
}

#[test]
fn a_demo_without_its_plugins_says_where_they_should_be() {
    let folder = TempDir::new().unwrap();
    let output = run(
        folder.path(),
        &[
            "serve",
            "--demo",
            "--plugins-dir",
            "nowhere",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("nowhere/fake-hotels.wasm"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn another_master_key_is_noticed_at_the_start() {
    let folder = TempDir::new().unwrap();
    let serve = |key: &str| {
        let arguments = [
            "serve",
            "--data-dir",
            "data",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
        ];
        stopover(folder.path(), &arguments)
            .env("STOPOVER_MASTER_KEY", key)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut first = serve("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    let ready = BufReader::new(first.stdout.take().unwrap())
        .lines()
        .any(|line| line.unwrap() == "ready");
    assert!(ready);
    assert!(
        Command::new("kill")
            .arg(first.id().to_string())
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(first.wait().unwrap().code(), Some(0));
    let second = serve("MTEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
        .wait_with_output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(
        stderr(&second).contains("the master key is not the one"),
        "{}",
        stderr(&second)
    );
}

#[test]
fn the_configuration_is_checked_and_shown_without_secrets() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("good.toml"),
        "master_key = \"${KEY}\"\n[limits]\nburst = 7\n",
    )
    .unwrap();
    let with_key = |arguments: &[&str]| {
        stopover(folder.path(), arguments)
            .env("KEY", "s3cr3t")
            .output()
            .unwrap()
    };
    let shown = stdout(&with_key(&["config", "show", "--config", "good.toml"]));
    assert!(
        shown.contains("burst = 7")
            && shown.contains("master_key = \"***\"")
            && !shown.contains("s3cr3t"),
        "{shown}"
    );
    let json: serde_json::Value = serde_json::from_str(&stdout(&with_key(&[
        "config",
        "show",
        "--json",
        "--config",
        "good.toml",
    ])))
    .unwrap();
    assert_eq!(json["limits"]["burst"], 7);
    assert_eq!(
        with_key(&["config", "check", "--config", "good.toml"])
            .status
            .code(),
        Some(0)
    );
    assert_eq!(
        run(folder.path(), &["config", "check", "--config", "good.toml"])
            .status
            .code(),
        Some(1)
    );
    fs::write(folder.path().join("bad.toml"), "[limits]\nbrust = 7\n").unwrap();
    let refused = run(folder.path(), &["config", "check", "--config", "bad.toml"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("brust"), "{}", stderr(&refused));
    let defaults = printed(folder.path(), &["config", "show", "--defaults"]);
    fs::write(folder.path().join("defaults.toml"), defaults).unwrap();
    assert_eq!(
        printed(
            folder.path(),
            &["config", "check", "--config", "defaults.toml"]
        ),
        "the configuration is valid\n"
    );
}
