//! Webhooks and deliveries: managed, replayed and followed by people.

use serde_json::{Value, json};
use tests::{
    DashboardClient, Database, HotelBookingBuilder, MockResponse, MockServer, PageReply, Server,
    ServerOptions, Subscriber, Subscription, eventually, link_path, on_both_databases,
    verify_signatures,
};

on_both_databases!(
    webhook_is_created_tested_and_rotated,
    refused_form_shows_the_reason_and_stores_nothing,
    role_decides_what_may_be_done_with_a_webhook,
    personal_data_of_an_event_is_masked_until_it_is_revealed,
    matching_deliveries_are_replayed_in_bulk,
    bulk_replay_stays_within_the_roles,
    bulk_replay_is_audited_in_each_organization,
    events_of_a_change_are_those_that_were_just_chosen,
    test_event_of_a_paused_webhook_is_refused,
    role_is_judged_before_the_fields_of_a_form,
);

/// Deliveries fail after one retry.
const HURRIED: &str = "[webhooks]\nsubscription_retry_s = [1]\ntimeout_s = 5";

async fn member(server: &Server, role: &str) -> DashboardClient {
    let email = format!("{role}@example.com");
    let options = ["--organization", "demo", "--org-role", role];
    DashboardClient::with_account(server, &email, &options).await
}

/// Returns what is between a text and the next occurrence of another.
fn between<'a>(page: &'a PageReply, begin: &str, end: &str) -> &'a str {
    let rest = page.body.split_once(begin).map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once(end));
    text.unwrap_or_else(|| panic!("no {begin} on {}", page.body))
        .0
}

fn secret(page: &PageReply) -> &str {
    between(page, "data-testid=\"signing-secret\">", "<")
}

async fn create(admin: &DashboardClient, url: &str, description: &str) -> PageReply {
    let fields = [
        ("organization", "demo"),
        ("product", "hotel"),
        ("url", url),
        ("events", "*"),
        ("description", description),
    ];
    let created = admin.post("/webhooks", &fields).await;
    assert_eq!(created.status, 200, "{}", created.body);
    created
}

fn id_in_heading(page: &PageReply) -> String {
    let heading = page.heading();
    heading.strip_prefix("Webhook ").unwrap().to_owned()
}

