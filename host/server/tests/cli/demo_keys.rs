use crate::support::{Demo, client, printed, printed_json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;

/// Returns the status of a request with a key.
async fn status(api: &str, key: &str) -> u16 {
    let request = client()
        .get(format!("{api}/v1/suppliers"))
        .header("x-api-key", key);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn key_created_while_serving_works_until_revoked() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let api = demo.printed("api").unwrap();
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
async fn later_demo_start_keeps_its_keys() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let key = demo.printed("key").unwrap();
    demo.stop();
    let master_key = fs::metadata(folder.path().join("data/master.key")).unwrap();
    assert_eq!(master_key.permissions().mode() & 0o777, 0o600);
    let again = Demo::start(folder.path());
    assert_eq!(again.printed("key"), None);
    assert_eq!(status(&again.printed("api").unwrap(), &key).await, 200);
    again.stop();
}
