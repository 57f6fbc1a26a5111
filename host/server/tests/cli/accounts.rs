use crate::support::{failed, printed, printed_json, run};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const DATABASE: &str = "--database sqlite:accounts.sqlite3";

fn list(folder: &Path) -> Value {
    printed_json(folder, &format!("accounts list --json {DATABASE}"))
}

/// Returns the token of a link, which is the last line of a command's output.
fn token(base_url: &str, output: &str) -> String {
    let link = output.trim_end().strip_prefix(base_url).unwrap();
    let token = link.strip_prefix("/setup/").unwrap();
    // 256 bits in base64.
    assert_eq!(token.len(), 43, "{output}");
    token.to_owned()
}

#[test]
fn created_accounts_are_listed_with_their_roles() {
    let folder = TempDir::new().unwrap();
    let base_url = "http://127.0.0.1:8082";
    let mut tokens = Vec::new();
    for options in [
        "--email Ada@Example.com --role operator --organization acme --org-role admin",
        "--email bob@example.com --organization acme --org-role viewer",
        "--email eve@example.com",
    ] {
        let created = printed(
            folder.path(),
            &format!("accounts create {options} {DATABASE}"),
        );
        tokens.push(token(base_url, &created));
    }
    tokens.dedup();
    assert_eq!(tokens.len(), 3);
    let listed = list(folder.path());
    let members: Vec<&String> = listed[0].as_object().unwrap().keys().collect();
    let expected = "created_at email id roles signed_in_at state";
    assert_eq!(members, expected.split(' ').collect::<Vec<_>>());
    let accounts = listed.as_array().unwrap().iter();
    let seen: Vec<_> = accounts
        .map(|account| (&account["email"], &account["roles"]))
        .collect();
    let (ada, bob, eve) = (
        json!("ada@example.com"),
        json!("bob@example.com"),
        json!("eve@example.com"),
    );
    let expected = [
        json!([
            { "organization": null, "role": "operator" },
            { "organization": "acme", "role": "admin" },
        ]),
        json!([{ "organization": "acme", "role": "viewer" }]),
        json!([]),
    ];
    assert_eq!(
        seen,
        [
            (&ada, &expected[0]),
            (&bob, &expected[1]),
            (&eve, &expected[2])
        ]
    );
    let table = printed(folder.path(), &format!("accounts list {DATABASE}"));
    let first = table.lines().next().unwrap();
    assert!(first.ends_with("ada@example.com  invited  operator,admin@acme"));
    assert!(tokens.iter().all(|token| !table.contains(token.as_str())));
}

#[test]
fn link_bears_the_public_url() {
    let folder = TempDir::new().unwrap();
    let config = |dashboard: &str| {
        let text = format!("[dashboard]\n{dashboard}\n");
        std::fs::write(folder.path().join("stopover.toml"), text).unwrap();
    };
    config("listen = \"\"\npublic_url = \"HTTPS://stopover.example.com:443/\"");
    let create =
        format!("accounts create --email ada@example.com {DATABASE} --config stopover.toml");
    let created = printed(folder.path(), &create);
    token("https://stopover.example.com", &created);
    config("listen = \"\"");
    let reset = format!("accounts reset ada@example.com {DATABASE} --config stopover.toml");
    let error = failed(folder.path(), &reset);
    assert!(error.contains("dashboard.public_url"), "{error}");
    config("listen = \"127.0.0.1:9000\"");
    let link = printed(folder.path(), &reset);
    token("http://127.0.0.1:9000", &link);
}

#[test]
fn account_is_disabled_and_reset() {
    let folder = TempDir::new().unwrap();
    let command = |line: &str| printed(folder.path(), &format!("accounts {line} {DATABASE}"));
    let state = || list(folder.path())[0]["state"].clone();
    let create = "create --email ada@example.com --role operator";
    let first = command(create);
    let disabled = command("disable Ada@example.com");
    assert_eq!(disabled.trim_end(), "ada@example.com is disabled");
    assert_eq!(state(), "disabled");
    let second = command("reset ada@example.com");
    assert_ne!(first, second);
    assert_eq!(state(), "invited");
    for (line, reason) in [
        (create, "error: the account ada@example.com exists; "),
        (
            "disable bob@example.com",
            "error: cannot disable bob@example.com: there is no account with this address",
        ),
        (
            "reset bob@example.com",
            "error: cannot reset bob@example.com: there is no account with this address",
        ),
    ] {
        let error = failed(folder.path(), &format!("accounts {line} {DATABASE}"));
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn invalid_accounts_are_invalid_usage() {
    let folder = TempDir::new().unwrap();
    for options in [
        "",
        "--email ada",
        "--email ada@example.com --role admin",
        "--email ada@example.com --organization acme",
        "--email ada@example.com --org-role admin",
        "--email ada@example.com --organization a/b --org-role admin",
        "--email ada@example.com --organization acme --org-role operator",
    ] {
        let output = run(
            folder.path(),
            &format!("accounts create {options} {DATABASE}"),
        );
        assert_eq!(output.status.code(), Some(2), "{options}");
    }
}
