use crate::support::{printed, printed_json, run, stderr, stdout, stopover};
use serde_json::{Value, json};
use tempfile::TempDir;

#[test]
fn key_list_shows_everything_but_the_key() {
    let folder = TempDir::new().unwrap();
    let database = "--database sqlite:keys.sqlite3";
    let create = format!("keys create --organization acme --mode live --name Ada {database}");
    let key = printed(folder.path(), &create);
    let listed = printed_json(folder.path(), &format!("keys list --json {database}"));
    let mine = &listed[0];
    let members: Vec<&String> = mine.as_object().unwrap().keys().collect();
    let expected = "created_at expires_at id last_used_at mode name organization revoked_at scopes";
    assert_eq!(members, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(
        (&mine["name"], &mine["organization"], &mine["mode"]),
        (&json!("Ada"), &json!("acme"), &json!("live"))
    );
    assert_eq!(
        (&mine["scopes"], &mine["revoked_at"]),
        (&json!(["read", "book", "webhooks"]), &Value::Null)
    );
    let table = printed(folder.path(), &format!("keys list {database}"));
    assert!(
        table.contains("acme") && !table.contains(key.trim_end()),
        "{table}"
    );
}

#[test]
fn created_key_has_scopes_and_expiry() {
    let folder = TempDir::new().unwrap();
    let create = |more: &[&str]| {
        let line = "keys create --organization acme --mode live --database sqlite:keys.sqlite3";
        stopover(folder.path(), line).args(more).output().unwrap()
    };
    assert!(stdout(&create(&["--expires", "2027-01-31"])).starts_with("sk_live_"));
    let more = [
        "--expires",
        "2020-01-01T12:00:00Z",
        "--scopes",
        "webhooks,read,read",
    ];
    assert!(stdout(&create(&more)).starts_with("sk_live_"));
    let listed = printed_json(
        folder.path(),
        "keys list --json --database sqlite:keys.sqlite3",
    );
    let keys = listed.as_array().unwrap().iter();
    let seen: Vec<_> = keys
        .map(|key| (key["expires_at"].as_str().unwrap(), key["scopes"].clone()))
        .collect();
    let everything = json!(["read", "book", "webhooks"]);
    assert_eq!(
        seen,
        [
            ("2027-02-01T00:00:00.000Z", everything),
            ("2020-01-01T12:00:00.000Z", json!(["read", "webhooks"]))
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
        "keys revoke key_1 --database sqlite:keys.sqlite3",
    );
    assert_eq!(
        (unknown.status.code(), stderr(&unknown).trim_end()),
        (Some(1), "error: there is no key key_1")
    );
}
