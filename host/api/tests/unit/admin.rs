use super::*;
use crate::admin;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;

/// Returns the metrics of the test process.
fn metrics_handle() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets(&[1.0]).unwrap();
        builder.install_recorder().unwrap()
    })
}

fn listener(server: &Server) -> Router {
    admin::router(&admin::AdminState {
        application: Arc::clone(&server.app),
        base_url: server.app.base_url.clone(),
        allowed_hosts: ["Stopover.internal", "10.0.0.5", "FD00:0:0::5"]
            .map(str::to_owned)
            .into(),
        render_metrics: || metrics_handle().render(),
    })
}

/// Sends a request to the admin listener. Headers are given as `name: value`.
async fn send(
    admin: &Router,
    method: Method,
    path: &str,
    headers: &[&str],
    body: &str,
) -> Response {
    let mut request = Request::builder().method(method).uri(path);
    for header in headers {
        let (name, value) = header.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    let body = axum::body::Body::from(body.to_owned());
    let request = request.body(body).unwrap();
    admin.clone().oneshot(request).await.unwrap()
}

async fn text(response: Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await;
    String::from_utf8(bytes.unwrap().to_vec()).unwrap()
}

const LOCAL: &str = "host: localhost:8081";

#[tokio::test]
async fn admin_listener_serves_metrics_and_plugins() {
    metrics_handle();
    let server = Server::start().await;
    server.get("/v1/suppliers").await;
    let admin = listener(&server);
    let metrics = send(&admin, Method::GET, "/metrics", &[LOCAL], "").await;
    let metrics = text(metrics).await;
    for part in [
        "stopover_http_requests_total{method=\"GET\",route=\"/v1/suppliers\",status=\"200\"}",
        "stopover_http_request_duration_seconds_bucket",
    ] {
        assert!(metrics.contains(part), "{metrics}");
    }
    for (method, path, status) in [
        (Method::POST, "/plugins/NOBODY/reload", 404),
        (Method::GET, "/healthz", 200),
    ] {
        let reply = send(&admin, method, path, &[LOCAL], "").await;
        assert_eq!(reply.status(), status, "{path}");
    }
}

#[tokio::test]
async fn requests_to_other_hosts_and_from_web_pages_are_refused() {
    let server = Server::start().await;
    let admin = listener(&server);
    let table = [
        ("host: localhost:8081", 200),
        ("host: 127.0.0.1", 200),
        ("host: 127.1.2.3:8081", 200),
        ("host: [::1]:8081", 200),
        ("host: stopover.INTERNAL:8081", 200),
        ("host: 10.0.0.5:8081", 200),
        ("host: [::ffff:10.0.0.5]:8081", 200),
        ("host: [::FFFF:7f00:1]", 200),
        ("host: [fd00::5]:8081", 200),
        ("host: [FD00:0000::0:5]", 200),
        ("host: localhost:8081, origin: http://localhost:8081", 200),
        ("host: localhost:8081, sec-fetch-site: same-origin", 200),
        ("host: localhost:8081, sec-fetch-site: none", 200),
        ("", 403),
        ("host: evil.example:8081", 403),
        ("host: localhost.evil.example", 403),
        ("host: localhost@evil.example", 403),
        ("host: 10.0.0.6", 403),
        ("host: [fd00::6]:8081", 403),
        ("host: [::ffff:10.0.0.6]", 403),
        ("host: [::]:8081", 403),
        ("host: localhost, host: evil.example", 403),
        ("host: localhost:8081, origin: https://evil.example", 403),
        ("host: localhost:8081, origin: http://localhost:3000", 403),
        ("host: localhost:8081, origin: null", 403),
        ("host: localhost:8081, sec-fetch-site: cross-site", 403),
        ("host: localhost:8081, sec-fetch-site: same-site", 403),
    ];
    let changes = [
        (Method::GET, "/plugins", ""),
        (Method::POST, "/parked_jobs", "{}"),
        (Method::GET, "/metrics", ""),
    ];
    metrics_handle();
    for (headers, status) in table {
        for (method, path, body) in changes.clone() {
            let mut headers: Vec<&str> =
                headers.split(", ").filter(|one| !one.is_empty()).collect();
            if !body.is_empty() {
                headers.push("content-type: application/json");
            }
            let reply = send(&admin, method, path, &headers, body).await;
            assert_eq!(reply.status(), status, "{path} {headers:?}");
            if status == 403 {
                assert_eq!(reply.headers()["content-type"], "application/problem+json");
                let problem = text(reply).await;
                let code = if headers
                    .iter()
                    .any(|one| one.starts_with("host: localhost:8081"))
                {
                    "origin_not_allowed"
                } else {
                    "host_not_allowed"
                };
                assert!(problem.contains(code), "{headers:?} {problem}");
            }
        }
    }
}

#[tokio::test]
async fn bodies_of_other_types_than_json_are_refused() {
    let server = Server::start().await;
    let admin = listener(&server);
    let reload = "/plugins/NOBODY/reload";
    for (path, kind, body, status) in [
        ("/parked_jobs", Some("application/json"), "{}", 200),
        (
            "/parked_jobs",
            Some("application/json; charset=utf-8"),
            "{}",
            200,
        ),
        ("/parked_jobs", Some("text/plain"), "{}", 415),
        (
            "/parked_jobs",
            Some("application/x-www-form-urlencoded"),
            "{}",
            415,
        ),
        ("/parked_jobs", None, "{}", 415),
        (reload, None, "", 404),
        (reload, Some("application/json"), "", 404),
        (reload, Some("text/plain"), "", 415),
        (reload, None, "x", 415),
    ] {
        let kind = kind.map(|kind| format!("content-type: {kind}"));
        let mut headers = vec![LOCAL];
        headers.extend(kind.as_deref());
        let reply = send(&admin, Method::POST, path, &headers, body).await;
        assert_eq!(reply.status(), status, "{path} {headers:?} {body}");
    }
}
