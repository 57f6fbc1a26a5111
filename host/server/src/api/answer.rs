//! What a successful call answers: the envelope, its status, and who supplied it.

use crate::api::document::{Outputs, Reply};
use axum::Json;
use axum::response::{IntoResponse, Response};
use host_domain::supplier::SupplierId;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// What stands beside `data`.
pub trait Meta: Serialize + ToSchema {
    /// The adapter that answered; also sent as the header `x-supplier`.
    fn supplier(&self) -> Option<&SupplierId> {
        None
    }
}

/// No meta.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct NoMeta {}

impl Meta for NoMeta {}

/// Several of something.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct List<T>(pub Vec<T>);

/// `{data, meta}`, with a status.
#[derive(Debug, Clone)]
pub struct Answer<T, M = NoMeta> {
    status: StatusCode,
    data: T,
    meta: Option<M>,
}

/// 200, without the envelope: the form of it is another standard's.
#[derive(Debug, Clone)]
pub struct Bare<T>(pub T);

/// Done, with nothing to say: 204.
#[derive(Debug, Clone, Copy)]
pub struct NoContent;

impl<T, M> Answer<T, M> {
    /// 200.
    pub fn ok(data: T) -> Self {
        Self::with_status(StatusCode::OK, data)
    }

    /// 201.
    pub fn created(data: T) -> Self {
        Self::with_status(StatusCode::CREATED, data)
    }

    /// 202.
    pub fn accepted(data: T) -> Self {
        Self::with_status(StatusCode::ACCEPTED, data)
    }

    /// Adds what stands beside the data.
    #[must_use]
    pub fn meta(mut self, meta: M) -> Self {
        self.meta = Some(meta);
        self
    }

    fn with_status(status: StatusCode, data: T) -> Self {
        Self {
            status,
            data,
            meta: None,
        }
    }
}

#[derive(Serialize)]
struct Envelope<'a, T, M> {
    data: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a M>,
}

impl<T: Serialize, M: Meta> IntoResponse for Answer<T, M> {
    fn into_response(self) -> Response {
        let envelope = Envelope {
            data: &self.data,
            meta: self.meta.as_ref(),
        };
        let mut response = (self.status, Json(envelope)).into_response();
        let supplier = self.meta.as_ref().and_then(Meta::supplier);
        if let Some(Ok(supplier)) = supplier.map(|id| HeaderValue::from_str(id.as_str())) {
            response.headers_mut().insert("x-supplier", supplier);
        }
        response
    }
}

impl<T: Serialize> IntoResponse for Bare<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// What can stand in `data`.
pub trait Data: Serialize {
    /// Adds its schema to the API document.
    fn describe(outputs: &mut Outputs);
}

impl<T: Serialize + ToSchema> Data for T {
    fn describe(outputs: &mut Outputs) {
        outputs.data_is::<T>();
    }
}

impl<T: Serialize + ToSchema> Data for List<T> {
    fn describe(outputs: &mut Outputs) {
        outputs.data_is_list_of::<T>();
    }
}

impl<T: Data, M: Meta> Reply for Answer<T, M> {
    fn describe(outputs: &mut Outputs) {
        T::describe(outputs);
        outputs.meta_is::<M>();
    }
}

impl<T: Serialize + ToSchema> Reply for Bare<T> {
    fn describe(outputs: &mut Outputs) {
        outputs.whole_is::<T>();
    }
}

impl Reply for NoContent {
    fn describe(_: &mut Outputs) {}
}
