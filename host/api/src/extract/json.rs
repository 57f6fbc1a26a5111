//! The JSON body: content type, syntax and canonical form.

use crate::error_code::ErrorCode;
use crate::extract::body::{self, BodyError};
use crate::extract::shaped_json;
use crate::problem::{ApiError, ViolationList};
use crate::validation::shape::Shape;
use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde_json::{Map, Value};
use std::time::Duration;

const BODY_BYTES_MAX: usize = 1 << 20;

/// Reads the body as JSON. Returns what its form permits, and adds a violation for what it does not.
/// Returns `None` if the body is empty.
pub(super) async fn read_json_body(
    headers: &HeaderMap,
    body: Body,
    timeout: Duration,
    shape: &Shape,
    found: &mut ViolationList,
) -> Result<Option<Value>, ApiError> {
    let bytes = body::read_body(headers, body, BODY_BYTES_MAX, timeout)
        .await
        .map_err(|error| match error {
            BodyError::TooLarge => ApiError::from(ErrorCode::BodyTooLarge),
            BodyError::Timeout | BodyError::Incomplete => {
                ApiError::from(ErrorCode::MalformedJson).with_detail(error.to_string())
            }
        })?;
    // An empty body is accepted with any content type, because some clients send one with every
    // POST.
    if bytes.is_empty() {
        return Ok(None);
    }
    if !is_json(headers) {
        return Err(ErrorCode::UnsupportedMediaType.into());
    }
    if is_encoded(headers) {
        let error = ApiError::from(ErrorCode::UnsupportedMediaType);
        return Err(error.with_detail("Send the body without Content-Encoding."));
    }
    parse(&bytes, shape, found).map(Some)
}

fn parse(bytes: &Bytes, shape: &Shape, found: &mut ViolationList) -> Result<Value, ApiError> {
    shaped_json::read(bytes, shape, found).map_err(|error| {
        let what = if error.is_data() {
            "duplicate member"
        } else {
            "not JSON"
        };
        let detail = format!("{what} at line {}, column {}", error.line(), error.column());
        ApiError::from(ErrorCode::MalformedJson).with_detail(detail)
    })
}

/// Returns whether the body is compressed or otherwise encoded.
fn is_encoded(headers: &HeaderMap) -> bool {
    let encoding = headers.get(CONTENT_ENCODING);
    encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Returns whether the content type is `application/json`, with any parameters.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

pub(super) fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

/// Returns canonical JSON text, with the members of every object sorted by name.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let members = sorted.into_iter().map(|(name, member)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(member))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => format!(
            "[{}]",
            elements.iter().map(canonical).collect::<Vec<_>>().join(",")
        ),
        scalar => scalar.to_string(),
    }
}
