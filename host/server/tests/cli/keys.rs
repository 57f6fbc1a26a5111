use crate::support::{failed, printed, printed_json, stdout, stopover};
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
    assert_eq!(mine["name"], "Ada");
    assert_eq!(mine["organization"], "acme");
    assert_eq!(mine["mode"], "live");
    assert_eq!(mine["scopes"], json!(["read", "book", "webhooks"]));
    assert_eq!(mine["revoked_at"], Value::Null);
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
    let (expiry, scopes) = (
        "--expires=2020-01-01T12:00:00Z",
        "--scopes=webhooks,read,read",
    );
    assert!(stdout(&create(&[expiry, scopes])).starts_with("sk_live_"));
    let list = "keys list --json --database sqlite:keys.sqlite3";
    let listed = printed_json(folder.path(), list);
    let keys = listed.as_array().unwrap().iter();
    let seen = keys.map(|key| (key["expires_at"].as_str().unwrap(), &key["scopes"]));
    let (all, two) = (
        json!(["read", "book", "webhooks"]),
        json!(["read", "webhooks"]),
    );
    let expected = [
        ("2027-01-31T23:59:59.999Z", &all),
        ("2020-01-01T12:00:00.000Z", &two),
    ];
    assert!(seen.eq(expected), "{listed}");
    let table = printed(folder.path(), "keys list --database sqlite:keys.sqlite3");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].contains("  active  "), "{table}");
    assert!(lines[1].contains("  expired  "), "{table}");
    for wrong in ["--expires=tomorrow", "--scopes=all", "--name=a\nb"] {
        assert_eq!(create(&[wrong]).status.code(), Some(2), "{wrong:?}");
    }
    let revoke = "keys revoke key_1 --database sqlite:keys.sqlite3";
    let error = failed(folder.path(), revoke);
    assert_eq!(error.trim_end(), "error: there is no key key_1");
}
