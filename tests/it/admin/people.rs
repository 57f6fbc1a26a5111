//! API keys, accounts and members on the admin listener and on the command line.

use super::{Operator, recorded_actions, text};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    Client, DashboardClient, Database, Server, accounts, binary, eventually, link_path,
    on_both_databases,
};
use tokio::process::Command;

on_both_databases!(
    keys_are_created_listed_and_revoked,
    accounts_are_created_changed_and_disabled,
    members_are_invited_changed_and_removed,
    members_are_managed_by_commands,
    role_of_an_existing_account_is_changed_by_commands,
);

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

async fn keys_are_created_listed_and_revoked(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let new = json!({ "organization": "acme", "name": "Batch", "scopes": ["read"] });
    let created = operator.0.post("/keys", &new).await.expect(201);
    let path = format!("/keys/{}", text(&created.data()["id"]));
    let program = Client::new(&server.api, text(&created.data()["key"]));
    program.get("/v1/suppliers").await.expect(200);
    for (query, count) in [
        ("organization=acme", 1),
        ("organization=acme&status=active&q=BATCH", 1),
        ("organization=acme&status=revoked", 0),
        ("organization=acme&mode=live", 0),
        ("organization=other", 0),
    ] {
        let ids = operator.ids(&format!("/keys?{query}")).await;
        assert_eq!(ids.len(), count, "{query}: {ids:?}");
    }
    let shown = operator.read(&path).await;
    assert_eq!(shown["scopes"], json!(["read"]));
    assert_eq!(shown["status"], "active");
    let key = text(&created.data()["key"]);
    assert!(!shown.to_string().contains(key), "{shown:#}");
    for refused in [
        json!({ "organization": "a b" }),
        json!({ "organization": "acme", "scopes": [] }),
        json!({ "organization": "acme", "scopes": ["write"] }),
        json!({ "organization": "acme", "expires_at": "soon" }),
        json!({ "organization": "acme", "expires_at": "2020-01-31" }),
        json!({ "organization": "acme\0" }),
    ] {
        let refused = operator.0.post("/keys", &refused).await;
        refused.expect_problem(400, "validation_failed");
    }
    for query in ["organization=a%00", "organization=a%20b", "q=a%00", "q=%0A"] {
        let refused = operator.0.get(&format!("/keys?{query}")).await;
        refused.expect_problem(400, "validation_failed");
    }
    let revoked = operator.act(&format!("{path}/revoke")).await.expect(200);
    assert_eq!(revoked.data()["status"], "revoked");
    eventually("the key to be refused", async || {
        (program.get("/v1/suppliers").await.status == 401).then_some(())
    })
    .await;
    let unknown = operator.act("/keys/key_1/revoke").await;
    unknown.expect_problem(404, "not_found");
    let actions = recorded_actions(&server).await;
    assert_eq!(actions, ["api_key.revoked", "api_key.created"]);
}

async fn accounts_are_created_changed_and_disabled(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let roles = json!([{ "organization": "acme", "role": "admin" }]);
    let new = json!({ "email": ADA, "roles": roles });
    let created = operator.0.post("/accounts", &new).await.expect(201);
    let ada = DashboardClient::new(&server);
    ada.use_link(link_path(text(&created.data()["link"])), ADA)
        .await;
    let page = async || ada.get("/account").await.body;
    assert!(page().await.contains("Admin of acme"));
    let again = operator.0.post("/accounts", &new).await;
    again.expect_problem(409, "account_conflict");

    let path = format!("/accounts/{ADA}");
    let set = format!("{path}/set-role");
    let changed = operator.0.post(&set, &json!({ "role": "operator" })).await;
    assert_eq!(
        changed.expect(200).data()["roles"],
        json!([
            { "organization": null, "role": "operator" },
            { "organization": "acme", "role": "admin" },
        ])
    );
    assert!(page().await.contains("Operator of the installation"));
    let remove = format!("{path}/remove-role");
    let acme = json!({ "organization": "acme" });
    operator.0.post(&remove, &acme).await.expect(200);
    assert!(!page().await.contains("Admin of acme"));
    let absent = operator.0.post(&remove, &acme).await;
    absent.expect_problem(409, "account_conflict");
    for refused in [
        json!({ "role": "admin" }),
        json!({ "organization": "acme", "role": "operator" }),
    ] {
        let refused = operator.0.post(&set, &refused).await;
        refused.expect_problem(400, "validation_failed");
    }

    for _ in 0..2 {
        operator.act(&format!("{path}/disable")).await.expect(200);
    }
    assert_eq!(ada.get("/account").await.status, 303);
    let reset = operator.act(&format!("{path}/reset")).await.expect(200);
    assert!(text(&reset.data()["link"]).contains("/setup/"));
    let listed = operator.read("/accounts").await;
    assert_eq!(listed[0]["email"], ADA);
    assert_eq!(listed[0]["state"], "invited");
    let nobody = operator.act("/accounts/nobody@example.com/disable").await;
    nobody.expect_problem(404, "not_found");
    let expected = [
        "reset",
        "disabled",
        "roles_changed",
        "roles_changed",
        "created",
    ];
    let expected = expected.map(|action| format!("account.{action}"));
    assert_eq!(recorded_actions(&server).await, expected);
}

