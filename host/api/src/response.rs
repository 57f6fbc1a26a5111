//! Successful responses: envelope, status and supplier.

use crate::openapi::describe::{DescribeResponse, OperationOutputs};
use crate::problem::ApiError;
use axum::Json;
use axum::response::{IntoResponse, Response};
use host_domain::supplier::SupplierId;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// Metadata of a response, sent beside `data`.
pub(crate) trait ResponseMeta: Serialize + ToSchema {
    /// Returns the supplier that responded, which is also sent as the header `x-supplier`.
    fn supplier(&self) -> Option<&SupplierId> {
        None
    }
}

/// No metadata.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct NoMeta {}

impl ResponseMeta for NoMeta {}

/// A list of resources.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(crate) struct List<T>(pub Vec<T>);

/// A response `{data, meta}` with a status.
#[derive(Debug, Clone)]
pub(crate) struct ApiResponse<T, M = NoMeta> {
    status: StatusCode,
    data: T,
    meta: Option<M>,
}

/// The result of a handler.
pub(crate) type ApiResult<T, M = NoMeta> = Result<ApiResponse<T, M>, ApiError>;

/// A response with status 200 and without an envelope, because another standard defines its form.
#[derive(Debug, Clone)]
pub(crate) struct UnwrappedResponse<T>(pub T);

/// A response with status 204 and no body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoContent;

impl<T, M> ApiResponse<T, M> {
    pub(crate) fn ok(data: T) -> Self {
        Self::with_status(StatusCode::OK, data)
    }

    pub(crate) fn created(data: T) -> Self {
        Self::with_status(StatusCode::CREATED, data)
    }

    pub(crate) fn accepted(data: T) -> Self {
        Self::with_status(StatusCode::ACCEPTED, data)
    }

    pub(crate) fn meta(mut self, meta: M) -> Self {
        self.meta = Some(meta);
        self
    }

    pub(crate) fn map_meta<N>(self, map: impl FnOnce(M) -> N) -> ApiResponse<T, N> {
        ApiResponse {
            status: self.status,
            data: self.data,
            meta: self.meta.map(map),
        }
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

impl<T: Serialize, M: ResponseMeta> IntoResponse for ApiResponse<T, M> {
    fn into_response(self) -> Response {
        let envelope = Envelope {
            data: &self.data,
            meta: self.meta.as_ref(),
        };
        let mut response = (self.status, Json(envelope)).into_response();
        let supplier = self.meta.as_ref().and_then(ResponseMeta::supplier);
        if let Some(Ok(supplier)) = supplier.map(|id| HeaderValue::from_str(id.as_str())) {
            response.headers_mut().insert("x-supplier", supplier);
        }
        response
    }
}

impl<T: Serialize> IntoResponse for UnwrappedResponse<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

pub(crate) trait ResponseData: Serialize {
    fn describe(outputs: &mut OperationOutputs);
}

impl<T: Serialize + ToSchema> ResponseData for T {
    fn describe(outputs: &mut OperationOutputs) {
        outputs.set_data::<T>();
    }
}

impl<T: Serialize + ToSchema> ResponseData for List<T> {
    fn describe(outputs: &mut OperationOutputs) {
        outputs.set_data_list::<T>();
    }
}

impl<T: ResponseData, M: ResponseMeta> DescribeResponse for ApiResponse<T, M> {
    fn describe_handler(outputs: &mut OperationOutputs) {
        T::describe(outputs);
        outputs.set_meta::<M>();
    }
}

impl<T: Serialize + ToSchema> DescribeResponse for UnwrappedResponse<T> {
    fn describe_handler(outputs: &mut OperationOutputs) {
        outputs.set_body::<T>();
    }
}

impl DescribeResponse for NoContent {
    fn describe_handler(_: &mut OperationOutputs) {}
}