/// Sends a test event and waits until its delivery has a status. Returns the page of the delivery.
async fn send_test_event(person: &DashboardClient, webhook: &str, status: &str) -> PageReply {
    let sent = person.post(&format!("/webhooks/{webhook}/test"), &[]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let (path, _) = sent.header("location").split_once('?').unwrap();
    eventually(&format!("the test event to be {status}"), async || {
        let page = person.get(path).await;
        page.body
            .contains(&format!(">{status}</span> · ping"))
            .then_some(page)
    })
    .await
}

async fn webhook_is_created_tested_and_rotated(database: Database) {
    let server = Server::start(database).await;
    let admin = member(&server, "admin").await;
    let upstream = MockServer::start().await;
    upstream.on("POST /hook", |_| MockResponse::empty(204));
    let url = format!("{}/hook", upstream.url);
    let created = create(&admin, &url, "<b>our shop</b>").await;
    let (id, first) = (id_in_heading(&created), secret(&created).to_owned());
    let list = admin.get("/webhooks").await;
    assert_eq!(list.heading(), "Webhooks");
    assert!(list.body.contains(&url) && !list.body.contains("<b>our shop"));
    let page = admin.get(&format!("/webhooks/{id}")).await;
    assert!(!page.body.contains(&first), "the secret is shown once");

    let delivery = send_test_event(&admin, &id, "Delivered").await;
    assert!(delivery.heading().starts_with("Delivery dlv_"));
    let [received] = &upstream.received()[..] else {
        panic!("one event is received")
    };
    assert_eq!(verify_signatures(received, &[&first]), [true]);
    let signature = received.header("webhook-signature").unwrap();
    let shown = signature.replace('+', "&#43;");
    let is_shown = delivery.body.contains(signature) || delivery.body.contains(&shown);
    assert!(is_shown, "{signature}: {}", delivery.body);

    let rotated = admin.post(&format!("/webhooks/{id}/rotate"), &[]).await;
    assert_eq!(rotated.status, 200, "{}", rotated.body);
    let second = secret(&rotated).to_owned();
    send_test_event(&admin, &id, "Delivered").await;
    let received = upstream.received();
    let last = received.last().unwrap();
    assert_eq!(verify_signatures(last, &[&first, &second]), [true, true]);

    let done = admin.post(&format!("/webhooks/{id}/pause"), &[]).await;
    assert_eq!(done.status, 303);
    let replay = delivery
        .heading()
        .strip_prefix("Delivery ")
        .unwrap()
        .to_owned();
    let refused = admin
        .post(&format!("/deliveries/{replay}/replay"), &[])
        .await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("not active"));
    admin.post(&format!("/webhooks/{id}/resume"), &[]).await;
    let done = admin
        .post(&format!("/deliveries/{replay}/replay"), &[])
        .await;
    assert_eq!(done.status, 303, "{}", done.body);
    eventually("the replayed event", async || {
        (upstream.received().len() == 3).then_some(())
    })
    .await;
    let done = admin.post(&format!("/webhooks/{id}/delete"), &[]).await;
    assert_eq!(done.status, 303);
    assert_eq!(admin.get(&format!("/webhooks/{id}")).await.status, 404);
    let log = admin.get("/audit").await;
    for action in [
        "webhook.created",
        "webhook.secret_rotated",
        "webhook.paused",
        "delivery.replayed",
    ] {
        assert!(log.body.contains(action), "{action}: {}", log.body);
    }
}

async fn refused_form_shows_the_reason_and_stores_nothing(database: Database) {
    let server = Server::start(database).await;
    let admin = member(&server, "admin").await;
    let long = "x".repeat(501);
    let good = [
        ("organization", "demo"),
        ("product", "hotel"),
        ("url", "https://shop.example/hook"),
        ("events", "*"),
        ("description", ""),
    ];
    for (field, value, says) in [
        ("url", "", "Enter a URL"),
        ("url", "ftp://shop.example/", "This URL is not allowed"),
        (
            "events",
            "flight.booking.created",
            "Choose events of the webhook",
        ),
        ("events", "nothing", "Choose events of the webhook"),
        ("product", "watch", "Choose a product"),
        ("description", long.as_str(), "at most 500"),
    ] {
        let fields = good.map(|(name, kept)| (name, if name == field { value } else { kept }));
        let reply = admin.post("/webhooks", &fields).await;
        assert_eq!(reply.status, 422, "{field}={value}: {}", reply.body);
        assert!(reply.body.contains(says), "{field}={value}: {}", reply.body);
    }
    let list = admin.get("/webhooks").await;
    assert!(list.body.contains("No webhooks yet"));
}