/// Invites an address to `acme` and returns the path of the link.
async fn invite(operator: &Operator, email: &str, role: &str) -> String {
    let invitation = json!({ "organization": "acme", "email": email, "role": role });
    let invited = operator.0.post("/members/invitations", &invitation).await;
    link_path(text(&invited.expect(201).data()["link"])).to_owned()
}

/// Checks that no text that cannot be the id of an organization reaches the database, which may refuse
/// it. `path` is that of a member of `acme`.
async fn refuse_wrong_organizations(operator: &Operator, path: &str) {
    for path in ["/members", "/members/invitations"] {
        let refused = operator.0.get(&format!("{path}?organization=a%00")).await;
        refused.expect_problem(400, "validation_failed");
    }
    let body = json!({ "organization": "a\0", "email": GRACE });
    let refused = operator.0.post("/members/invitations/revoke", &body).await;
    refused.expect_problem(400, "validation_failed");
    let body = json!({ "organization": "a\0", "email": GRACE, "role": "viewer" });
    let refused = operator.0.post("/members/invitations", &body).await;
    refused.expect_problem(400, "validation_failed");
    let path = path.replace("acme", "acme%00");
    let body = json!({ "role": "viewer" }).to_string().into_bytes();
    for (method, body) in [
        (Method::GET, None),
        (Method::PATCH, Some(body)),
        (Method::DELETE, None),
    ] {
        let refused = operator.0.send(method, &path, body).await;
        refused.expect_problem(404, "not_found");
    }
}

async fn members_are_invited_changed_and_removed(database: Database) {
    let server = Server::start(database).await;
    let operator = Operator::of(&server);
    let (ada, grace) = (DashboardClient::new(&server), DashboardClient::new(&server));
    ada.use_link(&invite(&operator, ADA, "admin").await, ADA)
        .await;
    let link = invite(&operator, GRACE, "viewer").await;
    let open = operator
        .read("/members/invitations?organization=acme")
        .await;
    assert_eq!(open.as_array().unwrap().len(), 1, "{open:#}");
    assert_eq!(open[0]["email"], GRACE);
    let revocation = json!({ "organization": "acme", "email": GRACE });
    for status in [204, 404] {
        let revoke = "/members/invitations/revoke";
        operator.0.post(revoke, &revocation).await.expect(status);
    }
    assert_eq!(grace.get(&link).await.status, 404);

    let listed = operator.read("/members?organization=acme").await;
    assert_eq!(listed[0]["role"], "admin");
    let path = format!("/members/acme/{}", text(&listed[0]["account"]));
    let change = async |role: &str| {
        let body = json!({ "role": role }).to_string().into_bytes();
        operator.0.send(Method::PATCH, &path, Some(body)).await
    };
    change("viewer")
        .await
        .expect_problem(409, "account_conflict");
    grace
        .use_link(&invite(&operator, GRACE, "admin").await, GRACE)
        .await;
    let again = json!({ "organization": "acme", "email": GRACE, "role": "viewer" });
    let again = operator.0.post("/members/invitations", &again).await;
    again.expect_problem(409, "account_conflict");
    assert_eq!(change("viewer").await.expect(200).data()["role"], "viewer");
    assert!(ada.get("/account").await.body.contains("Viewer of acme"));
    refuse_wrong_organizations(&operator, &path).await;
    let removed = operator.0.send(Method::DELETE, &path, None).await;
    removed.expect(204);
    operator.0.get(&path).await.expect_problem(404, "not_found");
    let expected = [
        "removed",
        "role_changed",
        "invited",
        "invitation_revoked",
        "invited",
        "invited",
    ];
    let expected = expected.map(|action| format!("member.{action}"));
    assert_eq!(recorded_actions(&server).await, expected);
}

