//! Tests of the middleware and of request validation, through routes made for these tests.

pub(crate) mod admin;
pub(crate) mod all_violations;
pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod example;
pub(crate) mod flight_booking;
pub(crate) mod flight_offer;
pub(crate) mod fuzzed;
pub(crate) mod hotel;
pub(crate) mod openapi;
pub(crate) mod query;
pub(crate) mod timeout;
pub(crate) mod watch;
pub(crate) mod webhook;

use crate::extract::{
    Body, Context, IdempotencyKeyHeader, PathId, Query, Validate, Validated, Violations,
};
use crate::response::{ApiResponse, ApiResult};
use crate::routes::{RouteTable, build_router, openapi_document, route_table};
use crate::state;
use crate::state::{ApiSettings, ApiState};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use host_application::api_key::service::NewApiKey;
use host_application::application::{Application, ApplicationDependencies};
use host_application::config::{Config, Environment};
use host_application::context::ApiKeyScope;
use host_application::id_generator::UuidV7Generator;
use host_domain::audit::Actor;
use host_domain::id::{BookingId, KeyId};
use host_domain::owner::{Mode, Tenant};
use host_domain::time::{Clock, Timestamp};
use host_resources::value::{Amount, CountryCode, CurrencyCode, IsoDate};
use http::{HeaderMap, Method, Request, StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use test_support::ManualClock;
use tower::ServiceExt;
use utoipa::ToSchema;

struct Server {
    app: Arc<Application>,
    state: ApiState,
    router: Router,
    document: Value,
    key: String,
    clock: Arc<ManualClock>,
    _folder: TempDir,
}

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Reply {
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    fn problem(&self) -> (u16, &str) {
        (self.status.as_u16(), self.code())
    }

    /// Returns the violations in order, each as `in pointer code`.
    fn violations(&self) -> Vec<String> {
        let violations = self.body["errors"].as_array().into_iter().flatten();
        let text = |one: &Value| {
            ["in", "pointer", "code"]
                .map(|name| one[name].as_str().unwrap())
                .join(" ")
        };
        violations.map(text).collect()
    }
}

impl Server {
    async fn start() -> Self {
        Self::with(&[]).await
    }

    async fn with(limits: &[(&str, u32)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut overlay = host_application::config::data_dir_overlay(folder.path());
        let master_key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        overlay.insert("master_key".to_owned(), master_key.into());
        let limits = limits
            .iter()
            .map(|(name, value)| ((*name).to_owned(), toml::Value::from(*value)));
        overlay.insert("limits".to_owned(), limits.collect::<toml::Table>().into());
        let config = Config::load(Some(overlay), None, &Environment::default()).unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp(1_795_255_200_000)));
        let dependencies = ApplicationDependencies {
            clock: clock.clone(),
            ids: Arc::new(UuidV7Generator),
            plugins_dir: folder.path().to_owned(),
            call_sink: Arc::new(host_runtime::NoSink),
            base_url: "http://api.test".to_owned(),
        };
        let settings = ApiSettings {
            base_url: dependencies.base_url.clone(),
            dashboard_url: None,
            requests_per_s: config.limits.requests_per_s,
            burst: config.limits.burst,
            request_timeout: Duration::from_secs(config.limits.request_s),
        };
        let app = Application::launch(config, dependencies).await.unwrap();
        let state = ApiState::new(Arc::clone(&app), settings, clock.clone());
        let router = build_router(&state, table_of_tests);
        let mut server = Self {
            app,
            state,
            router,
            document: Value::Null,
            key: String::new(),
            clock,
            _folder: folder,
        };
        server.document = server.openapi(table_of_tests());
        server.key = server.make_key(&ApiKeyScope::DEFAULT, None).await.1;
        server
    }

    fn openapi(&self, table: RouteTable) -> Value {
        openapi_document(table, &self.app.base_url, self.app.clock.now().date_utc())
    }

    async fn make_key(
        &self,
        scopes: &[ApiKeyScope],
        expires_at: Option<Timestamp>,
    ) -> (KeyId, String) {
        let (tenant, scopes) = (acme(), scopes.to_vec());
        let new = NewApiKey {
            tenant,
            name: "test".to_owned(),
            scopes,
            expires_at,
        };
        let created = self
            .app
            .api_key_service
            .create(&Actor::system(), new)
            .await
            .unwrap();
        (created.id, created.key.expose_secret().to_owned())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Reply {
        let (status, headers, bytes) = self.exchange(method, path, headers, body.into()).await;
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Reply {
            status,
            headers,
            body,
        }
    }

    /// Sends a GET with no other headers, and returns the body as text.
    async fn text(&self, path: &str, headers: &[(&str, &str)]) -> String {
        let (.., bytes) = self.exchange(Method::GET, path, headers, Vec::new()).await;
        String::from_utf8(bytes).unwrap()
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (StatusCode, HeaderMap, Vec<u8>) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(axum::body::Body::from(body)).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        (status, headers, bytes.to_vec())
    }

    /// Sends a GET with the server's key.
    async fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[("x-api-key", &self.key)]).await
    }

    /// Sends a GET with no other headers, also without a key.
    async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send(Method::GET, path, headers, "").await
    }

    /// Sends a POST of JSON text with the server's key and an idempotency key.
    async fn post(&self, path: &str, json: impl Into<Vec<u8>>) -> Reply {
        self.post_with(path, &[("x-idempotency-key", "k")], json)
            .await
    }

    /// Sends a POST of JSON text with the server's key and the given headers.
    async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        json: impl Into<Vec<u8>>,
    ) -> Reply {
        let mut all = vec![
            ("x-api-key", self.key.as_str()),
            ("content-type", "application/json"),
        ];
        all.extend(headers);
        self.send(Method::POST, path, &all, json).await
    }
}

