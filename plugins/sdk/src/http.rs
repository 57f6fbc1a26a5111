//! Outbound HTTP, a plugin's only door out: requests are built and sent here,
//! and answers read. Credentials are added by the gateway, never here.

use serde::{Deserialize, Serialize};

pub use crate::bindings::shared::stopover::host::http::{Error, Header, Method, Request, Response};

use crate::json::{self, Unreadable, Unwritable};
use crate::types::{ChangeError, ReadError, Refusal, RefusalReason};
use crate::{clock, host, time};

/// Sends several requests at once; the answers stand in their order.
pub fn send_many(requests: &[Request]) -> Vec<Result<Response, Error>> {
    host::send_many(requests)
}

/// Text as one segment of a path or one value of a query: everything but
/// letters, digits and `-._~` percent-encoded.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    push_encoded(&mut encoded, text);
    encoded
}

impl Request {
    /// A request without headers and body to an absolute URL.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: None,
            timeout_ms: None,
        }
    }

    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    pub fn post(url: impl Into<String>) -> Self {
        Self::new(Method::Post, url)
    }

    pub fn put(url: impl Into<String>) -> Self {
        Self::new(Method::Put, url)
    }

    pub fn patch(url: impl Into<String>) -> Self {
        Self::new(Method::Patch, url)
    }

    pub fn delete(url: impl Into<String>) -> Self {
        Self::new(Method::Delete, url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push(Header {
            name: name.to_owned(),
            value: value.into(),
        });
        self
    }

    /// Adds a parameter to the URL's query, encoded.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.url
            .push(if self.url.contains('?') { '&' } else { '?' });
        push_encoded(&mut self.url, name);
        self.url.push('=');
        push_encoded(&mut self.url, &value.to_string());
        self
    }

    /// Sends this as JSON.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(mut self, body: &T) -> Result<Self, Unwritable> {
        self.body = Some(json::write(body)?);
        Ok(self.header("content-type", "application/json"))
    }

    /// The longest wait for the whole exchange. The gateway shortens it to what
    /// is left for the call.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    /// Sends it and waits for the whole response, whatever its status.
    ///
    /// # Errors
    /// There is no whole response. `?` turns the error into a [`ReadError`] or a
    /// [`ChangeError`], which tells not-sent from unknown.
    pub fn send(&self) -> Result<Response, Error> {
        host::send(self)
    }
}

impl Response {
    /// 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of the name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_str())
    }

    /// The body, read as JSON. Text may be borrowed from it.
    ///
    /// # Errors
    /// It is not JSON, or not of that shape.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Unreadable> {
        json::read(&self.body)
    }

    /// Seconds to wait by `retry-after`, which is a number or a date.
    pub fn retry_after_s(&self) -> Option<u32> {
        let value = self.header("retry-after")?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(seconds);
        }
        let wait_ms = time::parse_http_date(value)?.saturating_sub(clock::now_ms());
        u32::try_from((wait_ms.max(0) + 999) / 1000).ok()
    }

    /// The response of a read when its status is 2xx.
    ///
    /// # Errors
    /// [`Response::read_error`] otherwise.
    pub fn success(self) -> Result<Self, ReadError> {
        if self.is_success() {
            Ok(self)
        } else {
            Err(self.read_error())
        }
    }

    /// What an answer without success means for a read, by its status alone.
    /// For adapters whose supplier says no more than that.
    pub fn read_error(&self) -> ReadError {
        let text = format!("the supplier answered {}", self.status);
        match self.status {
            401 | 403 => ReadError::Misconfigured(text),
            404 | 410 => ReadError::NotFound(text),
            408 | 504 => ReadError::TimedOut(text),
            429 => ReadError::RateLimited(self.retry_after_s()),
            400..=499 => ReadError::Rejected(
                Refusal::new(RefusalReason::Invalid, text).with_code(self.status),
            ),
            503 => ReadError::Unavailable(text),
            500..=599 => ReadError::Failed(text),
            _ => ReadError::Unreadable(text),
        }
    }

    /// What an answer without success means for a change: unknown. Which answers
    /// are a definite no is the adapter's own closed list, asked before this.
    pub fn change_error(&self) -> ChangeError {
        ChangeError::Unknown(format!("the supplier answered {}", self.status))
    }
}

fn push_encoded(target: &mut String, text: &str) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or('0');
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target.push('%');
            target.push(digit(byte >> 4));
            target.push(digit(byte & 15));
        }
    }
}

#[cfg(test)]
mod tests;