/// Runs a command on the server's database. Returns whether it succeeds, and what it prints.
async fn command(server: &Server, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(binary());
    command.args(arguments);
    command.args(["--database", server.database_url()]);
    let output = command.output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

async fn members_are_managed_by_commands(database: Database) {
    let server = Server::start(database).await;
    let admin = ["--organization", "acme", "--org-role", "admin"];
    let ada = DashboardClient::with_account(&server, ADA, &admin).await;
    let acme = &["--organization", "acme"][..];
    let members = async |action: &str, options: &[&str]| {
        command(&server, &[&["members", action], options, acme].concat()).await
    };
    let (_, link) = members("invite", &[GRACE, "--role", "admin"]).await;
    let (_, listed) = members("list", &[]).await;
    let invited = format!("acme  {GRACE}  admin  invitation until ");
    assert!(listed.contains(&invited), "{listed}");
    let grace = DashboardClient::new(&server);
    grace.use_link(link_path(&link), GRACE).await;
    for (action, options, is_done, says) in [
        ("invite", &[GRACE, "--role", "viewer"][..], false, "already"),
        ("set-role", &[ADA, "--role", "viewer"], true, "is viewer of"),
        ("set-role", &[GRACE, "--role", "viewer"], false, "no admin"),
        ("remove", &[GRACE], false, "no admin"),
        (
            "invite",
            &["new@example.com", "--role", "viewer"],
            true,
            "/setup/",
        ),
        (
            "revoke-invitation",
            &["new@example.com"],
            true,
            "is revoked",
        ),
        (
            "revoke-invitation",
            &["new@example.com"],
            false,
            "no open invitation",
        ),
        ("remove", &[ADA], true, "no longer a member"),
        ("remove", &[ADA], false, "no such member"),
    ] {
        let (done, printed) = members(action, options).await;
        assert_eq!(done, is_done, "{action} {options:?}: {printed}");
        assert!(printed.contains(says), "{action} {options:?}: {printed}");
    }
    assert_eq!(ada.get("/members?organization=acme").await.status, 404);
    let (_, listed) = members("list", &["--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["members"].as_array().unwrap().len(), 1);
    assert_eq!(listed["members"][0]["email"], GRACE);
    assert_eq!(listed["invitations"], json!([]));
}

async fn role_of_an_existing_account_is_changed_by_commands(database: Database) {
    let server = Server::start(database).await;
    let viewer = ["--organization", "acme", "--org-role", "viewer"];
    let ada = DashboardClient::with_account(&server, ADA, &viewer).await;
    let page = async || ada.get("/account").await.body;
    let (is_done, refused) = command(
        &server,
        &["accounts", "create", "--email", ADA, "--role", "operator"],
    )
    .await;
    assert!(!is_done && refused.contains("set-role"), "{refused}");
    let admin = [
        "set-role",
        ADA,
        "--organization",
        "acme",
        "--org-role",
        "admin",
    ];
    let changed = accounts(&server, &admin).await;
    assert!(changed.ends_with("  active  admin@acme\n"), "{changed}");
    assert!(page().await.contains("Admin of acme"));
    let changed = accounts(&server, &["set-role", ADA, "--role", "operator"]).await;
    assert!(changed.ends_with("  operator,admin@acme\n"), "{changed}");
    assert_eq!(ada.get("/suppliers").await.status, 200);
    accounts(&server, &["remove-role", ADA, "--organization", "acme"]).await;
    accounts(&server, &["remove-role", ADA, "--role", "operator"]).await;
    let page = page().await;
    assert!(
        !page.contains("Admin of acme") && !page.contains("Operator of"),
        "{page}"
    );
    let (is_done, refused) = command(
        &server,
        &["accounts", "remove-role", ADA, "--role", "operator"],
    )
    .await;
    assert!(
        !is_done && refused.contains("does not have this role"),
        "{refused}"
    );
    let log = server.command("audit", &["list", "--json"]).await;
    let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let changes = entries.filter(|entry: &Value| {
        entry["actor"]["type"] == "cli" && entry["action"] == "account.roles_changed"
    });
    assert_eq!(changes.count(), 4);
}
