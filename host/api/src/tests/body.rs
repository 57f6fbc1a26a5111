use super::*;

const PATH: &str = "/test/bkg_1/stays";

#[tokio::test]
async fn valid_request_returns_201() {
    let server = Server::start().await;
    let reply = server
        .post(
            PATH,
            stay_with(json!({ "nationality": "GB", "max_total": 12.5, "board": "HALF_BOARD" })),
        )
        .await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    assert_eq!(reply.body["data"]["stay"]["max_total"], json!(12.5));
    assert_eq!(reply.header("content-type"), "application/json");
    assert!(reply.header("x-request-id").starts_with("req_"));
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    let server = Server::start().await;
    let body = stay_with(json!({
        "check_in": "2026-11-01", "check_out": "2026-10-01", "rooms": [{ "adults": 9, "pets": 1 }, { "adults": 1, "nights": 300 }, { "adults": 1 }],
        "typo": 1, "note": "\u{0}bcdef",
    }));
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("content-type", "application/json; charset=utf-8"),
    ];
    let reply = server
        .send(Method::POST, "/test/x/stays?page=1", &headers, body.into())
        .await;
    assert_eq!(reply.status, 400);
    let expected = [
        "body /note control_character",
        "body /note too_long",
        "body /rooms too_many",
        "body /rooms/0/adults too_large",
        "body /rooms/0/pets unknown_field",
        "body /typo unknown_field",
        "query /page unknown_field",
        "header /x-idempotency-key required",
        "path /id pattern",
    ];
    assert_eq!(reply.violations(), expected);
    assert_eq!(reply.body["detail"], "9 fields are not valid");
}

#[tokio::test]
async fn custom_rules_are_checked_in_addition_to_schema() {
    let server = Server::start().await;
    let dates = json!({ "check_in": "2026-11-20", "check_out": "2026-11-20", "typo": 1, "note": "toolong" });
    let reply = server.post(PATH, stay_with(dates)).await;
    let expected = [
        "body /check_in past",
        "body /check_out after_check_in",
        "body /note too_long",
        "body /typo unknown_field",
    ];
    assert_eq!(reply.violations(), expected);
}

#[tokio::test]
async fn invalid_body_value_is_reported_at_its_pointer() {
    let server = Server::start().await;
    for (members, violation) in [
        (json!({ "check_in": "2026-13-01" }), "body /check_in format"),
        (json!({ "check_in": "20261201" }), "body /check_in format"),
        (json!({ "check_in": 20_261_201 }), "body /check_in type"),
        (json!({ "check_in": null }), "body /check_in type"),
        (json!({ "currency": "QQQ" }), "body /currency not_allowed"),
        (json!({ "currency": "eur" }), "body /currency not_allowed"),
        (
            json!({ "nationality": "UK" }),
            "body /nationality not_allowed",
        ),
        (json!({ "nationality": ["GB"] }), "body /nationality type"),
        (json!({ "board": "TENT" }), "body /board not_allowed"),
        (json!({ "rooms": [] }), "body /rooms too_few"),
        (json!({ "rooms": "one" }), "body /rooms type"),
        (
            json!({ "rooms": [{ "adults": 1.5 }] }),
            "body /rooms/0/adults type",
        ),
        (
            json!({ "rooms": [{ "adults": -1 }] }),
            "body /rooms/0/adults too_small",
        ),
        (
            json!({ "rooms": [{ "adults": 99_999_999_999_u64 }] }),
            "body /rooms/0/adults too_large",
        ),
        (
            json!({ "rooms": [{ "adults": 1, "nights": 300 }] }),
            "body /rooms/0/nights invalid",
        ),
        (json!({ "rooms": [{}] }), "body /rooms/0/adults required"),
        (json!({ "max_total": "12" }), "body /max_total type"),
        (json!({ "max_total": 1e300 }), "body /max_total too_large"),
        (json!({ "max_total": 1e-300 }), "body /max_total invalid"),
        (json!({ "note": "" }), "body /note too_short"),
        (json!({ "a/b~c": 1 }), "body /a~1b~0c unknown_field"),
    ] {
        let reply = server.post(PATH, stay_with(members.clone())).await;
        assert_eq!(
            (reply.status.as_u16(), reply.violations()),
            (400, vec![violation.to_owned()]),
            "{members}: {}",
            reply.body
        );
    }
}

