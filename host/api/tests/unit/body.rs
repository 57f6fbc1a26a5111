use super::*;

const PATH: &str = "/test/bkg_1/stays";

#[tokio::test]
async fn valid_request_returns_201() {
    let server = Server::start().await;
    let stay = json!({ "nationality": "GB", "max_total": 12.5, "board": "HALF_BOARD" });
    let reply = server.post(PATH, stay_with(stay)).await;
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
        .send(Method::POST, "/test/x/stays?page=1", &headers, body)
        .await;
    assert_eq!(reply.status, 400);
    let expected = [
        "body /check_in past",
        "body /check_out after_check_in",
        "body /note control_character",
        "body /note too_long",
        "body /rooms too_many",
        "body /rooms/0/adults too_large",
        "body /rooms/0/pets unknown_field",
        "body /rooms/1/nights invalid",
        "body /typo unknown_field",
        "query /page unknown_field",
        "header /x-idempotency-key required",
        "path /id pattern",
    ];
    assert_eq!(reply.violations(), expected);
    assert_eq!(reply.body["detail"], "11 fields are not valid");
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
    let table = r#"
        {"check_in": "2026-13-01"} => body /check_in format
        {"check_in": "20261201"} => body /check_in format
        {"check_in": 20261201} => body /check_in type
        {"currency": "QQQ"} => body /currency not_allowed
        {"currency": "eur"} => body /currency not_allowed
        {"nationality": "UK"} => body /nationality not_allowed
        {"nationality": ["GB"]} => body /nationality type
        {"board": "TENT"} => body /board not_allowed
        {"rooms": []} => body /rooms too_few
        {"rooms": "one"} => body /rooms type
        {"rooms": [{"adults": 1.5}]} => body /rooms/0/adults type
        {"rooms": [{"adults": -1}]} => body /rooms/0/adults too_small
        {"rooms": [{"adults": 99999999999}]} => body /rooms/0/adults too_large
        {"rooms": [{"adults": 1, "nights": 300}]} => body /rooms/0/nights invalid
        {"rooms": [{}]} => body /rooms/0/adults required
        {"max_total": "12"} => body /max_total type
        {"max_total": 1e300} => body /max_total too_large
        {"max_total": 1e-300} => body /max_total invalid
        {"note": ""} => body /note too_short
        {"a/b~c": 1} => body /a~1b~0c unknown_field
    "#;
    for (members, violations) in cases(table) {
        let body = stay_with(serde_json::from_str(&members).unwrap());
        let reply = server.post(PATH, body).await;
        assert_eq!(reply.violations(), violations, "{members}: {}", reply.body);
        assert_eq!(reply.status, 400, "{members}");
    }
    let body = stay().to_string().replace("\"2026-12-01\"", "null");
    assert_eq!(
        server.post(PATH, body).await.violations(),
        ["body /check_in type"]
    );
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
        assert_eq!(reply.problem(), (400, "malformed_json"), "{body:.40}");
    }
    let reply = server.post(PATH, vec![b'"', 0xff, b'"']).await;
    assert_eq!(reply.code(), "malformed_json");
    for body in ["[]", "1", "null", "\"x\""] {
        let reply = server.post(PATH, body).await;
        assert_eq!(reply.violations(), ["body  type"], "{body}");
    }
    assert_eq!(server.post(PATH, "").await.violations(), ["body  required"]);
}

#[tokio::test]
async fn body_with_wrong_content_type_or_excessive_size_is_rejected() {
    let server = Server::start().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let headers = [("x-api-key", server.key.as_str()), ("content-type", kind)];
        let reply = server.send(Method::POST, PATH, &headers, "{}").await;
        assert_eq!(reply.problem(), (415, "unsupported_media_type"), "{kind}");
    }
    for (encoding, status) in [("gzip", 415), ("identity", 400)] {
        let reply = server
            .post_with(PATH, &[("content-encoding", encoding)], "{}")
            .await;
        assert_eq!(reply.status, status, "{encoding}");
    }
    let largest = format!("\"{}\"", "a".repeat((1 << 20) - 2));
    assert_eq!(
        server.post_with(PATH, &[], largest.as_str()).await.status,
        400
    );
    let reply = server.post_with(PATH, &[], format!("{largest} ")).await;
    assert_eq!(reply.problem(), (413, "body_too_large"));
}

