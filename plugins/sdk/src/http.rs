//! Outbound HTTP, the only network access of a plugin: building and sending requests, and decoding
//! responses. The gateway adds credentials; plugins never do.

use serde::{Deserialize, Serialize};

pub use crate::bindings::shared::stopover::host::http::{Error, Header, Method, Request, Response};

use crate::json::{self, DecodeError, EncodeError};
use crate::types::{ChangeError, ReadError};
use crate::{clock, host, time};

/// Sends several requests concurrently and returns the results in the order of the requests.
pub fn send_many(requests: &[Request]) -> Vec<Result<Response, Error>> {
    host::send_many(requests)
}

/// Percent-encodes a text as one segment of a path or one value of a query. Only letters, digits
/// and `-._~` remain unencoded.
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    push_encoded(&mut encoded, text);
    encoded
}

impl Request {
    /// Creates a request to an absolute URL, without headers or body.
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

    /// Adds an encoded parameter to the URL's query.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.url
            .push(if self.url.contains('?') { '&' } else { '?' });
        push_encoded(&mut self.url, name);
        self.url.push('=');
        push_encoded(&mut self.url, &value.to_string());
        self
    }

    /// Sets a JSON body.
    ///
    /// # Errors
    /// Fails if the value cannot be encoded as JSON.
    pub fn json<T: Serialize + ?Sized>(mut self, body: &T) -> Result<Self, EncodeError> {
        self.body = Some(json::encode(body)?);
        Ok(self.header("content-type", "application/json"))
    }

    /// Sets the maximum duration of the whole exchange. The gateway reduces it to the time left for
    /// the call.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u32) -> Self {
        self.timeout_ms = Some(timeout_ms);
        self
    }

    /// Sends the request and waits for the whole response, whatever its status.
    ///
    /// # Errors
    /// Fails if there is no complete response. `?` converts the error to a [`ReadError`] or a
    /// [`ChangeError`]; the latter distinguishes not-sent from unknown.
    pub fn send(&self) -> Result<Response, Error> {
        host::send(self)
    }

    /// Sends a request that changes nothing at the supplier, and waits like [`send`](Self::send). If a
    /// change fails after such requests alone, the gateway knows that nothing was sent, although their
    /// method may be POST. Use it only for an operation that the supplier documents to have no effect.
    ///
    /// # Errors
    /// Fails like [`send`](Self::send).
    pub fn send_read(&self) -> Result<Response, Error> {
        host::send_read(self)
    }
}

impl Response {
    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the first header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_str())
    }

    /// Decodes the body as JSON. Text may be borrowed from it.
    ///
    /// # Errors
    /// Fails if the body is not JSON or does not have the expected form.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, DecodeError> {
        json::decode(&self.body)
    }

    /// Returns the seconds to wait according to `retry-after`, which is a number or a date.
    pub fn retry_after_s(&self) -> Option<u32> {
        let value = self.header("retry-after")?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(seconds);
        }
        let wait_ms = time::parse_http_date(value)?.saturating_sub(clock::now_ms());
        u32::try_from((wait_ms.max(0) + 999) / 1000).ok()
    }

    /// Returns the response of a read if its status is 2xx.
    ///
    /// # Errors
    /// Returns [`Response::to_read_error`] for any other status.
    pub fn error_for_status(self) -> Result<Self, ReadError> {
        if self.is_success() {
            Ok(self)
        } else {
            Err(self.to_read_error())
        }
    }

    /// Converts an unsuccessful response to the error of a read, by its status alone. The result is
    /// neither "not found" nor a rejection: a proxy also returns 404 and 422, and only the body shows
    /// that the supplier means it. [`Response::to_read_error_or_not_found`] and
    /// [`DocumentedErrors`](crate::fault::DocumentedErrors) look at the body.
    pub fn to_read_error(&self) -> ReadError {
        let text = format!("the supplier returned HTTP {}", self.status);
        read_error_of_status(self.status, self.retry_after_s(), text)
    }

    /// Converts an unsuccessful response to the error of a read: "not found" if it has this status and
    /// its body is the supplier's statement that there is no such object, otherwise an error by its
    /// status. Return false for a body that does not have the supplier's form.
    pub fn to_read_error_or_not_found(
        &self,
        status: u16,
        is_not_found: impl FnOnce(&Self) -> bool,
    ) -> ReadError {
        if self.status == status && is_not_found(self) {
            return ReadError::NotFound(format!("the supplier has no such object ({status})"));
        }
        self.to_read_error()
    }

    /// Converts an unsuccessful response to the error of a change, which is always unknown. Each
    /// plugin first checks its own closed list of responses that are definite refusals.
    pub fn to_change_error(&self) -> ChangeError {
        ChangeError::Unknown(format!("the supplier returned HTTP {}", self.status))
    }
}

/// Returns the error of a read by the status of its response.
pub(crate) fn read_error_of_status(
    status: u16,
    retry_after_s: Option<u32>,
    text: String,
) -> ReadError {
    match status {
        401 | 403 => ReadError::Misconfigured(text),
        408 | 504 => ReadError::TimedOut(text),
        429 => ReadError::RateLimited(retry_after_s),
        503 => ReadError::Unavailable(text),
        500..=599 => ReadError::Failed(text),
        _ => ReadError::InvalidResponse(text),
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
