use crate::support::{printed, printed_json, run, stderr, stdout, stopover};
use std::fs;
use tempfile::TempDir;

#[test]
fn every_command_prints_its_help() {
    let folder = TempDir::new().unwrap();
    for command in [
        "",
        "serve",
        #[cfg(feature = "demo")]
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
        let help = printed(folder.path(), &format!("{command} --help"));
        assert!(help.contains("Usage: stopover"), "{command}");
    }
    assert!(printed(folder.path(), "--version").starts_with("stopover "));
}

#[test]
fn invalid_usage_exits_with_2_and_failure_with_1() {
    let folder = TempDir::new().unwrap();
    for wrong in [
        "",
        "nonsense",
        "serve --listen here",
        "keys",
        "keys create",
        #[cfg(feature = "demo")]
        "serve --sandbox http://x",
    ] {
        assert_eq!(run(folder.path(), wrong).status.code(), Some(2), "{wrong}");
    }
    for (failing, reason) in [
        ("serve", "no master key is configured"),
        ("serve --config missing.toml", "missing.toml cannot be read"),
        ("migrate --database mysql://x", "sqlite:PATH or postgres://"),
        ("plugin inspect missing.wasm", "missing.wasm"),
    ] {
        let output = run(folder.path(), failing);
        assert_eq!(output.status.code(), Some(1), "{failing}");
        let error = stderr(&output);
        assert!(
            error.starts_with("error: ") && error.contains(reason),
            "{failing}: {error}"
        );
        assert_eq!(stdout(&output), "", "{failing}");
    }
}

#[test]
fn migrate_creates_the_schema_without_serving() {
    let folder = TempDir::new().unwrap();
    for _ in 0..2 {
        let said = printed(folder.path(), "migrate --data-dir data");
        assert_eq!(said, "the database's schema is up to date\n");
    }
    assert!(folder.path().join("data/stopover.sqlite3").is_file());
}

#[test]
fn config_is_validated_and_shown_without_secrets() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("good.toml"),
        "master_key = \"${KEY}\"\n[limits]\nburst = 7\n",
    )
    .unwrap();
    let with_key = |line: &str| {
        stopover(folder.path(), line)
            .env("KEY", "s3cr3t")
            .output()
            .unwrap()
    };
    let shown = stdout(&with_key("config show --config good.toml"));
    assert!(
        shown.contains("burst = 7")
            && shown.contains("master_key = \"***\"")
            && !shown.contains("s3cr3t"),
        "{shown}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&with_key("config show --json --config good.toml"))).unwrap();
    assert_eq!(json["limits"]["burst"], 7);
    assert_eq!(
        with_key("config check --config good.toml").status.code(),
        Some(0)
    );
    assert_eq!(
        run(folder.path(), "config check --config good.toml")
            .status
            .code(),
        Some(1)
    );
    fs::write(folder.path().join("bad.toml"), "[limits]\nbrust = 7\n").unwrap();
    let refused = run(folder.path(), "config check --config bad.toml");
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("brust"), "{}", stderr(&refused));
}

#[test]
fn printed_defaults_are_a_valid_configuration() {
    let folder = TempDir::new().unwrap();
    let defaults = printed(folder.path(), "config show --defaults");
    fs::write(folder.path().join("defaults.toml"), defaults).unwrap();
    let said = printed(folder.path(), "config check --config defaults.toml");
    assert_eq!(said, "the configuration is valid\n");
    let effective = printed_json(folder.path(), "config show --json");
    assert_eq!(
        effective,
        printed_json(folder.path(), "config show --json --config defaults.toml")
    );
}

#[test]
fn missing_plugin_is_reported_before_serving() {
    let folder = TempDir::new().unwrap();
    let supplier =
        "[[suppliers]]\nid = \"S\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"s.wasm\"\n";
    fs::write(
        folder.path().join("c.toml"),
        format!("plugins_dir = \"plugins\"\n{supplier}"),
    )
    .unwrap();
    let checked = run(folder.path(), "config check --config c.toml");
    assert_eq!(checked.status.code(), Some(1));
    assert!(
        stderr(&checked).contains("S (plugins/s.wasm)"),
        "{}",
        stderr(&checked)
    );
    let listed = run(folder.path(), "plugin list --json --config c.toml");
    assert_eq!(listed.status.code(), Some(1));
    let listed: serde_json::Value = serde_json::from_str(&stdout(&listed)).unwrap();
    assert!(
        listed[0]["id"] == "S" && listed[0]["error"].is_string(),
        "{listed}"
    );
}
