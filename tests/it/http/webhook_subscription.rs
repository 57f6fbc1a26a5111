//! Tests of webhook subscriptions: creating, changing, pausing, deleting, and isolation between
//! organizations.

use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    Client, Database, Reply, Server, ServerOptions, Subscription, eventually, on_both_databases,
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

async fn subscribe(client: &Client, product: &str, body: Value) -> Value {
    let reply = client.post(&subscriptions(product), &body).await;
    reply.expect(201).data().clone()
}

fn ids(listed: &Value) -> Vec<&str> {
    let all = listed.as_array().unwrap().iter();
    all.map(|one| one["id"].as_str().unwrap()).collect()
}

/// Returns pointer and code of every violation of a problem.
fn violations(refused: &Reply) -> String {
    let all = refused.body["errors"].as_array().unwrap().iter();
    let all = all.map(|one| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{} {}", text("pointer"), text("code"))
    });
    all.collect::<Vec<_>>().join(", ")
}

fn names(object: &Value) -> Vec<&str> {
    let members = object.as_object().unwrap().keys();
    members.map(String::as_str).collect()
}

#[expect(
    clippy::too_many_lines,
    reason = "the test follows one subscription from creation to deletion"
)]
async fn subscription_is_created_changed_paused_and_deleted(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (product, event_type) in [
        ("hotel", "hotel.booking.confirmed"),
        ("flight", "flight.booking.airline_change"),
    ] {
        let types = json!([event_type, "payment.captured"]);
        let body = json!({"url": URL, "event_types": types, "description": "shop"});
        let mut made = subscribe(&client, product, body).await;
        assert_eq!(
            names(&made),
            [
                "created_at",
                "description",
                "event_types",
                "id",
                "previous_secret_expires_at",
                "signing_secret",
                "status",
                "updated_at",
                "url"
            ]
        );
        let secret = made["signing_secret"].take();
        let secret = secret.as_str().unwrap();
        assert!(
            secret.starts_with("whsec_") && secret.len() == 50,
            "{secret}"
        );
        made.as_object_mut().unwrap().remove("signing_secret");
        let path = format!(
            "{}/{}",
            subscriptions(product),
            made["id"].as_str().unwrap()
        );
        assert_eq!(
            client.get(&path).await.expect(200).data(),
            &made,
            "the secret is not returned again"
        );
        assert_eq!(made["status"], "ACTIVE");
        assert_eq!(made["event_types"], types);
        assert_eq!(made["previous_secret_expires_at"], Value::Null);

        let second = subscribe(&client, product, json!({"url": URL, "event_types": ["*"]})).await;
        let second = second["id"].as_str().unwrap();
        let listed = client.get(&subscriptions(product)).await.expect(200);
        assert_eq!(ids(listed.data()), [made["id"].as_str().unwrap(), second]);
        assert_eq!(
            listed.body["meta"]["pagination"],
            json!({"limit": 25, "offset": 0, "has_more": false, "total": 2})
        );
        assert!(!listed.body.to_string().contains("whsec_"));
        let paged = format!("{}?limit=1&offset=1", subscriptions(product));
        assert_eq!(ids(client.get(&paged).await.expect(200).data()), [second]);

        let change = async |body: Value| {
            let body = body.to_string().into_bytes();
            client.send(Method::PATCH, &path, Some(body)).await
        };
        let unchanged = change(json!({})).await.expect(200);
        assert_eq!(unchanged.data(), &made, "an empty change changes nothing");
        let other =
            json!({"url": "https://other.example/", "event_types": ["*"], "description": null});
        let changed = change(other.clone()).await.expect(200);
        for name in names(&other) {
            assert_eq!(changed.data()[name], other[name], "{name}");
        }
        assert_ne!(changed.data()["updated_at"], made["updated_at"]);
        assert_eq!(client.get(&path).await.data(), changed.data());

        for (verb, status) in [
            ("pause", "PAUSED"),
            ("pause", "PAUSED"),
            ("resume", "ACTIVE"),
        ] {
            let moved = client.post(&format!("{path}/{verb}"), &json!({})).await;
            assert_eq!(moved.expect(200).data()["status"], status);
        }
        client.delete(&path).await.expect(204);
        client
            .delete(&path)
            .await
            .expect_problem(404, "subscription_not_found");
        client
            .get(&path)
            .await
            .expect_problem(404, "subscription_not_found");
        let listed = client.get(&subscriptions(product)).await.expect(200);
        assert_eq!(ids(listed.data()), [second]);
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

#[expect(clippy::too_many_lines, reason = "most lines are a table of cases")]
#[tokio::test]
async fn invalid_subscription_request_names_every_violation() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    let long = "x".repeat(501);
    let cases = [
        ("hotel", json!({"event_types": ["*"]}), "/url required"),
        ("hotel", json!({"url": URL}), "/event_types required"),
        (
            "hotel",
            json!({"url": URL, "event_types": []}),
            "/event_types too_few",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["hotel.booking.sold"]}),
            "/event_types/0 not_allowed",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["ping", "flight.booking.created"]}),
            "/event_types/1 not_allowed",
        ),
        (
            "flight",
            json!({"url": URL, "event_types": ["hotel.booking.created"]}),
            "/event_types/0 not_allowed",
        ),
        (
            "flight",
            json!({"url": URL, "event_types": ["travel.hotel.watch.triggered"]}),
            "/event_types/0 not_allowed",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["*", "*"]}),
            "/event_types/1 duplicate",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["Hotel!"]}),
            "/event_types/0 not_allowed",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["*"], "secret": "x"}),
            "/secret unknown_field",
        ),
        (
            "hotel",
            json!({"url": URL, "event_types": ["*"], "description": long}),
            "/description too_long",
        ),
        (
            "flight",
            json!({"url": URL, "event_types": ["zz", "*", "*"], "foo": 1}),
            "/event_types/0 not_allowed, /event_types/2 duplicate, /foo unknown_field",
        ),
        (
            "hotel",
            json!({"foo": 1, "event_types": ["x"], "description": 4}),
            "/description type, /event_types/0 not_allowed, /foo unknown_field, /url required",
        ),
    ];
    for (product, body, expected) in cases {
        let refused = client.post(&subscriptions(product), &body).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(violations(&refused), expected);
    }
    let subscription = Subscription::create(&client, URL).await;
    for (query, expected) in [
        ("limit=0", "/limit"),
        ("limit=101", "/limit"),
        ("offset=100001", "/offset"),
        ("status=LOST", "/status"),
        ("order=asc", "/order"),
    ] {
        let path = subscription.path(&format!("/deliveries?{query}"));
        let refused = client
            .get(&path)
            .await
            .expect_problem(400, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], expected);
    }
    let change = json!({"event_types": ["flight.booking.created"], "foo": 1}).to_string();
    let change = Some(change.into_bytes());
    let refused = client
        .send(Method::PATCH, &subscription.path(""), change)
        .await;
    let refused = refused.expect_problem(400, "validation_failed");
    assert_eq!(
        violations(&refused),
        "/event_types/0 not_allowed, /foo unknown_field"
    );
    for body in [
        json!({}),
        json!({"since": "yesterday"}),
        json!({"since": "2026-11-21T10:00:00"}),
    ] {
        let refused = client.post(&subscription.path("/recover"), &body).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/since");
    }
    for path in [
        "/v1/hotel/webhook-subscriptions/bkg_1",
        "/v1/hotel/webhook-subscriptions/whs_1/deliveries/1",
    ] {
        client
            .get(path)
            .await
            .expect_problem(400, "validation_failed");
    }
    client
        .get("/v1/train/webhook-subscriptions")
        .await
        .expect_problem(404, "not_found");
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
    for (client, urls) in [
        (&test, &never[..]),
        (&live, &never[..]),
        (&live, &local[..]),
    ] {
        for url in urls {
            let body = json!({"url": url, "event_types": ["*"]});
            let refused = client.post(&subscriptions("hotel"), &body).await;
            let refused = refused.expect_problem(422, "url_not_allowed");
            assert!(!refused.body.to_string().contains("secret"));
        }
    }
    for url in never {
        let body = json!({"url": url}).to_string().into_bytes();
        let refused = test.send(Method::PATCH, &own.path(""), Some(body)).await;
        refused.expect_problem(422, "url_not_allowed");
    }
    for url in local {
        let _taken = Subscription::create(&test, url).await;
    }
    let listed = live.get(&subscriptions("hotel")).await.expect(200);
    assert_eq!(
        listed.data(),
        &json!([]),
        "subscriptions of the other mode are not listed"
    );
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
    for path in ["", "/deliveries", "/deliveries/dlv_1"] {
        let refused = writer.get(&subscription.path(path)).await;
        refused.expect_problem(403, "insufficient_scope");
    }
    let posts = [
        "/pause",
        "/resume",
        "/rotate-secret",
        "/test",
        "/recover",
        "/deliveries/dlv_1/replay",
    ];
    for path in posts {
        let refused = reader.post(&subscription.path(path), &json!({})).await;
        refused.expect_problem(403, "insufficient_scope");
    }
    for method in [Method::PATCH, Method::DELETE] {
        let refused = reader.send(method, &subscription.path(""), None).await;
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
    let of_flights = subscription.path("").replace("/hotel/", "/flight/");
    let own = subscription.path("");
    for (client, own) in [(&other, &own), (&live, &own), (&client, &of_flights)] {
        let calls = [
            (Method::GET, "", None),
            (Method::PATCH, "", Some(json!({"url": "https://10.0.0.1/"}))),
            (Method::DELETE, "", None),
            (Method::POST, "/pause", None),
            (Method::POST, "/resume", None),
            (Method::POST, "/rotate-secret", None),
            (Method::POST, "/test", None),
            (
                Method::POST,
                "/recover",
                Some(json!({"since": "2026-11-21"})),
            ),
            (Method::GET, "/deliveries", None),
            (Method::GET, &format!("/deliveries/{delivery}"), None),
            (
                Method::POST,
                &format!("/deliveries/{delivery}/replay"),
                None,
            ),
        ];
        for (method, path, body) in calls {
            let body = body.map(|body| body.to_string().into_bytes());
            let refused = client.send(method, &format!("{own}{path}"), body).await;
            let refused = refused.expect_problem(404, "subscription_not_found");
            assert!(!refused.body.to_string().contains("shop.example"));
        }
    }
    let listed = other.get(&subscriptions("hotel")).await.expect(200);
    assert_eq!(listed.data(), &json!([]));
    let second = Subscription::create(&client, URL).await;
    for path in [
        second.path(&format!("/deliveries/{delivery}")),
        second.path("/deliveries/dlv_1"),
    ] {
        client
            .get(&path)
            .await
            .expect_problem(404, "delivery_not_found");
    }
    let user = client.user("ada");
    assert_eq!(
        subscription.read(&user).await,
        subscription.read(&client).await
    );
}

