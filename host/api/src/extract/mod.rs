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
pub(crate) mod rules;
mod shaped_json;

pub(crate) use crate::extract::body::DeferredBody;
pub(crate) use crate::extract::body::{BodyError, read_body};
pub(crate) use crate::extract::context::Context;
pub(crate) use crate::extract::part::{
    Body, IdempotencyKeyHeader, KeyedBody, OfferBody, OfferRequest, PathId, PathParameter, Query,
    default_limit,
};
pub(crate) use crate::extract::rules::{Validate, Violations};

use crate::openapi::describe::OperationInputs;
use crate::problem::{ApiError, Violation, ViolationList, ViolationLocation};
use crate::state::ApiState;
use crate::validation::{CompiledSchema, InvalidSchema, ValidatorCache};
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use host_application::context::RequestContext;
use host_application::offers::service::OfferService;
use host_domain::time::Timestamp;
use http::request::Parts;
use http::{HeaderMap, Uri};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// A validated request.
#[derive(Debug, Clone)]
pub(crate) struct Validated<T>(pub T);

/// A request whose parts are being read.
pub(crate) struct RequestReader<'a> {
    validators: &'a ValidatorCache,
    offers: &'a OfferService,
    /// The caller, if the request is authenticated.
    caller: Option<&'a RequestContext>,
    headers: &'a HeaderMap,
    uri: &'a Uri,
    path: Vec<(String, String)>,
    /// JSON of the body, if a part reads it.
    json: Option<Value>,
    now: Timestamp,
    found: ViolationList,
}

/// Schema of the body that a part reads. Parts that read none have none.
pub(crate) type BodySchema = Option<Result<Arc<CompiledSchema>, InvalidSchema>>;

pub(crate) trait RequestPart: Sized + Send {
    const READS_QUERY: bool = false;

    /// Returns the schema of the body, by whose form the body is read.
    fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
        let _ = incoming;
        None
    }

    /// Extracts the part. Returns `None` if violations were added.
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self>;

    fn describe(inputs: &mut OperationInputs);
}

impl<T: RequestPart> FromRequest<ApiState> for Validated<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let mut incoming = RequestReader::from_head(&mut parts, state).await;
        if let Some(schema) = T::body_schema(&incoming) {
            let schema = schema.map_err(ApiError::internal)?;
            let (headers, timeout) = (incoming.headers, state.request_timeout);
            let (shape, found) = (schema.shape(), &mut incoming.found);
            incoming.json = json::read_json_body(headers, body, timeout, shape, found).await?;
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
        let mut found = ViolationList::default();
        let path = match &params {
            Ok(params) => params
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            Err(_) => {
                let detail = "the path is not UTF-8 text";
                found.push(Violation::at(ViolationLocation::Path, "", "format", detail));
                Vec::new()
            }
        };
        Self {
            validators: &state.validators,
            offers: &state.application.queries.offers,
            caller: parts.extensions.get(),
            headers: &parts.headers,
            uri: &parts.uri,
            path,
            json: None,
            now: state.now(),
            found,
        }
    }

    fn report(
        &mut self,
        location: ViolationLocation,
        pointer: &str,
        code: &str,
        detail: impl Into<String>,
    ) {
        self.found
            .push(Violation::at(location, pointer, code, detail));
    }

    /// Returns the path as the client sent it.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Validates a value against its schema, parses it, and checks its rules with `check`.
    fn parse_and_check<T: ToSchema + DeserializeOwned + 'static>(
        &mut self,
        location: ViolationLocation,
        value: &Value,
        check: impl FnOnce(&T, &mut Violations<'_>),
    ) -> Option<T> {
        let compiled = match self.validators.get::<T>() {
            Ok(compiled) => compiled,
            Err(error) => {
                tracing::error!(%error, "a request cannot be validated because its schema is invalid; report it as a defect");
                let detail = "the gateway cannot check this request";
                self.report(location, "", "unchecked", detail);
                return None;
            }
        };
        let known = compiled.validate(location, value, &mut self.found);
        let (shape, found) = (compiled.shape(), &mut self.found);
        rules::deserialize_and_check(location, known, shape, found, check)
    }
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
            const READS_QUERY: bool = $($part::READS_QUERY)||+;

            fn body_schema(incoming: &RequestReader<'_>) -> BodySchema {
                None$(.or_else(|| $part::body_schema(incoming)))+
            }

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