async fn role_decides_what_may_be_done_with_a_webhook(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    let subscription = &subscriber.subscription;
    let operator = DashboardClient::set_up(&server, "ada@example.com").await;
    let options = ["--organization", "other", "--org-role", "admin"];
    let stranger = DashboardClient::with_account(&server, "x@example.com", &options).await;
    let viewer = member(&server, "viewer").await;
    let developer = member(&server, "developer").await;
    let delivery = subscription.ping_until(&client, "DELIVERED").await;
    let id = delivery["id"].as_str().unwrap();
    let event = delivery["event"]["id"].as_str().unwrap();
    let webhook = format!("/webhooks/{}", subscription.id);
    let (delivery, event) = (format!("/deliveries/{id}"), format!("/events/{event}"));
    let since = [("since", "2026-01-01T00:00")];
    let (read, send) = (None, Some(&[][..]));
    for (path, fields, statuses) in [
        (webhook.clone(), read, [200, 200, 200, 404]),
        (format!("{webhook}?edit=1"), read, [403, 403, 200, 404]),
        (delivery.clone(), read, [200, 200, 200, 404]),
        (event.clone(), read, [200, 200, 200, 404]),
        (format!("{webhook}/test"), send, [403, 303, 303, 404]),
        (
            format!("{webhook}/recover"),
            Some(&since),
            [403, 303, 303, 404],
        ),
        (format!("{delivery}/replay"), send, [403, 303, 303, 404]),
        (format!("{delivery}/reveal"), send, [403, 403, 200, 404]),
        (format!("{event}/reveal"), send, [403, 403, 200, 404]),
        (webhook.clone(), Some(&[("url", "")]), [403, 403, 422, 404]),
        (format!("{webhook}/pause"), send, [403, 403, 303, 404]),
        (format!("{webhook}/resume"), send, [403, 403, 303, 404]),
        (format!("{webhook}/rotate"), send, [403, 403, 200, 404]),
        (format!("{webhook}/delete"), send, [403, 403, 303, 404]),
    ] {
        // The operator comes last, because nothing is left of a webhook that is deleted.
        for (person, status) in [
            (&stranger, statuses[3]),
            (&viewer, statuses[0]),
            (&developer, statuses[1]),
            (&operator, statuses[2]),
        ] {
            // A delivery that is being sent is not replayed.
            subscription
                .wait_for_delivery_status(&client, id, "DELIVERED")
                .await;
            let reply = match fields {
                None => person.get(&path).await,
                Some(fields) => person.post(&path, fields).await,
            };
            assert_eq!(reply.status, status, "{path}: {}", reply.body);
        }
    }
}

async fn personal_data_of_an_event_is_masked_until_it_is_revealed(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    // The receiver sends back what it receives.
    subscriber.respond_with(|request| MockResponse::json(200, &request.body));
    HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let received = subscriber
        .wait_for_events("hotel.booking.confirmed", 1)
        .await;
    assert!(received[0].text.contains("Lovelace"));
    let event = received[0].header("webhook-id").unwrap().to_owned();
    let delivery = received[0].header("svc-delivery-id").unwrap().to_owned();
    let (admin, viewer) = (
        member(&server, "admin").await,
        member(&server, "viewer").await,
    );
    let developer = member(&server, "developer").await;
    for path in [
        format!("/events/{event}"),
        format!("/deliveries/{delivery}"),
    ] {
        let page = eventually("the attempt", async || {
            let page = viewer.get(&path).await;
            (page.status == 200 && page.body.contains("Delivered")).then_some(page)
        })
        .await;
        for personal in ["Lovelace", "ada@example.org", "2079460000"] {
            assert!(!page.body.contains(personal), "{path}: {}", page.body);
        }
        assert!(page.body.contains("CONFIRMED"), "{}", page.body);
        let revealed = admin.post(&format!("{path}/reveal"), &[]).await;
        assert_eq!(revealed.status, 200);
        assert!(revealed.body.contains("Lovelace"), "{}", revealed.body);
    }
    let page = developer.get(&format!("/deliveries/{delivery}")).await.body;
    let (attempts, payload) = page.split_once("id=\"payload-title\"").unwrap();
    assert!(attempts.contains("Lovelace"), "the response: {attempts}");
    assert!(!payload.contains("Lovelace"), "{payload}");
    for header in ["content-type: application/json", "user-agent: stopover/"] {
        assert!(attempts.contains(header), "{header}: {attempts}");
    }
    let log = admin.get("/audit?action=event.revealed").await;
    assert!(log.body.contains(&event), "{}", log.body);
}

/// Waits until the latest bulk replay has ended and returns the page.
async fn wait_for_bulk_replay(person: &DashboardClient) -> PageReply {
    eventually("the bulk replay to end", async || {
        let page = person.get("/deliveries").await;
        page.body.contains(">Finished</span>").then_some(page)
    })
    .await
}

