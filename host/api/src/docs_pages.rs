//! The start page, the OpenAPI document and the documentation pages. All assets are part of the
//! program. The pages load nothing from other servers, and their content security policy forbids it.

use crate::accept;
use crate::error_code::{ErrorCode, ErrorCodeInfo};
use crate::problem::ApiError;
use crate::state::ApiState;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use host_domain::time::Date;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use tokio::sync::Mutex;

/// Content security policy of pages: they run the gateway's scripts and connect to this server
/// only.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Content security policy of all other responses.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// Script that starts the API reference. It disables requests to other servers, telemetry and
/// proxies.
const SCALAR_INIT_SCRIPT: &str = r"Scalar.createApiReference('#app', {
  url: '/openapi.json', theme: 'default', layout: 'modern', withDefaultFonts: false, telemetry: false,
  agent: { disabled: true }, hideClientButton: true, proxyUrl: '', showDeveloperTools: 'never',
});
";

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Stopover API</title></head>
<body><div id="app"></div><script src="/docs/scalar.js"></script><script src="/docs/start.js"></script></body>
</html>
"#;

const NAME: &str = "Stopover";
const SUMMARY: &str = "A gateway for travel booking: one API for hotels and flights of several suppliers, \
    with price watches, mandates and signed webhooks.";

/// A page that the start page links to.
struct PageLink {
    /// Name of the link in JSON.
    name: &'static str,
    path: &'static str,
    title: &'static str,
}

/// The links of the start page to pages of this listener.
const LINKS: [PageLink; 4] = [
    PageLink {
        name: "documentation",
        path: "/docs",
        title: "API reference",
    },
    PageLink {
        name: "openapi",
        path: "/openapi.json",
        title: "OpenAPI document",
    },
    PageLink {
        name: "errors",
        path: "/docs/errors",
        title: "Error codes",
    },
    PageLink {
        name: "health",
        path: "/healthz",
        title: "Health of this process",
    },
];

/// Script of the API reference: 4.9 MB, unpacked once.
static SCALAR_SCRIPT: LazyLock<Option<Bytes>> =
    LazyLock::new(|| scalar_api_reference::get_asset("scalar.js").map(Bytes::from));

/// Returns the routes of the document and the pages. `generate` returns the OpenAPI document for an
/// API address. Its examples use stays after the given day.
pub(crate) fn routes<F>(generate: F) -> Router<ApiState>
where
    F: Fn(&str, Date) -> Value + Clone + Send + Sync + 'static,
{
    let kept = Arc::new(CachedDocument::default());
    let document = move |State(state): State<ApiState>| async move {
        let text = kept.get(&state, generate).await;
        with_content_type("application/json", text)
    };
    Router::new()
        .route("/", get(start_page))
        .route("/openapi.json", get(document))
        .route("/docs", get(|| async { with_content_type(HTML, PAGE) }))
        .route(
            "/docs/start.js",
            get(|| async { with_content_type(SCRIPT_TYPE, SCALAR_INIT_SCRIPT) }),
        )
        .route("/docs/scalar.js", get(script))
        .route(
            "/docs/errors",
            get(|| async { with_content_type(HTML, all_error_codes_page()) }),
        )
        .route("/docs/errors/{code}", get(error_code_page))
}

/// The document of the current day: its examples use stays in the future. Generating it takes as
/// long as the rest of the start, so it is generated on first request.
#[derive(Default)]
struct CachedDocument(Mutex<Option<(Date, Bytes)>>);

