#[cfg(feature = "dashboard")]
use crate::support::printed;
use crate::support::{Demo, FREE_PORTS, client, failed, send_signal, stderr, stopover};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use tempfile::TempDir;

async fn text(url: String) -> String {
    let response = client().get(url).send().await.unwrap();
    response.text().await.unwrap()
}

#[tokio::test]
async fn demo_start_prints_instructions_and_serves_its_addresses() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let [api, admin, sandbox, key] =
        ["api", "admin", "sandbox", "key"].map(|name| demo.printed(name).unwrap());
    let is_ready_made =
        |line: &String| line.contains("curl") && line.contains(&key) && line.contains(&api);
    let greeting = &demo.greeting;
    assert!(greeting.iter().any(is_ready_made), "{greeting:?}");
    assert!(text(format!("{api}/healthz")).await.contains("ok"));
    let metrics = text(format!("{admin}/metrics")).await;
    assert!(metrics.contains("stopover_http_requests_total"));
    assert_eq!(text(format!("{sandbox}/control/ledger")).await, "[]");
    // Metrics are served only by the admin listener.
    assert!(text(format!("{api}/metrics")).await.contains("not_found"));
    demo.stop();
}

/// A link that nobody used is replaced at the next start. The log never has it. Accounts with other
/// roles, or without a password, do not end it.
#[cfg(feature = "dashboard")]
#[tokio::test]
async fn demo_prints_a_setup_link_until_an_operator_can_sign_in() {
    let folder = TempDir::new().unwrap();
    let mut links = Vec::new();
    for _ in 0..2 {
        let demo = Demo::start(folder.path());
        let link = demo.printed("dashboard").unwrap();
        let start = links.len();
        for (name, role) in [
            ("operator", "--role operator"),
            ("viewer", "--organization demo --org-role viewer"),
        ] {
            let email = format!("{name}{start}@example.com");
            let create = format!("accounts create --email {email} {role} --data-dir data");
            let printed = printed(folder.path(), &create);
            let (base, _) = link.rsplit_once('/').unwrap();
            assert!(printed.starts_with(&format!("{base}/")), "{printed}");
        }
        assert!(text(link.clone()).await.contains("Set up your account"));
        let log = demo.stop();
        let token = link.rsplit('/').next().unwrap();
        assert!(token.len() == 43 && !log.contains(token), "{link}: {log}");
        links.push(link);
    }
    assert_ne!(links[0], links[1]);
    let demo = Demo::start(folder.path());
    let link = demo.printed("dashboard").unwrap();
    let password = "correct+horse+battery+staple";
    let fields = format!("email=ada%40example.com&password={password}&repeat_password={password}");
    let set_up = client()
        .post(&link)
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(fields);
    set_up.send().await.unwrap();
    let again = client().get(&link).send().await.unwrap();
    assert_eq!(again.status(), 404);
    demo.stop();
    let demo = Demo::start(folder.path());
    let address = demo.printed("dashboard").unwrap();
    assert!(!address.contains("/setup/"), "{address}");
    assert!(text(format!("{address}login")).await.contains("Sign in"));
    demo.stop();
}

#[tokio::test]
async fn broken_plugin_is_down_and_server_still_starts() {
    let folder = TempDir::new().unwrap();
    let demo = Demo::start(folder.path());
    let [api, admin, key] = ["api", "admin", "key"].map(|name| demo.printed(name).unwrap());
    let request = client()
        .get(format!("{api}/v1/suppliers"))
        .header("x-api-key", &key);
    let suppliers: Value = request.send().await.unwrap().json().await.unwrap();
    let suppliers = suppliers["data"].as_array().unwrap().iter();
    let known: Vec<String> = suppliers
        .map(|one| format!("{} {}", one["id"], one["health"]).replace('"', ""))
        .collect();
    assert_eq!(
        known,
        [
            "SANDBOX_HOTELS down",
            "SANDBOX_MINI down",
            "SANDBOX_PAYMENTS down",
            "SUPPLIER_A down",
            "SUPPLIER_B down"
        ]
    );
    let reload = client().post(format!("{admin}/plugins/SANDBOX_HOTELS/reload"));
    assert_eq!(reload.send().await.unwrap().status(), 502);
    send_signal(&demo.process, "-HUP");
    let log = demo.stop();
    assert!(log.contains("a plugin cannot be loaded"), "{log}");
    assert!(log.contains("route=\"/v1/suppliers\""), "{log}");
    assert!(!log.contains(&key), "{log}");
}

#[test]
fn demo_without_plugins_names_the_missing_files() {
    let folder = TempDir::new().unwrap();
    let line = format!("serve --demo --plugins-dir nowhere {FREE_PORTS}");
    let error = failed(folder.path(), &line);
    assert!(error.contains("nowhere/fake-hotels.wasm"), "{error}");
}

#[test]
fn start_with_another_master_key_is_refused() {
    let folder = TempDir::new().unwrap();
    let line = format!("serve --data-dir data {FREE_PORTS}");
    let serve = |key: &str| {
        let mut command = stopover(folder.path(), &line);
        command.env("STOPOVER_MASTER_KEY", key);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut first = serve("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"));
    send_signal(&first, "-TERM");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    let second = serve("MTEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
    let second = second.wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let error = stderr(&second);
    assert!(error.contains("the master key is not the one"), "{error}");
}
