use super::*;

#[tokio::test]
async fn query_parameters_are_parsed_by_schema_type() {
    let server = Server::start().await;
    let reply = server
        .get("/test/stays?limit=5&refundable=true&max_total=12.5&board=ROOM_ONLY&q=a%20b%2B+c")
        .await;
    let expected = json!({ "limit": 5, "refundable": true, "max_total": 12.5, "board": "ROOM_ONLY", "q": "a b+ c" });
    assert_eq!(reply.body["data"], expected, "{}", reply.body);
    assert_eq!(server.get("/test/stays").await.body["data"]["limit"], 25);
    assert_eq!(
        server.get("/test/stays?q=123").await.body["data"]["q"],
        "123"
    );
}

#[tokio::test]
async fn invalid_query_parameters_are_reported_at_their_pointer() {
    let server = Server::start().await;
    for (query, violations) in [
        ("limit=0", vec!["query /limit too_small"]),
        ("limit=101", vec!["query /limit too_large"]),
        (
            "limit=99999999999999999999999",
            vec!["query /limit too_large"],
        ),
        ("limit=1.5", vec!["query /limit type"]),
        ("limit=", vec!["query /limit type"]),
        ("limit=%31%30&limit=10", vec!["query /limit duplicate"]),
        ("refundable=yes", vec!["query /refundable type"]),
        ("max_total=1e999", vec!["query /max_total type"]),
        ("max_total=NaN", vec!["query /max_total type"]),
        ("board=TENT", vec!["query /board not_allowed"]),
        ("q=a", vec!["query /q too_short"]),
        ("q=a%00b", vec!["query /q control_character"]),
        ("q=%ff%fe", vec!["query  format"]),
        ("q=%zz", vec!["query  format"]),
        (
            "page=1&limit=0",
            vec!["query /limit too_small", "query /page unknown_field"],
        ),
        ("q=null", vec![]),
    ] {
        let reply = server.get(&format!("/test/stays?{query}")).await;
        assert_eq!(reply.violations(), violations, "{query}: {}", reply.body);
    }
}

#[tokio::test]
async fn excessive_query_parameters_return_one_violation() {
    let server = Server::start().await;
    let many: String = (0..10_000).map(|number| format!("a{number}=&")).collect();
    let reply = server
        .get(&format!("/test/stays?{}", &many[..60_000]))
        .await;
    assert_eq!(
        (reply.status.as_u16(), reply.violations()),
        (400, vec!["query  too_many".to_owned()])
    );
}

#[tokio::test]
async fn invalid_path_ids_are_rejected() {
    let server = Server::start().await;
    assert_eq!(
        server.get("/test/bkg_0-a/stays").await.body["data"],
        "bkg_0-a"
    );
    for wrong in [
        "bkg_",
        "room_1",
        "bkg_%00",
        "bkg_a%2Fb",
        &format!("bkg_{}", "a".repeat(125)),
    ] {
        let reply = server.get(&format!("/test/{wrong}/stays")).await;
        assert_eq!(
            (reply.status.as_u16(), reply.violations()),
            (400, vec!["path /id pattern".to_owned()]),
            "{wrong}"
        );
    }
    assert_eq!(server.get("/test/%ff/stays").await.status, 400);
}

#[tokio::test]
async fn router_errors_return_problem_responses() {
    let server = Server::start().await;
    let reply = server.get("/nowhere").await;
    assert_eq!(
        (
            reply.status.as_u16(),
            reply.code(),
            reply.header("content-type")
        ),
        (404, "not_found", "application/problem+json")
    );
    let reply = server
        .send(Method::PUT, "/test/bkg_1/stays", &[], Vec::new())
        .await;
    assert_eq!(
        (reply.status.as_u16(), reply.code()),
        (405, "method_not_allowed")
    );
    let mut allowed: Vec<&str> = reply.header("allow").split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "GET", "HEAD", "POST"]);
    let headers = [("x-api-key", server.key.as_str()), ("accept", "text/html")];
    let reply = server
        .send(Method::GET, "/v1/suppliers", &headers, Vec::new())
        .await;
    assert_eq!(
        (reply.status.as_u16(), reply.code()),
        (406, "not_acceptable")
    );
}

#[tokio::test]
async fn panic_returns_internal_error_without_details() {
    let server = Server::start().await;
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("x-request-id", "panicking"),
    ];
    let reply = server
        .send(Method::GET, "/test/panic", &headers, Vec::new())
        .await;
    assert_eq!(
        (reply.status.as_u16(), reply.code()),
        (500, "internal_error")
    );
    assert_eq!(reply.header("x-request-id"), "panicking");
    assert_eq!(reply.body["request_id"], "panicking");
    assert!(!reply.body.to_string().contains("secret"));
}
