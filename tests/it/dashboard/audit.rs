//! The audit log: what it records, who may read it, and what a verification finds.

use futures::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use tests::{
    Client, DashboardClient, Database, HotelBookingBuilder, Server, ServerOptions, binary,
    eventually, on_both_databases, subscriptions,
};
use tokio::process::Command;

on_both_databases!(
    change_is_recorded_with_its_actor_and_source,
    each_hash_is_that_of_the_canonical_entry,
    verification_finds_every_edit_of_the_database,
    admins_learn_only_whether_the_chain_is_intact,
    admins_read_the_entries_of_their_organization,
    former_members_keep_their_names,
    export_of_an_operator_is_the_whole_chain,
    export_is_json_for_any_name,
);

/// A name that is harmful if a page or a spreadsheet interprets it.
const HARMFUL: &str = "=1+1\"><img src=x onerror=alert(1)>";

/// Returns all entries, latest first.
async fn entries(server: &Server) -> Vec<Value> {
    let printed = server.command("audit", &["list", "--json"]).await;
    let lines = printed.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Runs `stopover audit verify` and returns whether it succeeds, and what it prints.
async fn verify(server: &Server, head: &[&str]) -> (bool, String) {
    let mut command = Command::new(binary());
    command.args(["audit", "verify", "--database", server.database_url()]);
    let output = command.args(head).output().await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Creates a key as a person does.
async fn create_key(client: &DashboardClient, organization: &str, name: &str) {
    let fields = [
        ("organization", organization),
        ("name", name),
        ("mode", "test"),
        ("scopes", "read"),
    ];
    let created = client.post("/keys", &fields).await;
    assert_eq!(created.status, 200, "{}", created.body);
}

/// Creates a subscription as a program does, and returns its path.
async fn subscribe(client: &Client) -> String {
    let all = subscriptions("hotel");
    let url = "https://shop.example/hook?token=secret";
    let body = json!({ "url": url, "event_types": ["*"] });
    let made = client.post(&all, &body).await.expect(201);
    format!("{all}/{}", made.data()["id"].as_str().unwrap())
}

async fn change_is_recorded_with_its_actor_and_source(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    create_key(&ada, "acme", "checkout").await;
    let path = ada.get("/keys?organization=acme").await.body;
    let (_, path) = path.split_once("href=\"/keys/").unwrap();
    let key = path.split(['"', '?']).next().unwrap();
    for _ in 0..2 {
        ada.post(&format!("/keys/{key}/revoke"), &[]).await;
    }
    let program = server.client_for("acme").await;
    let webhook = subscribe(&program).await;
    for step in ["pause", "resume", "rotate-secret"] {
        let path = format!("{webhook}/{step}");
        program.post(&path, &json!({})).await.expect(200);
    }
    program.delete(&webhook).await.expect(204);
    let created = server.command("accounts", &["create", "--email", "zoe@example.com"]);
    created.await;

    let entries = entries(&server).await;
    let recorded: Vec<String> = entries
        .iter()
        .rev()
        .map(|entry| {
            let text = |pointer: &str| entry.pointer(pointer).unwrap().as_str().unwrap_or("-");
            let parts = ["/action", "/actor/type", "/source/via", "/organization"];
            parts.map(text).join(" ")
        })
        .collect();
    for expected in [
        "api_key.created account dashboard acme",
        "api_key.revoked account dashboard acme",
        "api_key.created cli cli acme",
        "webhook.created api_key api acme",
        "webhook.paused api_key api acme",
        "webhook.resumed api_key api acme",
        "webhook.secret_rotated api_key api acme",
        "webhook.deleted api_key api acme",
        "account.created cli cli -",
    ] {
        let found = recorded.iter().filter(|entry| *entry == expected);
        assert_eq!(found.count(), 1, "{expected}: {recorded:#?}");
    }
    let revoked = entries
        .iter()
        .find(|one| one["action"] == "api_key.revoked");
    let revoked = revoked.unwrap();
    assert_eq!(revoked["target"], json!({ "type": "api_key", "id": key }));
    assert_eq!(revoked["actor"]["name"], "ada@example.com");
    assert_eq!(revoked["source"]["address"], "127.0.0.1");
    assert_eq!(revoked["mode"], "test");
    assert_eq!(revoked["before"], json!({ "revoked_at": null }));
    let all = serde_json::to_string(&entries).unwrap();
    for secret in ["token=secret", "whsec_", "sk_test_"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

async fn each_hash_is_that_of_the_canonical_entry(database: Database) {
    let server = Server::start(database).await;
    let program = server.client();
    for _ in 0..3 {
        subscribe(&program).await;
    }
    let mut previous = "0".repeat(64);
    for (number, mut entry) in (1..).zip(entries(&server).await.into_iter().rev()) {
        let hash = entry.as_object_mut().unwrap().remove("hash").unwrap();
        assert_eq!(entry["sequence"], number);
        assert_eq!(entry["previous_hash"], previous);
        // Members are sorted, and there are no spaces.
        let digest = Sha256::digest(entry.to_string());
        assert_eq!(hash, hex::encode(digest));
        hash.as_str().unwrap().clone_into(&mut previous);
    }
    let (is_intact, text) = verify(&server, &["--head", &previous]).await;
    assert!(is_intact && text.contains(&previous), "{text}");
    let query = format!("/audit/verify?head={previous}");
    let answer = Client::new(&server.admin, "").get(&query).await.expect(200);
    assert_eq!(answer.data()["intact"], true);
}

async fn verification_finds_every_edit_of_the_database(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    for name in ["first", "second", "third"] {
        create_key(&ada, "acme", name).await;
    }
    let before = entries(&server).await;
    let head = before[0]["hash"].as_str().unwrap().to_owned();
    let edited = before
        .iter()
        .position(|entry| entry["after"]["name"] == "second");
    let edited = before[edited.unwrap()]["sequence"].as_i64().unwrap();
    let row = format!("WHERE sequence = {edited}");
    let error = server
        .try_edit(&format!("UPDATE audit_log SET action = 'x' {row}"))
        .await;
    assert!(error.unwrap_err().contains("cannot be changed"));
    let error = server
        .try_edit(&format!("DELETE FROM audit_log {row}"))
        .await;
    assert!(error.unwrap_err().contains("cannot be"));

    let triggers = match database {
        Database::Sqlite => "DROP TRIGGER audit_log_update; DROP TRIGGER audit_log_delete",
        Database::Postgres => "DROP TRIGGER audit_log_change ON audit_log",
    };
    let copy = format!("{triggers}; CREATE TABLE original AS SELECT * FROM audit_log");
    server.try_edit(&copy).await.unwrap();
    let zeros = "0".repeat(64);
    for edit in [
        format!("UPDATE audit_log SET body = replace(body, 'second', 'secret') {row}"),
        format!("UPDATE audit_log SET body = '' {row}"),
        format!("UPDATE audit_log SET hash = '{zeros}' {row}"),
        format!("UPDATE audit_log SET at = at + 1 {row}"),
        format!("UPDATE audit_log SET organization = 'other' {row}"),
        format!("UPDATE audit_log SET mode = 'live' {row}"),
        format!("UPDATE audit_log SET actor_kind = 'cli' {row}"),
        format!("UPDATE audit_log SET actor_id = 'acc_1' {row}"),
        format!("UPDATE audit_log SET actor_name = 'zoe@example.com' {row}"),
        format!("UPDATE audit_log SET action = 'api_key.revoked' {row}"),
        format!("UPDATE audit_log SET target_id = 'key_1' {row}"),
        format!("UPDATE audit_log SET sequence = 999 {row}"),
        format!("DELETE FROM audit_log {row}"),
    ] {
        server.try_edit(&edit).await.unwrap();
        let (is_intact, text) = verify(&server, &[]).await;
        assert!(!is_intact, "{edit}");
        assert!(text.contains(&format!("entry {edited}")), "{edit}: {text}");
        let page = ada.post("/audit/verify", &[]).await;
        assert!(
            page.body.contains(&format!("broken at entry {edited}")),
            "{edit}"
        );
        let restore = "DELETE FROM audit_log; INSERT INTO audit_log SELECT * FROM original";
        server.try_edit(restore).await.unwrap();
    }
    let page = ada.post("/audit/verify", &[]).await;
    assert!(page.body.contains("The chain is intact"), "{}", page.body);

    let cut = "DELETE FROM audit_log WHERE sequence = (SELECT MAX(sequence) FROM audit_log)";
    server.try_edit(cut).await.unwrap();
    assert!(
        verify(&server, &[]).await.0,
        "what is left continues itself"
    );
    let (is_intact, text) = verify(&server, &["--head", &head]).await;
    assert!(!is_intact && text.contains("cut off"), "{text}");
}

/// The whole chain is about other organizations too, and reading it costs as much as it is long.
async fn admins_learn_only_whether_the_chain_is_intact(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let role = ["--organization", "acme", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &role).await;
    create_key(&operator, "demo", "of-demo").await;
    let verification = async |person: &DashboardClient| {
        let page = person.post("/audit/verify", &[]).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let (_, text) = page
            .body
            .split_once("data-testid=\"verification\"")
            .unwrap();
        let (text, _) = text.rsplit_once("<section").unwrap();
        text.to_owned()
    };
    let head = entries(&server).await[0]["hash"].clone();
    let head = head.as_str().unwrap();
    for (person, sees_head) in [(&operator, true), (&admin, false)] {
        let text = verification(person).await;
        assert!(text.contains("The chain is intact"), "{text}");
        assert_eq!(text.contains(head), sees_head, "{text}");
    }
    let cut = match database {
        Database::Sqlite => "DROP TRIGGER audit_log_update; DROP TRIGGER audit_log_delete",
        Database::Postgres => "DROP TRIGGER audit_log_change ON audit_log",
    };
    let edit = format!("{cut}; UPDATE audit_log SET at = at + 1 WHERE sequence = 1");
    server.try_edit(&edit).await.unwrap();
    // The result of the last minute is used again, until an operator verifies anew.
    for (person, text, sees_place) in [
        (&admin, "The chain is intact", false),
        (&operator, "The chain is broken", true),
        (&admin, "The chain is broken", false),
    ] {
        let shown = verification(person).await;
        assert!(shown.contains(text), "{shown}");
        assert_eq!(shown.contains("at entry 1"), sees_place, "{shown}");
    }
}

async fn admins_read_the_entries_of_their_organization(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let role = ["--organization", "acme", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &role).await;
    create_key(&admin, "acme", "of-acme").await;
    create_key(&operator, "demo", "of-demo").await;
    for (client, sees_demo) in [(&operator, true), (&admin, false)] {
        for path in ["/audit", "/audit/export"] {
            let list = client.get(path).await;
            assert_eq!(list.status, 200, "{}", list.body);
            assert!(list.body.contains("of-acme"), "{}", list.body);
            assert_eq!(list.body.contains("of-demo"), sees_demo, "{}", list.body);
            let folded = "<details class=\"change\">";
            assert!(!list.body.contains(folded), "{}", list.body);
        }
        // The creation of an account belongs to the organizations in which it has a role.
        let export = client.get("/audit/export").await.body;
        let created = export
            .lines()
            .filter(|line| line.contains("account.created"));
        let created: Vec<Value> = created
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(created.len(), 1, "{export}");
        assert_eq!(created[0]["organization"], "acme");
        assert_eq!(created[0]["after"]["email"], "admin@example.com");
        // A command is run by whoever operates the installation.
        let name = created[0]["actor"]["name"].as_str().unwrap();
        assert_eq!(name == "an operator", !sees_demo, "{name}");
    }
    for (query, found, is_left_out) in [
        ("actor=admin@example.com", "of-acme", "of-demo"),
        ("organization=demo", "of-demo", "of-acme"),
        ("actor=account", "of-demo", "Command line"),
        ("actor=cli", "Command line", "of-demo"),
        (
            "action=api_key.created&actor=ada@example.com",
            "of-demo",
            "of-acme",
        ),
    ] {
        let list = operator.get(&format!("/audit?{query}")).await.body;
        assert!(
            list.contains(found) && !list.contains(is_left_out),
            "{query}: {list}"
        );
    }
    for query in [
        "action=api_key.revoked",
        "q=key_1",
        "from=2100-01-01",
        "to=2000-01-01",
    ] {
        let list = operator.get(&format!("/audit?{query}")).await.body;
        assert!(list.contains("No entry matches"), "{query}: {list}");
    }
    // The page of one mode has no entry of the other mode.
    operator.post("/mode", &[("mode", "live")]).await;
    assert!(!operator.get("/audit").await.body.contains("of-acme"));
}

async fn former_members_keep_their_names(database: Database) {
    let server = Server::start(database).await;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let member = async |name: &str, role: &str| {
        let options = ["--organization", "acme", "--org-role", role];
        DashboardClient::with_account(&server, &format!("{name}@example.com"), &options).await
    };
    let (admin, former) = (member("zoe", "admin").await, member("bob", "admin").await);
    create_key(&former, "acme", "of-bob").await;
    create_key(&operator, "acme", "of-an-operator").await;
    let client = server.client_for("acme").await;
    let booking = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let booking = format!("/bookings/{booking}");
    for person in [&former, &operator] {
        let revealed = person.post(&format!("{booking}/reveal"), &[]).await;
        assert_eq!(revealed.status, 200, "{}", revealed.body);
    }
    let members = admin.get("/members").await.body;
    let (before, _) = members.split_once("data-row>bob@example.com<").unwrap();
    let (_, path) = before.rsplit_once("href=\"").unwrap();
    let path = path.split('"').next().unwrap();
    let removed = admin.post(&format!("{path}/remove"), &[]).await;
    assert_eq!(removed.status, 303, "{}", removed.body);
    for path in ["/audit?action=api_key.created", "/audit/export"] {
        let log = admin.get(path).await.body;
        assert!(log.contains("bob@example.com"), "{path}: {log}");
        assert!(log.contains("an operator"), "{path}: {log}");
        assert!(!log.contains("ada@example.com"), "{path}: {log}");
    }
    eventually("both in the timeline", async || {
        let page = admin.get(&booking).await.body;
        assert!(!page.contains("ada@example.com"), "{page}");
        let is_complete = page.contains("bob@example.com") && page.contains("an operator");
        is_complete.then_some(())
    })
    .await;
}

async fn export_of_an_operator_is_the_whole_chain(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    create_key(&ada, "acme", "of-test").await;
    ada.post("/mode", &[("mode", "live")]).await;
    let fields = [
        ("organization", "demo"),
        ("name", "of-live"),
        ("mode", "live"),
        ("scopes", "read"),
    ];
    let created = ada.post("/keys", &fields).await;
    assert_eq!(created.status, 200, "{}", created.body);
    let chain = entries(&server).await.into_iter().rev();
    let export = ada.get("/audit/export").await.body;
    let lines = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let exported: Vec<Value> = lines.collect();
    assert_eq!(exported, chain.collect::<Vec<Value>>());
    let modes = exported.iter().map(|entry| entry["mode"].as_str());
    let modes: HashSet<Option<&str>> = modes.collect();
    assert_eq!(modes, HashSet::from([None, Some("test"), Some("live")]));
}

async fn export_is_json_for_any_name(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    create_key(&ada, "acme", HARMFUL).await;
    let page = ada.get("/audit").await;
    assert!(!page.body.contains("<img"), "{}", page.body);
    let export = ada
        .get("/audit/export?action=api_key.created&actor=ada@example.com")
        .await;
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    assert!(
        export
            .header("content-disposition")
            .starts_with("attachment;")
    );
    assert_eq!(export.header("x-content-type-options"), "nosniff");
    let lines: Vec<Value> = export
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["after"]["name"], HARMFUL);
}

/// Several processes append to one chain.
#[tokio::test(flavor = "multi_thread")]
async fn processes_append_to_one_chain() {
    let limits = "[limits]\nrequests_per_s = 1000\nburst = 1000";
    let options = ServerOptions::on(Database::Postgres).config(limits);
    let first = Server::start_with_own_sandbox(options.clone()).await;
    let second = first.start_another_process(&options).await;
    let client = first.client();
    let clients = [client.at(&first.api), client.at(&second.api)];
    let readers = [&first, &second].map(|server| Client::new(&server.admin, ""));
    let changes = (0..60).map(async |number: usize| {
        subscribe(&clients[number % 2]).await;
        readers[number % 2].get("/audit?limit=1").await.expect(200);
    });
    join_all(changes).await;
    eventually("each change to be an entry", async || {
        let list = readers[0]
            .get("/audit?action=webhook.created&limit=500")
            .await;
        (list.list().len() == 60).then_some(())
    })
    .await;
    let verified = readers[1].get("/audit/verify").await.expect(200);
    assert_eq!(verified.data()["intact"], true, "{:?}", verified.body);
}
