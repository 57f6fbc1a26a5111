use crate::support::{failed, printed, printed_json, run, stderr, stdout, stopover};
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
        #[cfg(feature = "dashboard")]
        "accounts",
        #[cfg(feature = "dashboard")]
        "accounts create",
        #[cfg(feature = "dashboard")]
        "accounts list",
        #[cfg(feature = "dashboard")]
        "accounts disable",
        #[cfg(feature = "dashboard")]
        "accounts reset",
        "deliveries",
        "deliveries list",
        "deliveries replay",
        "deliveries replay-all",
        "suppliers",
        "suppliers list",
        "suppliers show",
        "suppliers drain",
        "suppliers undrain",
        "suppliers reload",
        "suppliers rank",
        "unresolved",
        "unresolved list",
        "unresolved show",
        "unresolved settle",
        "unresolved settle done",
        "unresolved settle not-done",
        "unresolved settle refund",
        "unresolved withdraw",
        "parked-jobs",
        "parked-jobs list",
        "parked-jobs retry",
        "webhooks",
        "webhooks list",
        "webhooks show",
        "webhooks test",
        "webhooks pause",
        "webhooks resume",
        "webhooks rotate-secret",
        "webhooks recover",
        "webhooks delete",
        "watches",
        "watches show",
        "watches cancel",
        "mandates",
        "mandates show",
        "mandates revoke",
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
        "unresolved settle not-done bkg_1",
        "unresolved settle done bkg_1 --note=",
        "unresolved settle refund bkg_1 --note x --amount ten --currency EUR",
        "unresolved settle refund bkg_1 --note x --amount 10",
        "parked-jobs retry",
        "parked-jobs retry bkg_1 --all",
        "webhooks recover whs_1",
        "webhooks recover whs_1 --since yesterday",
        "webhooks delete dlv_1",
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
    let good = "master_key = \"${KEY}\"\n[limits]\nburst = 7\n";
    fs::write(folder.path().join("good.toml"), good).unwrap();
    let with_key = |line: &str| {
        let mut command = stopover(folder.path(), line);
        let output = command.env("KEY", "s3cr3t").output().unwrap();
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        stdout(&output)
    };
    let shown = with_key("config show --config good.toml");
    let is_shown = |text| shown.contains(text);
    assert!(is_shown("burst = 7") && is_shown("master_key = \"***\""));
    assert!(!is_shown("s3cr3t"), "{shown}");
    let json = with_key("config show --json --config good.toml");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["limits"]["burst"], 7);
    with_key("config check --config good.toml");
    failed(folder.path(), "config check --config good.toml");
    fs::write(folder.path().join("bad.toml"), "[limits]\nbrust = 7\n").unwrap();
    let refused = failed(folder.path(), "config check --config bad.toml");
    assert!(refused.contains("brust"), "{refused}");
}

#[test]
fn printed_defaults_are_a_valid_configuration() {
    let folder = TempDir::new().unwrap();
    let defaults = printed(folder.path(), "config show --defaults");
    fs::write(folder.path().join("defaults.toml"), defaults).unwrap();
    let said = printed(folder.path(), "config check --config defaults.toml");
    assert_eq!(said, "the configuration is valid\n");
    let effective = printed_json(folder.path(), "config show --json");
    let written = printed_json(folder.path(), "config show --json --config defaults.toml");
    assert_eq!(effective, written);
}

#[cfg(feature = "dashboard")]
#[test]
fn dashboard_that_would_receive_passwords_in_clear_text_is_not_served() {
    let folder = TempDir::new().unwrap();
    let config = "[dashboard]\nlisten = \"0.0.0.0:0\"\n";
    fs::write(folder.path().join("c.toml"), config).unwrap();
    for options in ["--dashboard-listen 0.0.0.0:0", "--config c.toml"] {
        let line = format!("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 {options}");
        let error = failed(folder.path(), &line);
        for part in ["0.0.0.0:0", "dashboard.public_url", "--dashboard-listen"] {
            assert!(error.contains(part), "{options}: {error}");
        }
    }
}

#[test]
fn missing_plugin_is_reported_before_serving() {
    let folder = TempDir::new().unwrap();
    let supplier =
        "[[suppliers]]\nid = \"S\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"s.wasm\"\n";
    let config = format!("plugins_dir = \"plugins\"\n{supplier}");
    fs::write(folder.path().join("c.toml"), config).unwrap();
    let error = failed(folder.path(), "config check --config c.toml");
    assert!(error.contains("S (plugins/s.wasm)"), "{error}");
    let listed = run(folder.path(), "plugin list --json --config c.toml");
    assert_eq!(listed.status.code(), Some(1));
    let listed: serde_json::Value = serde_json::from_str(&stdout(&listed)).unwrap();
    assert_eq!(listed[0]["id"], "S");
    assert!(listed[0]["error"].is_string(), "{listed}");
}