async fn replays_without_a_match_are_refused(developer: &DashboardClient) {
    for (field, value) in [("status", "none"), ("event", "none"), ("from", "soon")] {
        let refused = developer
            .post("/deliveries/replay", &[(field, value)])
            .await;
        assert_eq!(refused.status, 409, "{field}: {}", refused.body);
        assert!(
            refused.body.contains("Nothing was replayed"),
            "{}",
            refused.body
        );
    }
    let nothing = developer
        .post("/deliveries/replay", &[("event", "payment.failed")])
        .await;
    assert_eq!(nothing.status, 409);
    assert!(nothing.body.contains("No delivery matches"));
}

async fn matching_deliveries_are_replayed_in_bulk(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let client = server.client();
    let (broken, good) = (
        Subscriber::start(&client).await,
        Subscriber::start(&client).await,
    );
    let paused = Subscriber::start(&client).await;
    for subscriber in [&broken, &paused] {
        subscriber.respond_with(|_| MockResponse::empty(500));
        for _ in 0..2 {
            subscriber.subscription.ping_until(&client, "FAILED").await;
        }
    }
    good.subscription.ping_until(&client, "DELIVERED").await;
    paused
        .subscription
        .post(&client, "/pause")
        .await
        .expect(200);
    broken.respond_with(|_| MockResponse::empty(204));
    let developer = member(&server, "developer").await;
    let attempts = broken.upstream.received().len();
    let overview = developer.get("/").await.body;
    let link = format!(
        "<a href=\"/webhooks/{}\" data-row>Webhook failing</a>",
        broken.subscription.id
    );
    assert!(overview.contains(&link), "{overview}");
    assert_eq!(
        overview.matches("Webhook failing").count(),
        1,
        "one is paused"
    );
    replays_without_a_match_are_refused(&developer).await;
    let begun = developer
        .post("/deliveries/replay", &[("status", "FAILED")])
        .await;
    assert_eq!(
        (begun.status, begun.header("location")),
        (303, "/deliveries?status=FAILED")
    );
    let page = wait_for_bulk_replay(&developer).await;
    assert!(
        page.body.contains("2 of 4 replayed, 2 skipped"),
        "{}",
        page.body
    );
    eventually("the replayed events", async || {
        (broken.upstream.received().len() == attempts + 2).then_some(())
    })
    .await;
    assert_eq!(good.upstream.received().len(), 1, "it was not replayed");
    let admin = member(&server, "admin").await;
    let log = admin.get("/audit?action=bulk_replay.started").await;
    assert!(log.body.contains("developer@example.com"), "{}", log.body);
}

/// An entry without an organization would be seen by operators only.
async fn bulk_replay_is_audited_in_each_organization(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(HURRIED)).await;
    let client = server.client();
    let subscriber = Subscriber::start(&client).await;
    subscriber.respond_with(|_| MockResponse::empty(500));
    subscriber.subscription.ping_until(&client, "FAILED").await;
    let role = |organization| ["--organization", organization, "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "a@example.com", &role("acme")).await;
    let person = member(&server, "admin").await;
    let fields = [
        ("organization", "acme"),
        ("email", "admin@example.com"),
        ("role", "developer"),
    ];
    let invited = admin.post("/members", &fields).await;
    let link = link_path(invited.test_id("invite-link")).to_owned();
    let accepted = person.post(&format!("{link}/accept"), &[]).await;
    assert_eq!(accepted.status, 303, "{}", accepted.body);
    let log = async |admin: &DashboardClient, organization: &str| {
        let path = format!("/audit/export?organization={organization}");
        let export = admin.get(&path).await.body;
        let entries = export
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let of_replays = |entry: &Value| entry["action"] == "bulk_replay.started";
        entries.filter(of_replays).collect::<Vec<Value>>()
    };
    let begun = person
        .post("/deliveries/replay", &[("status", "FAILED")])
        .await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    for (admin, organization) in [(&admin, "acme"), (&person, "demo")] {
        let entries = log(admin, organization).await;
        assert_eq!(entries.len(), 1, "{organization}: {entries:?}");
        assert_eq!(entries[0]["after"]["organizations"], json!([organization]));
    }
    wait_for_bulk_replay(&person).await;
    // The webhook of a filter belongs to one organization, also for an operator.
    let options = ["--role", "operator"];
    let operator = DashboardClient::with_account(&server, "op@example.com", &options).await;
    let webhook = [("webhook", subscriber.subscription.id.as_str())];
    let begun = operator.post("/deliveries/replay", &webhook).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    assert_eq!(log(&admin, "acme").await.len(), 1);
    assert_eq!(log(&person, "demo").await.len(), 2);
}

