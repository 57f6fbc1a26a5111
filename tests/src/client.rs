//! A client of the API, as a user would write one.

use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Calls with one key, and perhaps for one user.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    headers: Vec<(String, String)>,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is empty.
    pub body: Value,
}

impl Client {
    /// A client of `base` with a key.
    #[must_use]
    pub fn new(base: &str, key: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self {
            http,
            base: base.to_owned(),
            headers: Vec::new(),
        }
        .header("x-api-key", key)
    }

    /// The same client with a header on every call; replaces an earlier one of that name.
    #[must_use]
    pub fn header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// The same client without a header.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client
    }

    /// The same client of another base.
    #[must_use]
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    /// For an end user of the organization.
    #[must_use]
    pub fn user(&self, user: &str) -> Self {
        self.header("x-user-id", user)
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(reqwest::Method::GET, path, None).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Reply {
        self.send(reqwest::Method::DELETE, path, None).await
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(
            reqwest::Method::POST,
            path,
            Some(body.to_string().into_bytes()),
        )
        .await
    }

    /// POST of bytes that need not be JSON.
    pub async fn post_bytes(&self, path: &str, body: Vec<u8>) -> Reply {
        self.send(reqwest::Method::POST, path, Some(body)).await
    }

    /// Any call.
    pub async fn send(&self, method: reqwest::Method, path: &str, body: Option<Vec<u8>>) -> Reply {
        self.try_send(method, path, body)
            .await
            .expect("the server answers")
    }

    /// Any call, of a server that may be gone.
    ///
    /// # Errors
    /// When no whole answer came.
    pub async fn try_send(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> reqwest::Result<Reply> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            if !self.headers.iter().any(|(name, _)| name == "content-type") {
                request = request.header("content-type", "application/json");
            }
            request = request.body(body);
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let headers = answer.headers().iter();
        let headers = headers
            .map(|(name, value)| {
                (
                    name.to_string(),
                    value.to_str().unwrap_or_default().to_owned(),
                )
            })
            .collect();
        let bytes = answer.bytes().await?;
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()))
        };
        Ok(Reply {
            status,
            headers,
            body,
        })
    }
}

impl Reply {
    /// The reply, when its status is this.
    ///
    /// # Panics
    /// When it is another; the message shows the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.body);
        self
    }

    /// The problem's code, when status and code are these.
    ///
    /// # Panics
    /// When they are others.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> Self {
        assert_eq!(
            (self.status, self.body["code"].as_str()),
            (status, Some(code)),
            "{:#}",
            self.body
        );
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        self
    }

    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The member `data`.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }
}

/// The answers to as many calls as there are, all sent at once.
pub async fn concurrently<F: Future<Output = Reply> + Send + 'static>(
    calls: impl Iterator<Item = F>,
) -> Vec<Reply> {
    calls.collect::<JoinSet<_>>().join_all().await
}

/// Money as the gateway writes it: whole amounts without decimals.
#[must_use]
pub fn money(amount: f64, currency: &str) -> Value {
    let number = if amount.fract() == 0.0 {
        format!("{amount:.0}")
    } else {
        amount.to_string()
    };
    let number: Value = serde_json::from_str(&number).unwrap();
    json!({"amount": number, "currency": currency})
}
