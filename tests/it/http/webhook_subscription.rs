//! Tests of webhook subscriptions: creating, changing, pausing, deleting, and isolation between
//! organizations.

use super::resource_assertions::{check_names, check_refused_get, ids, violations};
use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    Client, Database, Server, ServerOptions, Subscription, eventually, on_both_databases,
    subscriptions, unresponsive_server,
};

on_both_databases!(
    subscription_is_created_changed_paused_and_deleted,
    repeated_subscription_call_with_one_key_is_done_once,
    subscription_of_another_organization_mode_or_product_returns_404,
    deliveries_are_listed_newest_first,
    hundred_and_first_subscription_is_refused,
);

/// A URL to which nothing is sent, because the tests create no booking.
const URL: &str = "https://shop.example/webhooks";

async fn subscription_is_created_changed_paused_and_deleted(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (product, event_type) in [
        ("hotel", "hotel.booking.confirmed"),
        ("flight", "flight.booking.airline_change"),
    ] {
        let all = subscriptions(product);
        let types = json!([event_type, "payment.captured"]);
        let body = json!({"url": URL, "event_types": types, "description": "shop"});
        let mut made = client.post(&all, &body).await.expect(201).data().clone();
        let members = ["id", "status", "url", "event_types", "description"];
        let times = ["created_at", "updated_at", "previous_secret_expires_at"];
        let names = [&members[..], &times, &["signing_secret"]].concat();
        check_names(product, &made, &names, &[]);
        let secret = made.as_object_mut().unwrap().remove("signing_secret");
        let secret = secret.as_ref().and_then(Value::as_str).unwrap();
        assert_eq!((&secret[..6], secret.len()), ("whsec_", 50));
        assert_eq!(made["status"], "ACTIVE");
        assert_eq!(made["event_types"], types);
        assert_eq!(made["previous_secret_expires_at"], Value::Null);
        let path = format!("{all}/{}", made["id"].as_str().unwrap());
        let read = client.get(&path).await.expect(200);
        assert_eq!(read.data(), &made, "the secret is not returned again");

        let second = Subscription::of(product, &client, URL).await;
        let listed = client.get(&all).await.expect(200);
        let expected = [made["id"].as_str().unwrap(), &second.id];
        assert_eq!(ids(listed.data()), expected);
        let pagination = json!({"limit": 25, "offset": 0, "has_more": false, "total": 2});
        assert_eq!(listed.body["meta"]["pagination"], pagination);
        assert!(!listed.body.to_string().contains("whsec_"));
        let paged = client.get(&format!("{all}?limit=1&offset=1")).await;
        assert_eq!(ids(paged.expect(200).data()), [&second.id]);
        check_changes(&client, &path, &made).await;
        client.delete(&path).await.expect(204);
        let again = client.delete(&path).await;
        again.expect_problem(404, "subscription_not_found");
        check_refused_get(&client, &path, 404, "subscription_not_found").await;
        let listed = client.get(&all).await.expect(200);
        assert_eq!(ids(listed.data()), [&second.id]);
    }
}

/// Changes, pauses and resumes a subscription.
async fn check_changes(client: &Client, path: &str, made: &Value) {
    let change = async |fields: &Value| {
        let body = fields.to_string().into_bytes();
        let changed = client.send(Method::PATCH, path, Some(body)).await;
        changed.expect(200)
    };
    let unchanged = change(&json!({})).await;
    assert_eq!(unchanged.data(), made, "an empty change changes nothing");
    let fields =
        json!({"url": "https://other.example/", "event_types": ["*"], "description": null});
    let changed = change(&fields).await;
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(changed.data()[name], *value, "{name}");
    }
    assert_ne!(changed.data()["updated_at"], made["updated_at"]);
    assert_eq!(client.get(path).await.data(), changed.data());
    for (verb, status) in [
        ("pause", "PAUSED"),
        ("pause", "PAUSED"),
        ("resume", "ACTIVE"),
    ] {
        let moved = client.post(&format!("{path}/{verb}"), &json!({})).await;
        assert_eq!(moved.expect(200).data()["status"], status);
    }
}