#[tokio::test]
async fn fingerprint_depends_on_path_and_values_but_not_member_order() {
    let server = Server::start().await;
    let fingerprint = async |path: &str, body: &str| {
        let reply = server.post(path, body).await;
        reply.body["data"]["fingerprint"].to_string()
    };
    let one = fingerprint(PATH, r#"{"check_in":"2026-12-01","check_out":"2026-12-03","rooms":[{"adults":2,"nights":1}],"currency":"EUR"}"#).await;
    let same = fingerprint(PATH, r#"{ "currency":"EUR", "rooms":[{"nights":1, "adults":2}], "check_out":"2026-12-03", "check_in":"2026-12-01" }"#).await;
    assert_eq!(one, same);
    let whole = fingerprint(PATH, r#"{"check_in":"2026-12-01","check_out":"2026-12-03","rooms":[{"adults":2.0,"nights":1e0}],"currency":"EUR"}"#).await;
    assert_eq!(one, whole, "a number is the same however it is written");
    let same = stay_with(json!({ "rooms": [{ "adults": 2, "nights": 1 }] }));
    assert_ne!(one, fingerprint("/test/bkg_2/stays", &same).await);
    assert_ne!(one, fingerprint(PATH, &stay().to_string()).await);
}

#[tokio::test]
async fn idempotency_key_must_have_1_to_200_printable_characters() {
    let server = Server::start().await;
    let send = async |keys: &[&str]| {
        let headers: Vec<_> = keys.iter().map(|key| ("x-idempotency-key", *key)).collect();
        server.post_with(PATH, &headers, stay().to_string()).await
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
        let reply = send(&wrong).await;
        assert_eq!(
            reply.violations(),
            ["header /x-idempotency-key pattern"],
            "{wrong:?}"
        );
    }
}

#[tokio::test]
async fn body_with_many_violations_returns_the_first_100() {
    let server = Server::start().await;
    let names = (0..20_000).map(|number| (format!("u{number}"), json!(0)));
    let many: serde_json::Map<String, Value> = names.collect();
    let reply = server.post(PATH, stay_with(Value::Object(many))).await;
    assert_eq!(reply.violations().len(), 100);
    assert_eq!(
        reply.body["detail"],
        "more than 100 violations; the first 100 are named"
    );
}

#[tokio::test]
async fn equal_violations_do_not_hide_others() {
    let server = Server::start().await;
    // A response shows the first 200 characters of a name.
    let long = "u".repeat(200);
    let names = (0..3_000).map(|number| (format!("{long}{number}"), json!(0)));
    let mut many: serde_json::Map<String, Value> = names.collect();
    many.insert("board".to_owned(), json!(1));
    many.insert("zzz".to_owned(), json!(1));
    let reply = server.post(PATH, stay_with(Value::Object(many))).await;
    let unknown = format!("body /{long} unknown_field");
    let expected = ["body /board type", &unknown, "body /zzz unknown_field"];
    assert_eq!(reply.violations(), expected);
    assert_eq!(reply.body["detail"], "3 fields are not valid");
}

#[tokio::test]
async fn items_above_the_limit_of_their_array_are_not_judged() {
    let server = Server::start().await;
    let many = vec![json!({ "adults": "\u{0}" }); 20_000];
    let reply = server.post(PATH, stay_with(json!({ "rooms": many }))).await;
    let expected = [
        "body /rooms too_many",
        "body /rooms/0/adults control_character",
        "body /rooms/0/adults type",
        "body /rooms/1/adults control_character",
        "body /rooms/1/adults type",
    ];
    assert_eq!(reply.violations(), expected);
    assert_eq!(reply.body["detail"], "3 fields are not valid");
}
