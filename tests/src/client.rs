//! A client of the API as a user would write it.

use serde_json::{Value, json};
use tokio::task::JoinSet;

/// A client that sends the same headers with every call, e.g. a key and a user.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    headers: Vec<(String, String)>,
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body; null if it is empty.
    pub body: Value,
}

impl Client {
    /// Creates a client for `base` with an API key.
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

    /// Returns this client with a header on every call. It replaces an earlier header of that name.
    #[must_use]
    pub fn header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// Returns this client without a header.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client
    }

    /// Returns this client for another base URL.
    #[must_use]
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    /// Returns this client for an end user of the organization.
    #[must_use]
    pub fn user(&self, user: &str) -> Self {
        self.header("x-user-id", user)
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(reqwest::Method::GET, path, None).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Reply {
        self.send(reqwest::Method::DELETE, path, None).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(
            reqwest::Method::POST,
            path,
            Some(body.to_string().into_bytes()),
        )
        .await
    }

    /// Sends a POST request with a body that need not be JSON.
    pub async fn post_bytes(&self, path: &str, body: Vec<u8>) -> Reply {
        self.send(reqwest::Method::POST, path, Some(body)).await
    }

    /// Sends a request to a server that must respond.
    pub async fn send(&self, method: reqwest::Method, path: &str, body: Option<Vec<u8>>) -> Reply {
        self.try_send(method, path, body)
            .await
            .expect("the server responds")
    }

    /// Sends a request to a server that may be down.
    ///
    /// # Errors
    /// Fails if no complete response arrives.
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
    /// Returns this response if it has the given status.
    ///
    /// # Panics
    /// Panics if the status differs. The message shows the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.body);
        self
    }

    /// Returns this response if it is a problem with the given status and code.
    ///
    /// # Panics
    /// Panics if the status or the code differs.
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

    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the field `data`.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }
}

/// Sends all calls concurrently and returns their responses.
pub async fn concurrently<F: Future<Output = Reply> + Send + 'static>(
    calls: impl Iterator<Item = F>,
) -> Vec<Reply> {
    calls.collect::<JoinSet<_>>().join_all().await
}

/// Returns a money value as the gateway writes it: whole amounts have no decimals.
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
