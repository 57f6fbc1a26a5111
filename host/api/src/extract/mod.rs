//! Reads and validates requests. All violations of a request are collected before anything is
//! executed, and are reported together.
//!
//! A handler takes [`Validated<T>`], where `T` is one [`RequestPart`] or a tuple of them:
//! `Validated((id, key, Body(request)))`. Parts also describe themselves, so that the OpenAPI
//! document matches what is read.

pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod json;
pub(crate) mod part;
pub(crate) mod query;

pub(crate) use crate::extract::body::DeferredBody;
pub(crate) use crate::extract::body::{BodyError, read_body};
pub(crate) use crate::extract::context::Context;
pub(crate) use crate::extract::part::{
    Body, IdempotencyKeyHeader, KeyedBody, PathId, PathParameter, Query, default_limit,
};

use crate::openapi::describe::OperationInputs;
use crate::problem::{ApiError, Violation, ViolationLocation as In};
use crate::state::ApiState;
use crate::validation::ValidatorCache;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use host_domain::time::Timestamp;
use http::request::Parts;
use http::{HeaderMap, Uri};
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

/// A validated request.
#[derive(Debug, Clone)]
pub(crate) struct Validated<T>(pub T);

/// A request whose parts are being read.
pub(crate) struct RequestReader<'a> {
    validators: &'a ValidatorCache,
    headers: &'a HeaderMap,
    uri: &'a Uri,
    path: Vec<(String, String)>,
    /// JSON of the body, if a part reads it.
    json: Option<Value>,
    now: Timestamp,
    found: Vec<Violation>,
}

pub(crate) trait RequestPart: Sized + Send {
    const READS_BODY: bool = false;
    const READS_QUERY: bool = false;

    /// Extracts the part. Returns `None` if violations were added.
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self>;

    fn describe(inputs: &mut OperationInputs);
}

/// Validation rules that a JSON schema cannot express.
pub(crate) trait Validate {
    /// Adds every violation to `found`. Pointers are relative to the request, e.g. `/check_out`.
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let _ = (now, found);
    }
}

/// Collects the violations that [`Validate`] finds.
pub(crate) struct Violations<'a> {
    place: In,
    violations: &'a mut Vec<Violation>,
}

impl Violations<'_> {
    pub(crate) fn push(
        &mut self,
        pointer: impl Into<String>,
        code: &str,
        detail: impl Into<String>,
    ) {
        self.violations
            .push(Violation::at(self.place, pointer, code, detail));
    }
}

impl<T: RequestPart> FromRequest<ApiState> for Validated<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let mut incoming = RequestReader::from_head(&mut parts, state).await;
        if T::READS_BODY {
            incoming.json =
                json::read_json_body(incoming.headers, body, state.request_timeout).await?;
        }
        if !T::READS_QUERY {
            incoming.reject_query_parameters();
        }
        let taken = T::extract(&mut incoming);
        match taken {
            Some(taken) if incoming.found.is_empty() => Ok(Self(taken)),
            _ => Err(ApiError::violations(incoming.found)),
        }
    }
}

impl<'a> RequestReader<'a> {
    /// Reads everything before the body.
    async fn from_head(parts: &'a mut Parts, state: &'a ApiState) -> Self {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let mut found = Vec::new();
        let path = match &params {
            Ok(params) => params
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            Err(_) => {
                let detail = "the path is not UTF-8 text";
                found.push(Violation::at(In::Path, "", "format", detail));
                Vec::new()
            }
        };
        Self {
            validators: &state.validators,
            headers: &parts.headers,
            uri: &parts.uri,
            path,
            json: None,
            now: state.now(),
            found,
        }
    }

    fn report(&mut self, place: In, pointer: &str, code: &str, detail: impl Into<String>) {
        self.found.push(Violation::at(place, pointer, code, detail));
    }

    /// Returns the path as the client sent it.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Validates a value against its schema and rules, and parses it.
    fn parse_and_validate<T: ToSchema + DeserializeOwned + Validate + 'static>(
        &mut self,
        place: In,
        value: &Value,
    ) -> Option<T> {
        let compiled = match self.validators.get::<T>() {
            Ok(compiled) => compiled,
            Err(error) => {
                tracing::error!(%error, "a request cannot be validated because its schema is invalid");
                let detail = "the gateway cannot check this request";
                self.report(place, "", "unchecked", detail);
                return None;
            }
        };
        let before = self.found.len();
        let known = compiled.validate(place, value, &mut self.found);
        match serde_path_to_error::deserialize::<_, T>(known) {
            Ok(read) => {
                let violations = &mut self.found;
                read.validate(self.now, &mut Violations { place, violations });
                Some(read)
            }
            Err(_) if self.found.len() > before => None,
            Err(error) => {
                let pointer = pointer(error.path());
                self.report(place, &pointer, "invalid", error.inner().to_string());
                None
            }
        }
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.map(|segment| format!("/{segment}")).collect()
}

/// A request without body and parameters.
impl RequestPart for () {
    fn extract(_: &mut RequestReader<'_>) -> Option<Self> {
        Some(())
    }

    fn describe(_: &mut OperationInputs) {}
}

macro_rules! tuples {
    ($(($($part:ident),+);)*) => {$(
        impl<$($part: RequestPart),+> RequestPart for ($($part,)+) {
            const READS_BODY: bool = $($part::READS_BODY)||+;
            const READS_QUERY: bool = $($part::READS_QUERY)||+;

            #[expect(non_snake_case, reason = "variables are named after their types")]
            fn extract(reader: &mut RequestReader<'_>) -> Option<Self> {
                // Every part is extracted before a missing one is returned, so that all violations
                // are found.
                $(let $part = $part::extract(reader);)+
                Some(($($part?,)+))
            }

            fn describe(inputs: &mut OperationInputs) {
                $($part::describe(inputs);)+
            }
        }
    )*};
}

tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
}