async fn repeated_subscription_call_with_one_key_is_done_once(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let keyed = client.header("x-idempotency-key", "k-1");
    let body = json!({"url": URL, "event_types": ["*"]});
    let first = keyed.post(&subscriptions("hotel"), &body).await.expect(201);
    let again = keyed.post(&subscriptions("hotel"), &body).await.expect(200);
    assert_eq!(again.data()["id"], first.data()["id"]);
    assert!(again.data().get("signing_secret").is_none());
    let other = json!({"url": URL, "event_types": ["ping"]});
    let reused = keyed.post(&subscriptions("hotel"), &other).await;
    reused.expect_problem(422, "idempotency_key_reused");
    let at = |verb: &str| {
        let id = first.data()["id"].as_str().unwrap();
        format!("{}/{id}{verb}", subscriptions("hotel"))
    };
    // The same key can be used with every operation.
    let rotated = keyed
        .post(&at("/rotate-secret"), &json!({}))
        .await
        .expect(200);
    assert!(rotated.data()["signing_secret"].is_string());
    let again = keyed
        .send(Method::POST, &at("/rotate-secret"), None)
        .await
        .expect(200);
    assert!(again.data().get("signing_secret").is_none());
    assert_eq!(
        again.data()["updated_at"],
        rotated.data()["updated_at"],
        "the secret is rotated once"
    );
    let sent = keyed.post(&at("/test"), &json!({})).await.expect(202);
    let again = keyed.post(&at("/test"), &json!({})).await.expect(202);
    assert_eq!(again.data()["id"], sent.data()["id"]);
    assert_eq!(again.data()["event"], sent.data()["event"]);

    assert_eq!(
        keyed
            .post(&at("/pause"), &json!({}))
            .await
            .expect(200)
            .data()["status"],
        "PAUSED"
    );
    assert_eq!(
        client
            .post(&at("/resume"), &json!({}))
            .await
            .expect(200)
            .data()["status"],
        "ACTIVE"
    );
    let late = keyed.post(&at("/pause"), &json!({})).await.expect(200);
    assert_eq!(
        late.data()["status"],
        "ACTIVE",
        "a replay does not pause again"
    );
}