async fn bulk_replay_stays_within_the_roles(database: Database) {
    let server = Server::start(database).await;
    let client = server.client_for("acme").await;
    let upstream = MockServer::start().await;
    upstream.on("POST /hook", |_| MockResponse::empty(204));
    let webhook = Subscription::create(&client, &format!("{}/hook", upstream.url)).await;
    webhook.ping_until(&client, "DELIVERED").await;
    let viewer = member(&server, "viewer").await;
    let developer = member(&server, "developer").await;
    for (person, fields, status) in [
        (&viewer, &[("status", "DELIVERED")][..], 403),
        (&developer, &[("status", "DELIVERED")], 409),
        (&developer, &[("webhook", webhook.id.as_str())], 409),
        (&developer, &[("organization", "acme")], 404),
        (&developer, &[("webhook", "x")], 409),
    ] {
        let reply = person.post("/deliveries/replay", fields).await;
        assert_eq!(reply.status, status, "{fields:?}: {}", reply.body);
    }
    for (person, is_offered) in [(&viewer, false), (&developer, true)] {
        let page = person.get("/deliveries").await.body;
        let offered = ["Replay all matching", "Nothing is filtered"];
        assert_eq!(offered.map(|text| page.contains(text)), [is_offered; 2]);
    }
    let options = ["--role", "operator"];
    let operator = DashboardClient::with_account(&server, "ada@example.com", &options).await;
    let fields = [("status", "DELIVERED"), ("organization", "acme")];
    let begun = operator.post("/deliveries/replay", &fields).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let page = wait_for_bulk_replay(&operator).await;
    assert!(page.body.contains("1 of 1 replayed"), "{}", page.body);
    assert!(
        !developer
            .get("/deliveries")
            .await
            .body
            .contains("Your replay")
    );
    eventually("the replayed delivery", async || {
        (upstream.received().len() == 2).then_some(())
    })
    .await;
}

async fn events_of_a_change_are_those_that_were_just_chosen(database: Database) {
    let server = Server::start(database).await;
    let admin = member(&server, "admin").await;
    let viewer = member(&server, "viewer").await;
    let upstream = MockServer::start().await;
    let url = format!("{}/hook", upstream.url);
    let created = create(&admin, &url, "").await;
    let list = "q=hook&status=ACTIVE";
    let path = format!("/webhooks/{}", id_in_heading(&created));
    let (one, all) = (("events", "hotel.booking.created"), ("events", "*"));
    let events = |page: &PageReply| between(page, "<dt>Events</dt>", "</dd>").to_owned();
    for (chosen, stored) in [
        (&[one][..], "hotel.booking.created"),
        // What was not stored before was just chosen.
        (&[all, one], "All events"),
        (&[one, all], "hotel.booking.created"),
        (&[all], "All events"),
    ] {
        let fields = [&[("url", url.as_str())], chosen].concat();
        let refused = viewer.post(&path, &fields).await;
        assert_eq!(refused.status, 403, "{chosen:?}: {}", refused.body);
        let reply = admin.post(&format!("{path}?{list}"), &fields).await;
        assert_eq!(reply.status, 303, "{chosen:?}: {}", reply.body);
        let shown = format!("{path}?{list}&done=webhook-changed");
        assert_eq!(reply.header("location"), shown);
        let shown = events(&admin.get(&path).await);
        assert!(shown.contains(stored), "{chosen:?}: {shown}");
    }
    // The page of a row carries the filter of the list on, and the deletion leads back to it.
    let page = admin.get(&format!("{path}?{list}")).await;
    let question = format!("data-action=\"{path}/delete?q=hook&#38;status=ACTIVE\"");
    assert!(page.body.contains(&question), "{}", page.body);
    let deleted = admin.post(&format!("{path}/delete?{list}"), &[]).await;
    let back = "/webhooks?q=hook&status=ACTIVE&done=webhook-deleted";
    assert_eq!(deleted.header("location"), back);
}

