use crate::support::{Demo, client, printed, printed_json, run, stderr, stdout, stopover};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;

/// The status that a key gets.
async fn status(api: &str, key: &str) -> u16 {
    let request = client()
        .get(format!("{api}/v1/suppliers"))
        .header("x-api-key", key);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_key_made_while_the_server_runs_works_until_it_is_revoked() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let api = demo.told("api").unwrap();
    let create =
        "keys create --organization acme --mode test --scopes read --name Ada --data-dir data";
    let key = printed(folder.path(), create);
    let key = key.trim_end();
    assert!(
        key.starts_with("sk_test_") && key.len() == 46 && !key.contains(char::is_whitespace),
        "{key}"
    );
    assert_eq!(status(&api, key).await, 200);

    let listed = printed_json(folder.path(), "keys list --json --data-dir data");
    let mine = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["organization"] == "acme")
        .unwrap();
    let id = mine["id"].as_str().unwrap();
    printed(folder.path(), &format!("keys revoke {id} --data-dir data"));
    let until_refused = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(100));
        while status(&api, key).await != 401 {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), until_refused)
        .await
        .unwrap();
    demo.stop();
}

#[tokio::test]
async fn the_demo_keeps_its_keys() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let key = demo.told("key").unwrap();
    demo.stop();
    let master_key = fs::metadata(folder.path().join("data/master.key")).unwrap();
    assert_eq!(master_key.permissions().mode() & 0o777, 0o600);
    let again = Demo::start(folder.path());
    assert_eq!(again.told("key"), None);
    assert_eq!(status(&again.told("api").unwrap(), &key).await, 200);
    again.stop();
}

#[test]
fn listed_keys_tell_everything_but_the_key() {
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
fn keys_take_scopes_and_an_end() {
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
