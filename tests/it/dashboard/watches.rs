//! Watches and mandates as people see, cancel and revoke them.

use serde_json::{Value, json};
use tests::{
    Client, DashboardClient, Database, PageReply, Server, ServerOptions, WatcherWebhook,
    eventually, money, on_both_databases, set_price,
};

on_both_databases!(
    watch_shows_its_prices_and_is_canceled_by_an_admin,
    mandate_shows_what_it_was_used_for,
    mandate_of_a_declined_purchase_shows_that_nothing_was_charged,
    mandate_is_revoked_by_an_admin,
    disabled_webhook_of_watches_is_resumed_by_an_admin,
);

const OFTEN: &str = "[watches]\ninterval_s = 1";

async fn start(database: Database) -> Server {
    Server::start_with(
        ServerOptions::on(database)
            .config(OFTEN)
            .with_short_retries(),
    )
    .await
}

/// People with a role in the organization of the server's key, and an admin of another one.
async fn people(server: &Server) -> [DashboardClient; 3] {
    let account = async |name: &str, organization: &str, role: &str| {
        let email = format!("{name}@example.com");
        let options = ["--organization", organization, "--org-role", role];
        DashboardClient::with_account(server, &email, &options).await
    };
    [
        account("admin", "demo", "admin").await,
        account("developer", "demo", "developer").await,
        account("stranger", "other", "admin").await,
    ]
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Checks that a page is only open to the organization, and that only its admin may send a form.
async fn check_roles(people: &[DashboardClient; 3], path: &str, form: &str) {
    let [admin, developer, stranger] = people;
    let action = format!("{path}/{form}");
    for (person, read, offers, change) in
        [(developer, 200, false, 403), (stranger, 404, false, 404)]
    {
        let page = person.get(path).await;
        assert_eq!(page.status, read, "{path}");
        assert_eq!(page.body.contains(&action), offers, "{path}");
        let reply = person.post(&action, &[]).await;
        assert_eq!(reply.status, change, "{action}: {}", reply.body);
    }
    let page = admin.get(path).await;
    assert_eq!(page.status, 200, "{path}");
    assert!(page.body.contains(&action), "{path}: {}", page.body);
    let question = admin.get(&format!("{path}?confirm={form}")).await;
    let button = format!("method=\"post\" action=\"{action}\"");
    assert!(question.body.contains(&button), "{}", question.body);
}

/// Checks that a list has the dialog of a change for the admin only.
async fn check_dialog(people: &[DashboardClient; 3], path: &str, button: &str) {
    for (person, has_dialog) in people.iter().zip([true, false, false]) {
        let page = person.get(path).await.body;
        assert_eq!(page.contains(button), has_dialog, "{path}: {page}");
    }
}

/// Follows the redirect of a form and returns the page.
async fn follow(person: &DashboardClient, reply: &PageReply) -> PageReply {
    assert_eq!(reply.status, 303, "{}", reply.body);
    person.get(reply.header("location")).await
}

async fn watch_shows_its_prices_and_is_canceled_by_an_admin(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let watch = client.watch_hotel("OK", 100.0, json!({})).await;
    let path = format!("/watches/{}", text(&watch["id"]));
    let people = people(&server).await;
    let [admin, ..] = &people;
    let shows = async |texts: &[&str]| {
        eventually(&format!("{texts:?} on {path}"), async || {
            let page = admin.get(&path).await;
            let is_shown = texts.iter().all(|text| page.body.contains(text));
            is_shown.then_some(())
        })
        .await;
    };
    shows(&["180.00 EUR", "100.00 EUR"]).await;
    set_price(&server.sandbox_url, "OK", 110.0).await;
    // Two different prices are a line.
    shows(&["180.00 EUR", "220.00 EUR", "<polyline"]).await;
    let list = admin.get("/watches?status=active&user=ada").await;
    assert_eq!((list.status, list.heading()), (200, "Watches"));
    for text in [path.as_str(), "<polyline", "220.00 EUR", "ada"] {
        assert!(list.body.contains(text), "{text}: {}", list.body);
    }
    let none = admin.get("/watches?status=canceled").await;
    assert!(!none.body.contains(&path));
    let [_, _, stranger] = &people;
    assert!(!stranger.get("/watches").await.body.contains(&path));
    check_dialog(&people, "/watches", "Cancel watch").await;

    check_roles(&people, &path, "cancel").await;
    let action = format!("{path}/cancel");
    let canceled = follow(admin, &admin.post(&action, &[]).await).await;
    assert!(canceled.body.contains("The watch is canceled."));
    assert!(canceled.body.contains("Canceled"));
    assert_eq!(client.read_watch(&watch["id"]).await["status"], "canceled");
    let again = follow(admin, &admin.post(&action, &[]).await).await;
    assert!(
        again.body.contains("nothing was canceled"),
        "{}",
        again.body
    );
    let log = server.command("audit", &["list", "--json"]).await;
    let canceled = log.lines().filter(|line| line.contains("watch.canceled"));
    let by_admin = canceled.filter(|line| line.contains("admin@example.com"));
    assert_eq!(by_admin.count(), 1, "{log}");
}

async fn mandate_shows_what_it_was_used_for(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    set_price(&server.sandbox_url, "OK", 500.0).await;
    let watch = client.armed_watch("OK", 200.0, "tok_visa").await;
    let path = format!("/mandates/{}", text(&watch["mandate_id"]));
    let [admin, ..] = people(&server).await;
    let unused = admin.get(&path).await;
    for text in ["200.00 EUR", "Nothing was bought", "Active"] {
        assert!(unused.body.contains(text), "{text}: {}", unused.body);
    }
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let bought = client
        .wait_for_watch_status(&watch["id"], "purchased")
        .await;
    let booking = text(&bought["booking_id"]);
    let used = admin.get(&path).await;
    let list = admin.get("/mandates?status=CONSUMED").await;
    assert_eq!((list.status, list.heading()), (200, "Mandates"));
    for page in [used, list] {
        for text in ["180.00 EUR", "200.00 EUR", &format!("/bookings/{booking}")] {
            assert!(page.body.contains(text), "{text}: {}", page.body);
        }
    }
    let refused = follow(&admin, &admin.post(&format!("{path}/revoke"), &[]).await).await;
    assert!(refused.body.contains("it was not revoked"));
    let page = admin.get(&format!("/watches/{}", text(&watch["id"]))).await;
    for link in [path.as_str(), &format!("/bookings/{booking}")] {
        assert!(page.body.contains(link), "{link}");
    }
}

async fn mandate_of_a_declined_purchase_shows_that_nothing_was_charged(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    set_price(&server.sandbox_url, "OK", 500.0).await;
    let watch = client.armed_watch("OK", 200.0, "tok_declined").await;
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let failed = "purchase_failed";
    client.wait_for_watch_status(&watch["id"], failed).await;
    let [admin, ..] = people(&server).await;
    let path = format!("/mandates/{}", text(&watch["mandate_id"]));
    for path in [path.as_str(), "/mandates"] {
        let page = admin.get(path).await;
        for text in ["180.00 EUR released", "Consumed, not charged"] {
            assert!(page.body.contains(text), "{text}: {}", page.body);
        }
    }
}

/// Issues a mandate of a user and returns its id.
async fn issue(client: &Client) -> String {
    let card = client.store_card("tok_visa").await;
    let body = json!({
        "user_id": "ada",
        "payment_amount": money(250.5, "EUR"),
        "payment_instrument": {"id": card, "type": "CARD"},
    });
    let issued = client.post("/v1/mandate", &body).await.expect(201);
    text(&issued.data()["id"]).to_owned()
}

async fn mandate_is_revoked_by_an_admin(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().user("ada");
    let id = issue(&client).await;
    let path = format!("/mandates/{id}");
    let people = people(&server).await;
    check_roles(&people, &path, "revoke").await;
    let [admin, _, stranger] = &people;
    assert!(!stranger.get("/mandates").await.body.contains(&id));
    check_dialog(&people, "/mandates", "Revoke mandate").await;
    for _ in 0..2 {
        let reply = admin.post(&format!("{path}/revoke"), &[]).await;
        let page = follow(admin, &reply).await;
        assert!(page.body.contains("The mandate is revoked."));
    }
    let read = client.get(&format!("/v1/mandate/{id}")).await.expect(200);
    assert_eq!(read.data()["status"], "REVOKED");
    let log = server.command("audit", &["list", "--json"]).await;
    assert_eq!(log.matches("mandate.revoked").count(), 1, "{log}");
    for unknown in ["/mandates/mnd_1", "/mandates/nonsense", "/watches/wtc_1"] {
        assert_eq!(admin.get(unknown).await.status, 404, "{unknown}");
    }
}

async fn disabled_webhook_of_watches_is_resumed_by_an_admin(database: Database) {
    let server = start(database).await;
    let webhook = WatcherWebhook::register(&server.client()).await;
    let disable = "UPDATE webhook_subscription SET status = 'DISABLED' WHERE product = 'watch'";
    server.try_edit(disable).await.unwrap();
    let people = people(&server).await;
    let [admin, developer, _] = &people;
    let path = format!("/webhooks/{}", webhook.id);
    let overview = admin.get("/").await;
    let link = format!("<a href=\"{path}\" data-row>Webhook disabled</a>");
    assert!(overview.body.contains(&link), "{}", overview.body);
    let advice = developer.get(&path).await.body;
    assert!(
        advice.contains("An admin of the organization can resume"),
        "{advice}"
    );
    check_roles(&people, &path, "resume").await;
    // Programs register the endpoint, so nothing else of it can be changed here.
    for form in ["pause", "rotate", "delete", "test"] {
        let reply = admin.post(&format!("{path}/{form}"), &[]).await;
        assert_eq!(reply.status, 403, "{form}: {}", reply.body);
    }
    let resumed = admin.post(&format!("{path}/resume"), &[]).await;
    assert_eq!(resumed.status, 303, "{}", resumed.body);
    let page = admin.get(&path).await.body;
    assert!(page.contains(">Active</span>"), "{page}");
    assert!(!page.contains("/resume"), "{page}");
    let overview = admin.get("/").await.body;
    assert!(!overview.contains("Webhook disabled"), "{overview}");
}