impl CachedDocument {
    async fn get(&self, state: &ApiState, generate: impl Fn(&str, Date) -> Value) -> Bytes {
        let today = state.now().date_utc();
        let mut kept = self.0.lock().await;
        match &*kept {
            Some((day, text)) if *day == today => text.clone(),
            _ => {
                let document = generate(&state.base_url, today);
                let text = Bytes::from(document.to_string());
                *kept = Some((today, text.clone()));
                text
            }
        }
    }
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";

fn with_content_type(kind: &'static str, body: impl Into<Body>) -> Response {
    let body: Body = body.into();
    ([(CONTENT_TYPE, kind)], body).into_response()
}

/// Says what this server is and where its pages are: to browsers as HTML, to programs as JSON.
async fn start_page(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    let prefers = |media_type: &str| accept::quality(&headers, media_type);
    let page = if prefers("text/html") > prefers("application/json") {
        with_content_type(HTML, start_page_html(dashboard_page(&state).as_deref()))
    } else {
        let base_url = &state.base_url;
        let links = LINKS.iter().map(|link| {
            let url = format!("{base_url}{}", link.path);
            (link.name.to_owned(), Value::from(url))
        });
        let dashboard = dashboard_page(&state).map(|url| ("dashboard".to_owned(), url.into()));
        let version = env!("CARGO_PKG_VERSION");
        let links: Map<String, Value> = links.chain(dashboard).collect();
        let data =
            json!({ "name": NAME, "version": version, "description": SUMMARY, "links": links });
        with_content_type("application/json", json!({ "data": data }).to_string())
    };
    ([(VARY, "accept")], page).into_response()
}

/// Returns the URL of the dashboard's first page, which another listener serves; `None` if none
/// does.
fn dashboard_page(state: &ApiState) -> Option<String> {
    let url = state.dashboard_url.as_ref()?;
    Some(format!("{url}/"))
}

fn start_page_html(dashboard: Option<&str>) -> String {
    let item = |url: &str, title: &str| {
        // The operator may have configured the URL of the dashboard.
        let url = url.replace('&', "&amp;").replace('"', "&quot;");
        format!("<li><a href=\"{url}\">{title}</a></li>\n")
    };
    let links = LINKS.iter().map(|link| item(link.path, link.title));
    let links = links.chain(dashboard.map(|url| item(url, "Dashboard")));
    let links: String = links.collect();
    let version = env!("CARGO_PKG_VERSION");
    let body = format!(
        "<h1>{NAME}</h1>\n<p>{SUMMARY}</p>\n<ul>\n{links}</ul>\n<p>Version {version}</p>\n"
    );
    page("Start", &body)
}

async fn script() -> Response {
    let Some(script) = SCALAR_SCRIPT.as_ref() else {
        return ApiError::from(ErrorCode::NotFound).into_response();
    };
    let response = with_content_type(SCRIPT_TYPE, script.clone());
    ([(CACHE_CONTROL, "public, max-age=86400")], response).into_response()
}

async fn error_code_page(Path(name): Path<String>) -> Response {
    match ErrorCode::from_name(&name) {
        Some(code) => {
            with_content_type(HTML, page(code.as_str(), &error_code_section(code.info())))
        }
        None => ApiError::from(ErrorCode::NotFound).into_response(),
    }
}

fn all_error_codes_page() -> String {
    let sections = ErrorCode::ALL
        .iter()
        .map(|code| error_code_section(code.info()));
    page("Errors", &sections.collect::<String>())
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title} · Stopover API</title></head>\n\
         <body style=\"font: 16px/1.5 system-ui; max-width: 45em; margin: 2em auto\">\n{body}\
         <p><a href=\"/docs/errors\">All errors</a> · <a href=\"/docs\">API reference</a></p></body></html>\n"
    )
}

/// Renders the section about an error code. It contains only the gateway's own texts, so only `<`
/// in the meaning is escaped.
fn error_code_section(facts: ErrorCodeInfo) -> String {
    let again = if facts.retryable {
        "The same request may be sent again, unless the response says <code>\"retryable\": false</code>: then somebody has to correct something first."
    } else {
        "The same request must not simply be sent again."
    };
    let (name, title, status) = (facts.name, facts.title, facts.status);
    let meaning = facts.description.replace('<', "&lt;");
    format!(
        "<h2><code>{name}</code></h2>\n<p><strong>{title}</strong> (HTTP {status})</p>\n<p>{meaning}</p><p>{again}</p>\n"
    )
}

pub(super) async fn security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let is_page = headers.get(CONTENT_TYPE).is_some_and(|kind| kind == HTML);
    let policy = if is_page { PAGE_POLICY } else { DATA_POLICY };
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