fn acme() -> Tenant {
    Tenant {
        organization: "acme".to_owned(),
        mode: Mode::Test,
    }
}

/// Returns the operations of the API and those of the tests.
fn table_of_tests() -> RouteTable {
    let read = vec![route!(find_stays), route!(read_stay), route!(break_down)];
    let book = vec![route!(book_stay)];
    let mut all = route_table();
    all.extend([
        (Some(ApiKeyScope::Read), read),
        (Some(ApiKeyScope::Book), book),
    ]);
    all
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Stay {
    check_in: IsoDate,
    check_out: IsoDate,
    #[schema(min_items = 1, max_items = 2)]
    rooms: Vec<StayRoom>,
    currency: CurrencyCode,
    nationality: Option<CountryCode>,
    max_total: Option<Amount>,
    #[schema(min_length = 1, max_length = 5)]
    note: Option<String>,
    board: Option<Board>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StayRoom {
    #[schema(minimum = 1, maximum = 8)]
    adults: u32,
    nights: Option<u8>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = TestBoard)]
enum Board {
    RoomOnly,
    HalfBoard,
}

impl Validate for Stay {
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let dates = ["/check_in", "/check_out"];
        if self.check_out <= self.check_in && found.are_valid(&dates) {
            found.push("/check_out", "after_check_in", "must be after check_in");
        }
        if self.check_in.0 < now.date_utc() && found.are_valid(&["/check_in"]) {
            found.push("/check_in", "past", "must not be in the past");
        }
    }
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Page size.
    #[serde(default = "page")]
    #[schema(minimum = 1, maximum = 100, default = 25)]
    limit: u32,
    refundable: Option<bool>,
    max_total: Option<Amount>,
    board: Option<Board>,
    #[schema(min_length = 2)]
    q: Option<String>,
}

fn page() -> u32 {
    25
}

impl Validate for Search {}

/// Book a stay
#[utoipa::path(post, path = "/test/{id}/stays", tag = "Test", responses((status = 201, description = "Booked.")),
    extensions(("x-error-codes" = json!(["offer_expired"]))))]
async fn book_stay(
    State(_app): State<Arc<Application>>,
    Context(context): Context,
    Validated((PathId(id), key, Body(stay))): Validated<(
        PathId<BookingId>,
        IdempotencyKeyHeader,
        Body<Stay>,
    )>,
) -> ApiResult<Value> {
    Ok(ApiResponse::created(
        json!({ "id": id.as_str(), "user": context.owner.user, "fingerprint": key.fingerprint, "stay": stay }),
    ))
}

/// Find stays
#[utoipa::path(get, path = "/test/stays", tag = "Test", responses((status = 200, description = "Found.")))]
async fn find_stays(
    State(_app): State<Arc<Application>>,
    Context(_caller): Context,
    Validated(Query(search)): Validated<Query<Search>>,
) -> ApiResult<Search> {
    Ok(ApiResponse::ok(search))
}

/// Read a stay
#[utoipa::path(get, path = "/test/{id}/stays", tag = "Test", responses((status = 200, description = "It.")),
    extensions(("x-error-codes" = json!(["booking_not_found"]))))]
async fn read_stay(
    State(_app): State<Arc<Application>>,
    Context(_caller): Context,
    Validated(PathId(id)): Validated<PathId<BookingId>>,
) -> ApiResult<String> {
    Ok(ApiResponse::ok(id.to_string()))
}

/// Break down
#[utoipa::path(get, path = "/test/panic", tag = "Test", responses((status = 200, description = "Never.")))]
async fn break_down(
    State(_app): State<Arc<Application>>,
    Context(_caller): Context,
    Validated(()): Validated<()>,
) -> ApiResult<String> {
    panic!("on purpose, with a secret")
}

fn stay() -> Value {
    json!({ "check_in": "2026-12-01", "check_out": "2026-12-03", "rooms": [{ "adults": 2 }], "currency": "EUR" })
}

/// Returns a stay with some members replaced.
fn stay_with(members: Value) -> String {
    changed(&stay(), &members).to_string()
}

/// Returns an object with some members replaced, or removed if the new value is null.
fn changed(body: &Value, changes: &Value) -> Value {
    let mut body = body.clone();
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    body
}

/// Splits lines of the form `request => violation, …`.
fn cases(table: &str) -> Vec<(String, Vec<String>)> {
    let table = table.replace("\\\n", "");
    let case = |line: &str| {
        let (request, violations) = line.split_once("=>").unwrap();
        let violations = violations.split(',').map(|one| one.trim().to_owned());
        (
            request.trim().to_owned(),
            violations.filter(|one| !one.is_empty()).collect(),
        )
    };
    table.trim().lines().map(case).collect()
}

/// Expects the violations of a body whose members are replaced as `cases` say. A body without
/// violations is valid.
async fn expect(path: &str, body: &Value, cases: &str) {
    expect_at("", path, body, cases).await;
}

/// Expects the violations of a body whose object at a pointer is changed as the cases say.
async fn expect_at(pointer: &str, path: &str, body: &Value, table: &str) {
    let server = Server::start().await;
    for (changes, violations) in cases(table) {
        let mut body = body.clone();
        let part = body.pointer_mut(pointer).unwrap();
        *part = changed(part, &serde_json::from_str(&changes).unwrap());
        let reply = server.post(path, body.to_string()).await;
        let expected: Vec<_> = violations
            .iter()
            .map(|one| format!("body {pointer}{one}"))
            .collect();
        assert_eq!(reply.violations(), expected, "{changes} {}", reply.body);
        let status = if violations.is_empty() { "422" } else { "400" };
        assert_eq!(reply.status.as_str(), status, "{changes} {}", reply.body);
    }
}