#[tokio::test]
async fn call_without_parameters_accepts_no_body_or_an_empty_one() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let subscription = Subscription::create(&client, URL).await;
    for (verb, status) in [
        ("pause", 200),
        ("resume", 200),
        ("rotate-secret", 200),
        ("test", 202),
    ] {
        let path = subscription.path(&format!("/{verb}"));
        for body in [None, Some(Vec::new()), Some(b"{}".to_vec())] {
            client.send(Method::POST, &path, body).await.expect(status);
        }
        for body in [json!({"force": true}), json!([]), json!(null)] {
            let refused = client.post(&path, &body).await;
            refused.expect_problem(400, "validation_failed");
        }
    }
}

#[tokio::test]
async fn invalid_subscription_request_names_every_violation() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (product, types, expected) in [
        ("hotel", &[][..], " too_few"),
        ("hotel", &["hotel.booking.sold"], "/0 not_allowed"),
        (
            "hotel",
            &["ping", "flight.booking.created"],
            "/1 not_allowed",
        ),
        ("hotel", &["Hotel!"], "/0 not_allowed"),
        ("hotel", &["*", "*"], "/1 duplicate"),
        ("flight", &["hotel.booking.created"], "/0 not_allowed"),
        (
            "flight",
            &["travel.hotel.watch.triggered"],
            "/0 not_allowed",
        ),
    ] {
        let body = json!({"url": URL, "event_types": types});
        let refused = client.post(&subscriptions(product), &body).await;
        let expected = format!("/event_types{expected}");
        assert_eq!(violations(refused), expected, "{product}: {types:?}");
    }
    for (body, expected) in [
        (json!({"event_types": ["*"]}), "/url required"),
        (json!({"url": URL}), "/event_types required"),
        (
            json!({"url": URL, "event_types": ["*"], "secret": "x"}),
            "/secret unknown_field",
        ),
        (
            json!({"url": URL, "event_types": ["*"], "description": "x".repeat(501)}),
            "/description too_long",
        ),
        (
            json!({"url": URL, "event_types": ["zz", "*", "*"], "foo": 1}),
            "/event_types/0 not_allowed, /event_types/2 duplicate, /foo unknown_field",
        ),
        (
            json!({"foo": 1, "event_types": ["x"], "description": 4}),
            "/description type, /event_types/0 not_allowed, /foo unknown_field, /url required",
        ),
    ] {
        let refused = client.post(&subscriptions("flight"), &body).await;
        assert_eq!(violations(refused), expected);
    }
    let subscription = Subscription::create(&client, URL).await;
    let change = json!({"event_types": ["flight.booking.created"], "foo": 1});
    let refused = subscription.change(&client, &change).await;
    let expected = "/event_types/0 not_allowed, /foo unknown_field";
    assert_eq!(violations(refused), expected);
    check_invalid_delivery_requests(&client, &subscription).await;
    for path in ["/bkg_1", "/whs_1/deliveries/1"] {
        let path = format!("{}{path}", subscriptions("hotel"));
        check_refused_get(&client, &path, 400, "validation_failed").await;
    }
    check_refused_get(&client, &subscriptions("train"), 404, "not_found").await;
}

async fn check_invalid_delivery_requests(client: &Client, subscription: &Subscription) {
    for (query, expected) in [
        ("limit=0", "limit too_small"),
        ("limit=101", "limit too_large"),
        ("offset=100001", "offset too_large"),
        ("status=LOST", "status not_allowed"),
        ("order=asc", "order unknown_field"),
    ] {
        let path = subscription.path(&format!("/deliveries?{query}"));
        assert_eq!(violations(client.get(&path).await), format!("/{expected}"));
    }
    for (body, code) in [
        (json!({}), "required"),
        (json!({"since": "yesterday"}), "format"),
        (json!({"since": "2026-11-21T10:00:00"}), "format"),
    ] {
        let refused = client.post(&subscription.path("/recover"), &body).await;
        assert_eq!(violations(refused), format!("/since {code}"));
    }
}

#[tokio::test]
async fn subscription_to_non_public_address_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let test = server.client();
    let live = server.client_with("demo", &["--mode", "live"]).await;
    let never = [
        "ftp://shop.example/",
        "nonsense",
        "https://shop.example/#part",
        "https://user:secret@shop.example/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://0x0a000001/",
        "https://intranet/",
        "https://printer.local/",
        "https://*.example.com/",
        "https://-bad-.com/",
        "https://exam%00ple.com/",
    ];
    let local = [
        "http://shop.example/",
        "http://127.0.0.1:1/",
        "https://localhost/",
        "https://[::1]/",
    ];
    let own = Subscription::create(&test, URL).await;
    for (client, urls) in [(&test, &never[..]), (&live, &never), (&live, &local)] {
        for url in urls {
            let body = json!({"url": url, "event_types": ["*"]});
            let refused = client.post(&subscriptions("hotel"), &body).await;
            let refused = refused.expect_problem(422, "url_not_allowed");
            assert!(!refused.body.to_string().contains("secret"));
        }
    }
    for url in never {
        let refused = own.change(&test, &json!({"url": url})).await;
        refused.expect_problem(422, "url_not_allowed");
    }
    for url in local {
        let _accepted = Subscription::create(&test, url).await;
    }
    let listed = live.get(&subscriptions("hotel")).await.expect(200);
    let none = "subscriptions of the other mode are not listed";
    assert_eq!(listed.data(), &json!([]), "{none}");
}

