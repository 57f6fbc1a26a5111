//! Reading a request: everything that is wrong with it is found before anything
//! is done, and reported at once.
//!
//! A handler takes [`Valid<T>`], where `T` is one [`Part`] or a tuple of them:
//! `Valid((id, key, Body(request)))`. Parts also describe themselves, so that the
//! API document cannot say anything else than what is read.

mod json;
mod parameter;
mod part;
mod raw;

pub use crate::api::extract::part::{Body, PathId, IdempotencyKeyHeader, PathParameter, Query};
pub use crate::api::extract::raw::DeferredBody;
pub(crate) use crate::api::extract::raw::{BodyError, read_body};

use crate::api::document::OperationInputs;
use crate::api::problem::{ApiError, ViolationLocation, Violation};
use crate::app::Application;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use host_domain::time::Timestamp;
use http::request::Parts;
use http::{HeaderMap, Uri};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// A request that has been checked as a whole.
#[derive(Debug, Clone)]
pub struct Validated<T>(pub T);

/// What a request brought, while its parts are being read.
pub struct RequestReader<'a> {
    app: &'a Application,
    headers: &'a HeaderMap,
    uri: &'a Uri,
    path: Vec<(String, String)>,
    /// The JSON of the body, when a part reads it.
    json: Option<Value>,
    now: Timestamp,
    found: Vec<Violation>,
}

/// Something that a request must, or may, bring.
pub trait RequestPart: Sized + Send {
    /// Whether it reads the JSON body.
    const READS_BODY: bool = false;
    /// Whether it reads the query.
    const READS_QUERY: bool = false;

    /// Reads it. None: violations were noted.
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self>;

    /// Adds it to the API document.
    fn describe(inputs: &mut OperationInputs);
}

/// Rules of a request that a schema cannot say.
pub trait Validate {
    /// Notes every violation; pointers begin at the request, e.g. `/check_out`.
    fn validate(&self, now: Timestamp, found: &mut Violations<'_>) {
        let _ = (now, found);
    }
}

/// Where [`Rules`] note what they find.
pub struct Violations<'a> {
    place: ViolationLocation,
    violations: &'a mut Vec<Violation>,
}

impl Violations<'_> {
    /// Notes a violation. `code` is a stable word, e.g. `one_adult_lead_required`.
    pub fn push(&mut self, pointer: impl Into<String>, code: &str, detail: impl Into<String>) {
        self.violations
            .push(Violation::at(self.place, pointer, code, detail));
    }
}

impl<T: RequestPart> FromRequest<Arc<Application>> for Validated<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<Application>) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let mut incoming = RequestReader::from_head(&mut parts, app).await;
        if T::READS_BODY {
            incoming.json = json::read_json_body(incoming.headers, body, app).await?;
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
    /// What stands before the body.
    async fn from_head(parts: &'a mut Parts, app: &'a Arc<Application>) -> Self {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let mut found = Vec::new();
        let path = match &params {
            Ok(params) => params
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            Err(_) => {
                found.push(Violation::at(
                    ViolationLocation::Path,
                    "",
                    "format",
                    "the path is not UTF-8 text",
                ));
                Vec::new()
            }
        };
        Self {
            app,
            headers: &parts.headers,
            uri: &parts.uri,
            path,
            json: None,
            now: app.clock.now(),
            found,
        }
    }

    fn add_violation(&mut self, place: ViolationLocation, pointer: &str, code: &str, detail: impl Into<String>) {
        self.found.push(Violation::at(place, pointer, code, detail));
    }

    /// The path, as it was sent.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Checks a value against schema and rules, and reads it.
    fn parse_and_validate<T: ToSchema + DeserializeOwned + Validate + 'static>(
        &mut self,
        place: ViolationLocation,
        value: &Value,
    ) -> Option<T> {
        let compiled = match self.app.validators.get::<T>() {
            Ok(compiled) => compiled,
            Err(error) => {
                tracing::error!(%error, "a request cannot be checked");
                self.add_violation(
                    place,
                    "",
                    "unchecked",
                    "the gateway cannot check this request",
                );
                return None;
            }
        };
        let before = self.found.len();
        let known = compiled.validate(place, value, &mut self.found);
        match serde_path_to_error::deserialize::<_, T>(known) {
            Ok(read) => {
                read.validate(
                    self.now,
                    &mut Violations {
                        place,
                        violations: &mut self.found,
                    },
                );
                Some(read)
            }
            Err(_) if self.found.len() > before => None,
            Err(error) => {
                let pointer = pointer(error.path());
                self.add_violation(place, &pointer, "invalid", error.inner().to_string());
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
    segments.fold(String::new(), |pointer, segment| {
        format!("{pointer}/{segment}")
    })
}

/// Nothing is read: a call without body and parameters.
impl RequestPart for () {
    fn extract(_: &mut RequestReader<'_>) -> Option<Self> {
        Some(())
    }

    fn describe(_: &mut OperationInputs) {}
}

macro_rules! tuples {
    ($(($($part:ident),+);)*) => {$(
        impl<$($part: Part),+> Part for ($($part,)+) {
            const READS_BODY: bool = $($part::READS_BODY)||+;
            const READS_QUERY: bool = $($part::READS_QUERY)||+;

            #[expect(non_snake_case, reason = "a variable for each type")]
            fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
                // Every part is read before any is given up, so that all violations are found.
                $(let $part = $part::take(incoming);)+
                Some(($($part?,)+))
            }

            fn describe(inputs: &mut Inputs) {
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
