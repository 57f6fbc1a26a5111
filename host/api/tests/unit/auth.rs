use super::*;

async fn with_key(server: &Server, key: &str) -> Reply {
    server
        .get_with("/v1/suppliers", &[("x-api-key", key)])
        .await
}

#[tokio::test]
async fn request_without_key_returns_missing_api_key_problem() {
    let server = Server::start().await;
    let reply = server
        .get_with("/v1/suppliers", &[("x-request-id", "abc-1")])
        .await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(reply.header("x-request-id"), "abc-1");
    let expected = json!({
        "type": "http://api.test/docs/errors/missing_api_key", "title": "An API key is required", "status": 401,
        "code": "missing_api_key", "detail": "The header x-api-key is missing.", "request_id": "abc-1",
        "retryable": false, "supplier": null,
    });
    assert_eq!(reply.body, expected);
}

#[tokio::test]
async fn malformed_unknown_revoked_and_expired_keys_return_the_same_error() {
    let server = Server::start().await;
    let (revoked, revoked_key) = server.make_key(&ApiKeyScope::DEFAULT, None).await;
    let now = server.app.clock.now();
    let keys = &server.app.api_key_service;
    assert!(keys.revoke(&Actor::system(), &revoked).await.unwrap());
    let (_, expiring) = server
        .make_key(&ApiKeyScope::DEFAULT, Some(now.plus_s(60)))
        .await;
    assert_eq!(with_key(&server, &expiring).await.status, 200);
    server.clock.advance_ms(60_000);
    let other = Server::start().await;
    let mut bodies = Vec::new();
    let longer = format!("{}x", server.key);
    for key in ["nonsense", "", &revoked_key, &expiring, &other.key, &longer] {
        let mut reply = with_key(&server, key).await;
        assert_eq!(reply.problem(), (401, "invalid_api_key"), "{key}");
        reply.body["request_id"] = Value::Null;
        bodies.push(reply.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn use_of_key_updates_last_used_at() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/suppliers").await.status, 200);
    server.app.tasks.begin_shutdown();
    let tasks = &server.app.tasks;
    assert!(tasks.wait_for_tasks(Duration::from_secs(5)).await);
    let keys = server.app.store.api_keys(Some("acme")).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(server.app.clock.now()));
}

#[tokio::test]
async fn user_defaults_to_organization_without_user_header() {
    let server = Server::start().await;
    let book = async |users: &[&str]| {
        let mut headers = vec![("x-idempotency-key", "k")];
        headers.extend(users.iter().map(|user| ("x-user-id", *user)));
        server
            .post_with("/test/bkg_1/stays", &headers, stay().to_string())
            .await
    };
    assert_eq!(book(&[]).await.body["data"]["user"], "org");
    let reply = book(&["ada@example.com"]).await;
    assert_eq!(reply.body["data"]["user"], "ada@example.com");
    for wrong in [
        vec!["a b"],
        vec![""],
        vec!["a", "b"],
        vec![&*"x".repeat(129)],
    ] {
        let reply = book(&wrong).await;
        assert_eq!(reply.status, 400);
        assert_eq!(
            reply.violations(),
            ["header /x-user-id pattern"],
            "{wrong:?}"
        );
    }
}

#[tokio::test]
async fn refused_request_carries_the_rate_limit_of_its_address() {
    let server = Server::with(&[("requests_per_s", 1), ("burst", 2)]).await;
    let refuse = |client: &str| {
        let status = StatusCode::URI_TOO_LONG;
        let response = server
            .state
            .refused_request(status, client.parse().unwrap());
        assert_eq!(response.status(), status);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("ratelimit-policy"), "\"default\";q=2;w=2");
        header("ratelimit")
    };
    assert_eq!(refuse("192.0.2.1"), "\"default\";r=1;t=1");
    assert_eq!(refuse("192.0.2.1"), "\"default\";r=0;t=2");
    assert_eq!(refuse("192.0.2.2"), "\"default\";r=1;t=1");
}

#[tokio::test]
async fn responses_carry_rate_limit_and_429_carries_retry_after() {
    let server = Server::with(&[("requests_per_s", 1), ("burst", 2)]).await;
    let replies = [
        server.get("/v1/suppliers").await,
        server.get("/nowhere").await,
        server.get("/v1/suppliers").await,
    ];
    let expected = [
        (200, "\"default\";r=1;t=1", ""),
        (404, "\"default\";r=0;t=2", ""),
        (429, "\"default\";r=0;t=2", "1"),
    ];
    for (reply, (status, rate_limit, retry_after)) in replies.iter().zip(expected) {
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("ratelimit"), rate_limit);
        assert_eq!(reply.header("retry-after"), retry_after);
        assert_eq!(reply.header("ratelimit-policy"), "\"default\";q=2;w=2");
    }
    assert_eq!(replies[2].code(), "rate_limited");
    assert_eq!(replies[2].body["retryable"], true);
    let (_, other) = server.make_key(&ApiKeyScope::DEFAULT, None).await;
    assert_eq!(with_key(&server, &other).await.status, 200);
}