#[tokio::test]
async fn subscription_calls_require_their_scope() {
    let server = Server::start(Database::Sqlite).await;
    let with = async |scopes: &str| {
        let options = ["--mode", "test", "--scopes", scopes];
        server.client_with("demo", &options).await
    };
    let (reader, writer) = (with("read").await, with("webhooks").await);
    let subscription = Subscription::create(&writer, URL).await;
    let _read = subscription.read(&reader).await;
    let own = subscription.path("");
    for (client, method, path) in [
        (&writer, Method::GET, ""),
        (&writer, Method::GET, "/deliveries"),
        (&writer, Method::GET, "/deliveries/dlv_1"),
        (&reader, Method::PATCH, ""),
        (&reader, Method::DELETE, ""),
        (&reader, Method::POST, "/pause"),
        (&reader, Method::POST, "/resume"),
        (&reader, Method::POST, "/rotate-secret"),
        (&reader, Method::POST, "/test"),
        (&reader, Method::POST, "/recover"),
        (&reader, Method::POST, "/deliveries/dlv_1/replay"),
    ] {
        let refused = client.send(method, &format!("{own}{path}"), None).await;
        refused.expect_problem(403, "insufficient_scope");
    }
    let body = json!({"url": URL, "event_types": ["*"]});
    let refused = reader.post(&subscriptions("flight"), &body).await;
    refused.expect_problem(403, "insufficient_scope");
}