#[tokio::test]
async fn non_json_body_is_rejected_before_validation() {
    let server = Server::start().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        "{",
        "nonsense",
        "{} {}",
        r#"{"note": "\ud800"}"#,
        r#"{"max_total": 1e999}"#,
        r#"{"note": "a", "note": "b"}"#,
        &deep,
    ] {
        let reply = server.post(PATH, body).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code()),
            (400, "malformed_json"),
            "{:.40}",
            body
        );
    }
    let reply = server.post(PATH, vec![b'"', 0xff, b'"']).await;
    assert_eq!(reply.code(), "malformed_json");
    for body in ["[]", "1", "null", "\"x\""] {
        assert_eq!(
            server.post(PATH, body).await.violations(),
            ["body  type"],
            "{body}"
        );
    }
    assert_eq!(server.post(PATH, "").await.violations(), ["body  required"]);
}

#[tokio::test]
async fn body_with_wrong_content_type_or_excessive_size_is_rejected() {
    let server = Server::start().await;
    let send = async |kind: &str, body: Vec<u8>| {
        server
            .send(
                Method::POST,
                PATH,
                &[("x-api-key", server.key.as_str()), ("content-type", kind)],
                body,
            )
            .await
    };
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let reply = send(kind, b"{}".to_vec()).await;
        assert_eq!(
            (reply.status.as_u16(), reply.code()),
            (415, "unsupported_media_type"),
            "{kind}"
        );
    }
    for (encoding, status) in [("gzip", 415), ("identity", 400)] {
        let headers = [
            ("x-api-key", server.key.as_str()),
            ("content-type", "application/json"),
            ("content-encoding", encoding),
        ];
        let reply = server
            .send(Method::POST, PATH, &headers, b"{}".to_vec())
            .await;
        assert_eq!(reply.status.as_u16(), status, "{encoding}");
    }
    let largest = format!("\"{}\"", "a".repeat((1 << 20) - 2));
    assert_eq!(
        send("application/json", largest.clone().into_bytes())
            .await
            .status,
        400
    );
    let reply = send("application/json", format!("{largest} ").into_bytes()).await;
    assert_eq!(
        (reply.status.as_u16(), reply.code()),
        (413, "body_too_large")
    );
}

#[tokio::test]
async fn fingerprint_depends_on_path_and_values_but_not_member_order() {
    let server = Server::start().await;
    let fingerprint = async |path: &str, body: &str| {
        let reply = server.post(path, body).await;
        reply.body["data"]["fingerprint"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let one = fingerprint(PATH, r#"{"check_in":"2026-12-01","check_out":"2026-12-03","rooms":[{"adults":2,"nights":1}],"currency":"EUR"}"#).await;
    let same = fingerprint(PATH, r#"{ "currency":"EUR", "rooms":[{"nights":1, "adults":2}], "check_out":"2026-12-03", "check_in":"2026-12-01" }"#).await;
    assert_eq!(one, same);
    let whole = fingerprint(PATH, r#"{"check_in":"2026-12-01","check_out":"2026-12-03","rooms":[{"adults":2.0,"nights":1e0}],"currency":"EUR"}"#).await;
    assert_eq!(one, whole, "a number is the same however it is written");
    assert_ne!(
        one,
        fingerprint(
            "/test/bkg_2/stays",
            &stay_with(json!({ "rooms": [{ "adults": 2, "nights": 1 }] }))
        )
        .await
    );
    assert_ne!(one, fingerprint(PATH, &stay().to_string()).await);
}

#[tokio::test]
async fn idempotency_key_must_have_1_to_200_printable_characters() {
    let server = Server::start().await;
    let send = async |keys: &[&str]| {
        let mut headers = vec![
            ("x-api-key", server.key.as_str()),
            ("content-type", "application/json"),
        ];
        headers.extend(keys.iter().map(|key| ("x-idempotency-key", *key)));
        server
            .send(Method::POST, PATH, &headers, stay().to_string().into())
            .await
    };
    assert_eq!(send(&["a"]).await.status, 201);
    assert_eq!(send(&[&"a".repeat(200)]).await.status, 201);
    for wrong in [
        vec![""],
        vec![&*"a".repeat(201)],
        vec!["a", "b"],
        vec!["a\tb"],
        vec!["ä"],
    ] {
        assert_eq!(
            send(&wrong).await.violations(),
            ["header /x-idempotency-key pattern"],
            "{wrong:?}"
        );
    }
}

#[tokio::test]
async fn body_with_many_violations_returns_the_first_100() {
    let server = Server::start().await;
    let many = vec![json!({ "adults": "\u{0}" }); 20_000];
    let reply = server.post(PATH, stay_with(json!({ "rooms": many }))).await;
    assert_eq!(reply.violations().len(), 100);
    assert_eq!(
        reply.body["detail"],
        "40001 fields are not valid; the first 100 are named"
    );
}