async fn test_event_of_a_paused_webhook_is_refused(database: Database) {
    let server = Server::start(database).await;
    let admin = member(&server, "admin").await;
    let upstream = MockServer::start().await;
    upstream.on("POST /hook", |_| MockResponse::empty(204));
    let created = create(&admin, &format!("{}/hook", upstream.url), "").await;
    let id = id_in_heading(&created);
    let path = format!("/webhooks/{id}");
    assert_eq!(admin.post(&format!("{path}/pause"), &[]).await.status, 303);
    let refused = admin.post(&format!("{path}/test"), &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("Resume it first"), "{}", refused.body);
    assert_eq!(admin.post(&format!("{path}/resume"), &[]).await.status, 303);
    send_test_event(&admin, &id, "Delivered").await;
    assert_eq!(upstream.received().len(), 1, "nothing was sent before");
}

async fn role_is_judged_before_the_fields_of_a_form(database: Database) {
    let server = Server::start(database).await;
    let admin = member(&server, "admin").await;
    let people = [
        member(&server, "viewer").await,
        member(&server, "developer").await,
    ];
    let options = ["--organization", "other", "--org-role", "admin"];
    let stranger = DashboardClient::with_account(&server, "x@example.com", &options).await;
    let created = create(&admin, "https://127.0.0.1:9/hook", "").await;
    let recover = format!("/webhooks/{}/recover", id_in_heading(&created));
    let list = admin.get("/members").await;
    let account = between(&list, "href=\"/members/demo/", "\"").to_owned();
    let role = format!("/members/demo/{account}/role");
    let none: &[(&str, &str)] = &[];
    let in_demo = ("organization", "demo");
    // The statuses of the viewer, the developer, the admin and the admin of another organization.
    for (path, fields, statuses) in [
        (recover.as_str(), none, [403, 422, 422, 404]),
        (&recover, &[("since", "soon")], [403, 422, 422, 404]),
        (
            "/deliveries/replay",
            &[("status", "bogus"), in_demo],
            [403, 409, 409, 404],
        ),
        (role.as_str(), none, [403, 403, 422, 404]),
        (&role, &[("role", "owner")], [403, 403, 422, 404]),
        (
            "/members/demo/acc_1/role",
            &[("role", "owner")],
            [403, 403, 404, 404],
        ),
        (
            "/members",
            &[("email", "no address"), in_demo],
            [403, 403, 422, 404],
        ),
        (
            "/webhooks",
            &[("product", "none"), in_demo],
            [403, 403, 422, 404],
        ),
        ("/keys", &[("mode", "none"), in_demo], [403, 422, 422, 404]),
    ] {
        let [viewer, developer] = &people;
        let people = [viewer, developer, &admin, &stranger];
        for (person, status) in people.into_iter().zip(statuses) {
            let reply = person.post(path, fields).await;
            assert_eq!(reply.status, status, "{path} {fields:?}: {}", reply.body);
        }
    }
    let page = admin.post(&role, &[("role", "owner")]).await;
    let problem = between(&page, "id=\"role-problem\">", "</p>");
    assert!(problem.contains("Choose a role"), "{problem}");
}