async fn subscription_of_another_organization_mode_or_product_returns_404(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let subscription = Subscription::create(&client, URL).await;
    let delivery = subscription.ping(&client).await;
    let other = server.client_for("somebody-else").await;
    let live = server.client_with("demo", &["--mode", "live"]).await;
    let own = subscription.path("");
    let of_flights = own.replace("/hotel/", "/flight/");
    let one = format!("/deliveries/{delivery}");
    let replay = format!("{one}/replay");
    for (client, own) in [(&other, &own), (&live, &own), (&client, &of_flights)] {
        for (method, path, body) in [
            (Method::GET, "", ""),
            (Method::PATCH, "", r#"{"url": "https://10.0.0.1/"}"#),
            (Method::DELETE, "", ""),
            (Method::POST, "/pause", ""),
            (Method::POST, "/resume", ""),
            (Method::POST, "/rotate-secret", ""),
            (Method::POST, "/test", ""),
            (Method::POST, "/recover", r#"{"since": "2026-11-21"}"#),
            (Method::GET, "/deliveries", ""),
            (Method::GET, &one, ""),
            (Method::POST, &replay, ""),
        ] {
            let path = format!("{own}{path}");
            let refused = client.send(method, &path, Some(body.into())).await;
            let refused = refused.expect_problem(404, "subscription_not_found");
            assert!(!refused.body.to_string().contains("shop.example"));
        }
    }
    let listed = other.get(&subscriptions("hotel")).await.expect(200);
    assert_eq!(listed.data(), &json!([]));
    let second = Subscription::create(&client, URL).await;
    for path in [second.path(&one), second.path("/deliveries/dlv_1")] {
        check_refused_get(&client, &path, 404, "delivery_not_found").await;
    }
    let seen = subscription.read(&client.user("ada")).await;
    assert_eq!(seen, subscription.read(&client).await);
}

async fn repeated_subscription_call_with_one_key_is_done_once(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let keyed = client.header("x-idempotency-key", "k-1");
    let subscription = Subscription::create(&keyed, URL).await;
    let create = async |types: Value| {
        let body = json!({"url": URL, "event_types": types});
        keyed.post(&subscriptions("hotel"), &body).await
    };
    let again = create(json!(["*"])).await.expect(200);
    assert_eq!(again.data()["id"], subscription.id);
    assert!(again.data().get("signing_secret").is_none());
    let reused = create(json!(["ping"])).await;
    reused.expect_problem(422, "idempotency_key_reused");
    // The same key can be used with every operation.
    let path = subscription.path("/rotate-secret");
    let rotated = keyed.post(&path, &json!({})).await.expect(200);
    assert!(rotated.data()["signing_secret"].is_string());
    let again = keyed.send(Method::POST, &path, None).await.expect(200);
    assert!(again.data().get("signing_secret").is_none());
    let rotated_at = &rotated.data()["updated_at"];
    assert_eq!(again.data()["updated_at"], *rotated_at, "rotated once");
    let sent = subscription.post(&keyed, "/test").await.expect(202);
    let again = subscription.post(&keyed, "/test").await.expect(202);
    assert_eq!(again.data()["id"], sent.data()["id"]);
    assert_eq!(again.data()["event"], sent.data()["event"]);
    // The replay of the pause does not pause again.
    for (client, verb, status) in [
        (&keyed, "/pause", "PAUSED"),
        (&client, "/resume", "ACTIVE"),
        (&keyed, "/pause", "ACTIVE"),
    ] {
        let reply = subscription.post(client, verb).await.expect(200);
        assert_eq!(reply.data()["status"], status, "{verb}");
    }
}

async fn deliveries_are_listed_newest_first(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let (_silence, url) = unresponsive_server();
    let subscription = Subscription::create(&client, &url).await;
    subscription.post(&client, "/pause").await.expect(200);
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(subscription.ping(&client).await);
    }
    sent.reverse();
    let all = subscription.deliveries(&client, "").await;
    assert_eq!(ids(all.data()), sent);
    let pagination = json!({"limit": 25, "offset": 0, "has_more": false, "total": 5});
    assert_eq!(all.body["meta"]["pagination"], pagination);
    let first = &all.data()[0];
    let members = ["id", "status", "event", "attempts", "replay_count"];
    let times = ["created_at", "published_at", "delivered_at", "failed_at"];
    let names = [&members[..], &times, &["failure_reason"]].concat();
    check_names("delivery", first, &names, &[]);
    assert_eq!(*first, subscription.delivery(&client, &sent[0]).await);
    assert_eq!(first["status"], "PENDING");
    assert_eq!(first["event"]["type"], "ping");
    assert_eq!(first["event"]["data"]["subscription_id"], subscription.id);
    for (query, expected, total, has_more) in [
        ("?limit=2", 0..2, 5, true),
        ("?limit=2&offset=3", 3..5, 5, false),
        ("?limit=5", 0..5, 5, false),
        ("?offset=5", 5..5, 5, false),
        ("?limit=100&offset=100000", 5..5, 5, false),
        ("?status=PENDING&limit=4", 0..4, 5, true),
        ("?status=PUBLISHED", 0..0, 0, false),
        ("?status=DELIVERED", 0..0, 0, false),
        ("?status=FAILED", 0..0, 0, false),
    ] {
        let page = subscription.deliveries(&client, query).await;
        assert_eq!(ids(page.data()), sent[expected], "{query}");
        let pagination = &page.body["meta"]["pagination"];
        assert_eq!(pagination["total"], total, "{query}");
        assert_eq!(pagination["has_more"], has_more, "{query}");
    }
    subscription.post(&client, "/resume").await.expect(200);
    eventually("all deliveries to be published", async || {
        let published = subscription.deliveries(&client, "?status=PUBLISHED").await;
        (ids(published.data()) == sent).then_some(())
    })
    .await;
}

async fn hundred_and_first_subscription_is_refused(database: Database) {
    let options =
        ServerOptions::on(database).config("[limits]\nrequests_per_s = 1000\nburst = 1000");
    let server = Server::start_with(options).await;
    let client = server.client();
    for _ in 0..99 {
        Subscription::create(&client, URL).await;
    }
    let last = Subscription::create(&client, URL).await;
    let body = json!({"url": URL, "event_types": ["*"]});
    let refused = client.post(&subscriptions("hotel"), &body).await;
    let refused = refused.expect_problem(400, "validation_failed");
    assert_eq!(refused.body["errors"][0]["code"], "too_many_subscriptions");
    let _of_another_product = Subscription::of("flight", &client, URL).await;
    client.delete(&last.path("")).await.expect(204);
    let _in_its_place = Subscription::create(&client, URL).await;
}
