//! The JSON body: content type and syntax.

use crate::error_code::ErrorCode;
use crate::extract::body::{self, BodyError};
use crate::problem::ApiError;
use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::time::Duration;

const BODY_BYTES_MAX: usize = 1 << 20;

/// Reads the body as JSON. Returns `None` if it is empty.
pub(super) async fn read_json_body(
    headers: &HeaderMap,
    body: Body,
    patience: Duration,
) -> Result<Option<Value>, ApiError> {
    let bytes = body::read_body(headers, body, BODY_BYTES_MAX, patience)
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
    parse(&bytes).map(Some)
}

fn parse(bytes: &Bytes) -> Result<Value, ApiError> {
    let parsed: Result<UniqueKeysJson, serde_json::Error> = serde_json::from_slice(bytes);
    parsed.map(|json| json.0).map_err(|error| {
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
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// JSON in which no object has two members of the same name. Duplicates are rejected because it is
/// unclear which value is intended, e.g. of two prices.
struct UniqueKeysJson(Value);

impl<'de> Deserialize<'de> for UniqueKeysJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

/// Largest number up to which a float represents every integer exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    /// Converts whole floats such as `2.0` to integers, because JSON Schema treats them as
    /// integers.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        let is_whole = value.fract() == 0.0 && value.abs() <= EXACT_MAX;
        let whole = is_whole.then(|| format!("{value:.0}").parse::<i64>());
        match whole {
            Some(Ok(whole)) => Ok(whole.into()),
            _ => Ok(Number::from_f64(value).map_or(Value::Null, Value::Number)),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(UniqueKeysJson(element)) = sequence.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, UniqueKeysJson(member))) =
            map.next_entry::<String, UniqueKeysJson>()?
        {
            if members.insert(name, member).is_some() {
                return Err(A::Error::custom("twice"));
            }
        }
        Ok(Value::Object(members))
    }
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
