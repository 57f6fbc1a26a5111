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
    pub fn header(&self, name: &str, value: &str) -> Self {
        let mut client = self.without(name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// Returns this client without a header.
    pub fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client
    }

    /// Returns this client for another base URL.
    pub fn at(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    /// Returns this client for an end user of the organization.
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
        self.post_bytes(path, body.to_string().into_bytes()).await
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
        let headers = answer.headers().iter().map(|(name, value)| {
            let value = value.to_str().unwrap_or_default();
            (name.to_string(), value.to_owned())
        });
        let headers = headers.collect();
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
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.body);
        self
    }

    /// Returns this response if it is a problem with the given status and code.
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

    /// Returns this response if it refuses a call because the booking has the given status.
    #[track_caller]
    pub fn expect_state_conflict(self, booking_status: &str) -> Self {
        let refused = self.expect_problem(409, "booking_state_conflict");
        assert_eq!(refused.body["booking_status"], booking_status);
        refused
    }

    /// Returns this response if it is a validation error whose first violation is at `pointer`.
    #[track_caller]
    pub fn expect_violation(self, pointer: &str) -> Self {
        let refused = self.expect_problem(400, "validation_failed");
        let errors = &refused.body["errors"];
        assert_eq!(errors[0]["pointer"], pointer, "{errors:#}");
        refused
    }

    /// Returns the HTTP status with the booking's status or the problem's code.
    pub fn outcome(&self) -> (u16, &str) {
        let word = if self.status < 300 {
            &self.data()["status"]
        } else {
            let problem = Some("application/problem+json");
            assert_eq!(self.header("content-type"), problem, "{:#}", self.body);
            &self.body["code"]
        };
        let Value::String(word) = word else {
            panic!("{:#}", self.body)
        };
        (self.status, word)
    }

    /// Returns the pointers of the violations that a problem lists.
    pub fn pointers(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array().expect("violations").iter();
        errors
            .filter_map(|error| error["pointer"].as_str())
            .collect()
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the field `data`.
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// Returns the items of a list.
    pub fn list(&self) -> &[Value] {
        self.data().as_array().expect("a list")
    }
}

/// Sends all calls concurrently and returns their responses.
pub async fn concurrently<F: Future<Output = Reply> + Send + 'static>(
    calls: impl Iterator<Item = F>,
) -> Vec<Reply> {
    calls.collect::<JoinSet<_>>().join_all().await
}

/// Returns an object in which the fields of `more` are added or replaced.
pub fn merged(object: Value, more: Value) -> Value {
    let (Value::Object(mut members), Value::Object(more)) = (object, more) else {
        panic!("both are objects");
    };
    members.extend(more);
    Value::Object(members)
}

/// Returns a money value as the gateway writes it: whole amounts have no decimals.
pub fn money(amount: f64, currency: &str) -> Value {
    let number = if amount.fract() == 0.0 {
        format!("{amount:.0}")
    } else {
        amount.to_string()
    };
    let number: Value = serde_json::from_str(&number).unwrap();
    json!({"amount": number, "currency": currency})
}
