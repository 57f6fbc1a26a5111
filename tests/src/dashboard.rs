//! A browser without scripts for the dashboard.

use crate::event_stream::EventStream;
use crate::server::Server;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

const FORM: &str = "application/x-www-form-urlencoded";

/// A password that the rules accept.
pub const PASSWORD: &str = "correct horse battery staple";

/// A client of the dashboard that keeps the session's cookie and follows no redirects.
#[derive(Debug)]
pub struct DashboardClient {
    http: reqwest::Client,
    /// Base URL, without a trailing slash.
    pub base: String,
    /// The cookie as `name=value`.
    cookie: Mutex<Option<String>>,
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct PageReply {
    /// HTTP status.
    pub status: u16,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The page.
    pub body: String,
}

impl PageReply {
    /// Returns the first value of a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map_or("", |(_, value)| value)
    }

    /// Returns the text of the page's `<h1>`.
    ///
    /// # Panics
    /// Panics if the page has none.
    pub fn heading(&self) -> &str {
        let rest = self.body.split_once("<h1").map(|(_, rest)| rest);
        let text = rest.and_then(|rest| rest.split_once('>')?.1.split_once("</h1>"));
        text.unwrap_or_else(|| panic!("no <h1>: {self:?}")).0.trim()
    }
}

impl PageReply {
    /// Returns the text of the first element with a test id.
    ///
    /// # Panics
    /// Panics if the page has none.
    pub fn test_id(&self, id: &str) -> &str {
        let rest = self.body.split_once(&format!("data-testid=\"{id}\""));
        let text = rest.and_then(|(_, rest)| rest.split_once('>')?.1.split_once('<'));
        text.unwrap_or_else(|| panic!("no {id}: {self:?}")).0
    }

    /// Returns the value of the first hidden field with a name.
    ///
    /// # Panics
    /// Panics if the page has none.
    pub fn hidden_field(&self, name: &str) -> &str {
        let rest = self.body.split_once(&format!("name=\"{name}\" value=\""));
        let value = rest.and_then(|(_, rest)| rest.split_once('"'));
        value.unwrap_or_else(|| panic!("no {name}: {self:?}")).0
    }
}

/// Returns the code that an authenticator app with this secret shows, or will show after so many
/// steps of 30 s. The gateway accepts the current code and the ones before and after it.
///
/// # Panics
/// Panics if the text is no secret in base 32.
pub fn totp_code(secret: &str, steps_ahead: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let secret = totp_rs::Secret::try_from_base32(secret).unwrap();
    let totp = totp_rs::Builder::new().with_secret(secret).build().unwrap();
    let at_s = now.as_secs() + steps_ahead * totp.step();
    totp.generate(at_s).to_string()
}