#[expect(
    clippy::too_many_lines,
    reason = "the test checks every page and filter of one list"
)]
async fn deliveries_are_listed_newest_first(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let (_silence, url) = unresponsive_server();
    let subscription = Subscription::create(&client, &url).await;
    client
        .post(&subscription.path("/pause"), &json!({}))
        .await
        .expect(200);
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(subscription.ping(&client).await);
    }
    sent.reverse();
    let list = async |query: &str| {
        let path = subscription.path(&format!("/deliveries{query}"));
        client.get(&path).await.expect(200)
    };
    let all = list("").await;
    assert_eq!(ids(all.data()), sent);
    assert_eq!(
        all.body["meta"]["pagination"],
        json!({"limit": 25, "offset": 0, "has_more": false, "total": 5})
    );
    assert_eq!(
        names(&all.data()[0]),
        [
            "attempts",
            "created_at",
            "delivered_at",
            "event",
            "failed_at",
            "failure_reason",
            "id",
            "published_at",
            "replay_count",
            "status"
        ]
    );
    let first = subscription.delivery(&client, &sent[0]).await;
    assert_eq!(first, all.data()[0]);
    assert_eq!(first["status"], "PENDING");
    assert_eq!(first["event"]["type"], "ping");
    assert_eq!(
        first["event"]["data"]["subscription_id"],
        subscription.id.as_str()
    );
    for (query, from, to, has_more) in [
        ("?limit=2", 0, 2, true),
        ("?limit=2&offset=3", 3, 5, false),
        ("?limit=5", 0, 5, false),
        ("?offset=5", 5, 5, false),
        ("?limit=100&offset=100000", 5, 5, false),
        ("?status=PENDING&limit=4", 0, 4, true),
    ] {
        let page = list(query).await;
        assert_eq!(ids(page.data()), sent[from..to], "{query}");
        let pagination = &page.body["meta"]["pagination"];
        assert_eq!(
            (&pagination["total"], &pagination["has_more"]),
            (&json!(5), &json!(has_more))
        );
    }
    for status in ["PUBLISHED", "DELIVERED", "FAILED"] {
        let none = list(&format!("?status={status}")).await;
        assert_eq!(none.body["meta"]["pagination"]["total"], 0);
    }
    client
        .post(&subscription.path("/resume"), &json!({}))
        .await
        .expect(200);
    eventually("all deliveries to be published", async || {
        let taken = list("?status=PUBLISHED").await;
        (ids(taken.data()) == sent).then_some(())
    })
    .await;
}

async fn hundred_and_first_subscription_is_refused(database: Database) {
    let options =
        ServerOptions::on(database).config("[limits]\nrequests_per_s = 1000\nburst = 1000");
    let server = Server::start_with(options).await;
    let client = server.client();
    let body = json!({"url": URL, "event_types": ["*"]});
    let mut last = String::new();
    for _ in 0..100 {
        last = Subscription::create(&client, URL).await.path("");
    }
    let refused = client.post(&subscriptions("hotel"), &body).await;
    let refused = refused.expect_problem(400, "validation_failed");
    assert_eq!(refused.body["errors"][0]["code"], "too_many_subscriptions");
    let _of_another_product = Subscription::of("flight", &client, URL).await;
    client.delete(&last).await.expect(204);
    let _in_its_place = Subscription::create(&client, URL).await;
}
