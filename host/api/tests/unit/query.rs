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
    let reply = server.get("/test/stays?q=123").await;
    assert_eq!(reply.body["data"]["q"], "123");
}

#[tokio::test]
async fn invalid_query_parameters_are_reported_at_their_pointer() {
    let server = Server::start().await;
    let table = "
        limit=0 => query /limit too_small
        limit=101 => query /limit too_large
        limit=99999999999999999999999 => query /limit too_large
        limit=1.5 => query /limit type
        limit= => query /limit type
        limit=%31%30&limit=10 => query /limit duplicate
        refundable=yes => query /refundable type
        max_total=1e999 => query /max_total type
        max_total=NaN => query /max_total type
        board=TENT => query /board not_allowed
        q=a => query /q too_short
        q=a%00b => query /q control_character
        q=%ff%fe => query  format
        q=%zz => query  format
        page=1&limit=0 => query /limit too_small, query /page unknown_field
        q=null =>
    ";
    for (query, violations) in cases(table) {
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
    assert_eq!(reply.status, 400);
    assert_eq!(reply.violations(), ["query  too_many"]);
}

#[tokio::test]
async fn invalid_path_ids_are_rejected() {
    let server = Server::start().await;
    let reply = server.get("/test/bkg_0-a/stays").await;
    assert_eq!(reply.body["data"], "bkg_0-a");
    let long = format!("bkg_{}", "a".repeat(125));
    for wrong in ["bkg_", "room_1", "bkg_%00", "bkg_a%2Fb", &long] {
        let reply = server.get(&format!("/test/{wrong}/stays")).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert_eq!(reply.violations(), ["path /id pattern"], "{wrong}");
    }
    assert_eq!(server.get("/test/%ff/stays").await.status, 400);
}

#[tokio::test]
async fn router_errors_return_problem_responses() {
    let server = Server::start().await;
    for path in ["/nowhere", "/v1/nowhere", "/docs/nowhere", "//", "/v1/"] {
        let reply = server.get(path).await;
        assert_eq!(reply.problem(), (404, "not_found"), "{path}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
    }
    let reply = server.send(Method::PUT, "/test/bkg_1/stays", &[], "").await;
    assert_eq!(reply.problem(), (405, "method_not_allowed"));
    let mut allowed: Vec<&str> = reply.header("allow").split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "POST"]);
    let headers = [("x-api-key", server.key.as_str()), ("accept", "text/html")];
    let reply = server.get_with("/v1/suppliers", &headers).await;
    assert_eq!(reply.problem(), (406, "not_acceptable"));
}

#[tokio::test]
async fn panic_returns_internal_error_without_details() {
    let server = Server::start().await;
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("x-request-id", "panicking"),
    ];
    let reply = server.get_with("/test/panic", &headers).await;
    assert_eq!(reply.problem(), (500, "internal_error"));
    assert_eq!(reply.header("x-request-id"), "panicking");
    assert_eq!(reply.body["request_id"], "panicking");
    assert!(!reply.body.to_string().contains("secret"));
}