impl DashboardClient {
    /// Creates a client without a session.
    ///
    /// # Panics
    /// Panics if the server has no dashboard.
    pub fn new(server: &Server) -> Self {
        let (base, _) = split_url(&server.dashboard);
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none());
        Self {
            http: http.build().unwrap(),
            base: base.to_owned(),
            cookie: Mutex::default(),
        }
    }

    /// Sets up the first account of a demo, an operator, and keeps its session.
    ///
    /// # Panics
    /// Panics if the server has an account, or if the account cannot be set up.
    pub async fn set_up(server: &Server, email: &str) -> Self {
        let client = Self::new(server);
        client.use_link(link_path(&server.dashboard), email).await;
        client
    }

    /// Creates an account with these options of `stopover accounts create`, sets it up and keeps
    /// its session.
    ///
    /// # Panics
    /// Panics if the account cannot be created.
    pub async fn with_account(server: &Server, email: &str, options: &[&str]) -> Self {
        let client = Self::new(server);
        let link = accounts(server, &[&["create", "--email", email], options].concat()).await;
        client.use_link(link_path(&link), email).await;
        client
    }

    /// Opens a set-up link with [`PASSWORD`].
    ///
    /// # Panics
    /// Panics if the link is not accepted.
    pub async fn use_link(&self, path: &str, email: &str) {
        let fields = [
            ("email", email),
            ("password", PASSWORD),
            ("repeat_password", PASSWORD),
        ];
        let reply = self.post(path, &fields).await;
        assert_eq!(reply.status, 303, "{reply:?}");
        assert!(self.cookie().is_some(), "{reply:?}");
    }

    /// Submits the form of the sign-in.
    pub async fn sign_in(&self, email: &str, password: &str) -> PageReply {
        let fields = [("email", email), ("password", password), ("next", "/")];
        self.post("/login", &fields).await
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> PageReply {
        self.send(Method::GET, path, &[], String::new()).await
    }

    /// Submits a form as a page of the dashboard does.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> PageReply {
        let origin = self.base.clone();
        let headers = [(ORIGIN.as_str(), origin.as_str())];
        self.post_from(path, &headers, fields).await
    }

    /// Submits a form with these headers instead of the page's.
    pub async fn post_from(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> PageReply {
        let headers = [headers, &[(CONTENT_TYPE.as_str(), FORM)]].concat();
        let encoded: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value)))
            .collect();
        self.send(Method::POST, path, &headers, encoded.join("&"))
            .await
    }

    /// Sends a request with the session's cookie and keeps the cookie of the response.
    ///
    /// # Panics
    /// Panics if the server does not respond.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> PageReply {
        let url = format!("{}{path}", self.base);
        let mut request = self.http.request(method, url).body(body);
        if let Some(cookie) = self.cookie() {
            request = request.header(COOKIE, cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.expect("the dashboard responds");
        let status = response.status().as_u16();
        let headers = response.headers().iter().map(|(name, value)| {
            let value = value.to_str().unwrap_or_default();
            (name.to_string(), value.to_owned())
        });
        let headers: Vec<_> = headers.collect();
        let is_cookie = |(name, _): &&(String, String)| name == SET_COOKIE.as_str();
        for (_, line) in headers.iter().filter(is_cookie) {
            let pair = line.split(';').next().unwrap_or_default();
            let is_removed = line.contains("Max-Age=0");
            self.set_cookie((!is_removed).then_some(pair));
        }
        let body = response.text().await.unwrap();
        PageReply {
            status,
            headers,
            body,
        }
    }

    /// Opens a stream of events. Returns its status if it is not opened.
    ///
    /// # Errors
    /// The status, if it is not 200.
    ///
    /// # Panics
    /// Panics if the server does not respond.
    pub async fn open_stream(
        &self,
        path: &str,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, u16> {
        let url = format!("{}{path}", self.base);
        let mut request = self.http.get(url).header(ACCEPT, "text/event-stream");
        if let Some(cookie) = self.cookie() {
            request = request.header(COOKIE, cookie);
        }
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        let response = request.send().await.expect("the dashboard responds");
        match response.status().as_u16() {
            200 => Ok(EventStream::new(response)),
            status => Err(status),
        }
    }

    /// Returns the session's cookie as `name=value`.
    pub fn cookie(&self) -> Option<String> {
        self.cookie.lock().unwrap().clone()
    }

    /// Replaces the session's cookie.
    pub fn set_cookie(&self, cookie: Option<&str>) {
        *self.cookie.lock().unwrap() = cookie.map(str::to_owned);
    }
}

/// Runs `stopover accounts` on the server's database and returns what it prints.
///
/// # Panics
/// Panics if the command fails.
pub async fn accounts(server: &Server, arguments: &[&str]) -> String {
    server.command("accounts", arguments).await
}

/// Returns the path of a printed link. `stopover accounts` prints the address of the configuration,
/// which is not the one of a server under test.
///
/// # Panics
/// Panics if the text is no URL.
pub fn link_path(link: &str) -> &str {
    let (_, path) = split_url(link.trim());
    path
}

/// Splits a URL into its origin and its path.
fn split_url(url: &str) -> (&str, &str) {
    let start = url.find("://").expect("the server has a dashboard") + 3;
    let end = url[start..].find('/').map_or(url.len(), |end| start + end);
    url.split_at(end)
}

fn percent_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}
