//! Handlers that do not end by their deadline.

use super::*;
use crate::problem::ChangeOperation;
use crate::supplier;
use std::future::pending;

/// Search endlessly
#[utoipa::path(post, path = "/test/endless-searches", tag = "Test", responses((status = 200, description = "Never.")))]
pub(super) async fn search_endlessly(
    State(_app): State<Arc<Application>>,
    Context(_caller): Context,
    Validated(()): Validated<()>,
) -> ApiResult<String> {
    pending().await
}

/// Book endlessly
#[utoipa::path(post, path = "/test/endless-bookings", tag = "Test", responses((status = 200, description = "Never.")))]
pub(super) async fn book_endlessly(
    State(_app): State<Arc<Application>>,
    Context(_caller): Context,
    Validated(()): Validated<()>,
) -> ApiResult<String> {
    pending().await
}

fn endless_operations() -> RouteTable {
    let book = route!(book_endlessly).changing(ChangeOperation::BookOrCancel);
    vec![
        (
            Some(ApiKeyScope::Read),
            vec![route!(supplier::list_suppliers), route!(search_endlessly)],
        ),
        (Some(ApiKeyScope::Book), vec![book]),
    ]
}

#[tokio::test]
async fn change_that_does_not_end_in_time_has_an_unknown_outcome() {
    let mut server = Server::start().await;
    server.router = build_router(&server.state, endless_operations);
    // The key is in memory from now on, so that the time only passes while handlers run.
    assert_eq!(server.get("/v1/suppliers").await.status, 200);
    tokio::time::pause();
    for (path, problem, is_retryable, words) in [
        (
            "/test/endless-bookings",
            (500, "result_unknown"),
            false,
            "read the booking until its status",
        ),
        (
            "/test/endless-searches",
            (504, "supplier_timeout"),
            true,
            "Nothing was changed",
        ),
    ] {
        let reply = server.post(path, "").await;
        assert_eq!(reply.problem(), problem, "{path}");
        assert_eq!(reply.body["retryable"], is_retryable, "{path}");
        let detail = reply.body["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{path}: {detail}");
    }
    let stranger = server
        .send(Method::POST, "/test/endless-bookings", &[], "")
        .await;
    assert_eq!(stranger.problem(), (401, "missing_api_key"));
}

#[test]
fn operations_change_something_unless_their_scope_is_read() {
    for (scope, routes) in route_table() {
        for route in routes {
            let is_changing = route.is_changing();
            let operation = route.into_operation(scope);
            let (method, path) = (operation.method.as_str(), operation.path);
            let expected = match scope {
                Some(ApiKeyScope::Read) => false,
                Some(_) => true,
                None => method != "get",
            };
            assert_eq!(is_changing, expected, "{method} {path}");
        }
    }
}
