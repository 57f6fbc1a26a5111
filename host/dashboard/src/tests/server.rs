//! A dashboard without a listener, on a database of its own.

use crate::router::router;
use crate::state::{DashboardSettings, DashboardState};
use axum::Router;
use axum::body::{Body, to_bytes};
use host_application::account::viewer::ClientInfo;
use host_application::application::{Application, ApplicationDependencies};
use host_application::config::{Config, Environment, data_dir_overlay};
use host_application::id_generator::UuidV7Generator;
use host_domain::account::{AccountRole, EmailAddress, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::time::Timestamp;
use http::{HeaderMap, Method, Request, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use tempfile::TempDir;
use test_support::ManualClock;
use tower::ServiceExt;
use url::form_urlencoded;

pub(super) const BASE_URL: &str = "http://127.0.0.1:8082";
pub(super) const PASSWORD: &str = "correct horse battery staple";
/// 2026-11-26T02:40:00Z
pub(super) const NOW: Timestamp = Timestamp(1_795_660_800_000);

pub(super) struct Server {
    pub(super) app: Arc<Application>,
    pub(super) clock: Arc<ManualClock>,
    router: Router,
    _folder: TempDir,
}

pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the cookie that the response sets, as `name=value`.
    pub(super) fn cookie(&self) -> String {
        let line = self.header("set-cookie");
        line.split(';').next().unwrap_or_default().to_owned()
    }

    /// Returns the text of the element with this test id.
    pub(super) fn test_id(&self, id: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("data-testid=\"{id}\""))?;
        Some(rest.split_once('>')?.1.split_once('<')?.0)
    }

    /// Returns the path to which a change of the mode returns.
    pub(super) fn next_path(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"next\" value=\"").unwrap();
        let escaped = rest.split('"').next().unwrap();
        escaped.replace("&#38;", "&").replace("&amp;", "&")
    }

    /// Returns the number of occurrences of a text in the page.
    pub(super) fn count(&self, text: &str) -> usize {
        self.body.matches(text).count()
    }
}

impl Server {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut overlay = data_dir_overlay(folder.path());
        let master_key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        overlay.insert("master_key".to_owned(), master_key.into());
        let config = Config::load(Some(overlay), None, &Environment::default()).unwrap();
        let clock = Arc::new(ManualClock::new(NOW));
        let dependencies = ApplicationDependencies {
            clock: clock.clone(),
            ids: Arc::new(UuidV7Generator),
            plugins_dir: folder.path().to_owned(),
            call_sink: Arc::new(host_runtime::NoSink),
            base_url: "http://api.test".to_owned(),
        };
        let app = Application::launch(config, dependencies).await.unwrap();
        let settings = DashboardSettings {
            base_url: BASE_URL.to_owned(),
            trusted_proxies: Vec::new(),
        };
        Self {
            router: router(DashboardState::new(Arc::clone(&app), settings)),
            app,
            clock,
            _folder: folder,
        }
    }

    pub(super) fn advance(&self, ms: i64) {
        self.clock.advance_ms(ms);
    }

    /// Makes the link that sets up an account with these roles.
    pub(super) async fn invite(&self, email: &str, roles: &[AccountRole]) -> SecretString {
        let email = EmailAddress::parse(email).unwrap();
        let accounts = &self.app.accounts.accounts;
        accounts
            .create(&Actor::system(), &email, roles.to_vec())
            .await
            .unwrap()
    }

    /// Makes an account with these roles and signs in. Returns the cookie.
    pub(super) async fn sign_up(&self, email: &str, roles: &[AccountRole]) -> String {
        let link = self.invite(email, roles).await;
        let client = ClientInfo {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            user_agent: "Firefox/128.0 (Linux)".to_owned(),
        };
        let setup = &self.app.accounts.setup;
        let session = setup.complete(link.expose_secret(), email, PASSWORD.into(), &client);
        format!("stopover={}", session.await.unwrap().token.expose_secret())
    }

    async fn send(&self, method: Method, path: &str, cookie: &str, body: String) -> Reply {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8082")
            .header("origin", BASE_URL)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("cookie", cookie);
        let request = request.body(Body::from(body)).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Reply {
            status,
            headers,
            body: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub(super) async fn get(&self, path: &str, cookie: &str) -> Reply {
        self.send(Method::GET, path, cookie, String::new()).await
    }

    pub(super) async fn post(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Reply {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        self.send(Method::POST, path, cookie, form.finish()).await
    }

    /// Sets the mode of a session.
    pub(super) async fn switch(&self, cookie: &str, mode: &str) {
        let reply = self
            .post("/mode", cookie, &[("mode", mode), ("next", "/")])
            .await;
        assert_eq!(reply.status, 303);
    }
}

pub(super) fn member(organization: &str, role: OrganizationRole) -> AccountRole {
    AccountRole::Organization {
        organization: organization.to_owned(),
        role,
    }
}
