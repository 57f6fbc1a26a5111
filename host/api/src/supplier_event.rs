//! Webhooks that suppliers send when something changed. These requests carry no API key. Either the
//! adapter verifies that the supplier sent the request, or the path contains a secret token.

use crate::extract::{DeferredBody, PathId, PathParameter, read_body};
use crate::problem::ApiError;
use crate::response::{ApiResponse, ApiResult};
use axum::extract::State;
use host_application::supplier_event::service::{InboundWebhook, SupplierEventService};
use host_domain::supplier::SupplierId;
use host_domain::supplier_event::BODY_BYTES_MAX;
use http::HeaderMap;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// Time in which the body must arrive. Suppliers send from servers, in one go; a slow sender would
/// block others.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// Receipt of a supplier's webhook request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Receipt)]
pub(crate) struct SupplierEventsReceipt {
    /// Number of events in the request that are stored, by this request or before.
    received: usize,
}

/// Secret token at the end of a webhook path, shared only with the supplier.
#[derive(Clone)]
pub(crate) struct EventsToken(String);

impl PathParameter for SupplierId {
    const NAME: &'static str = "id";
    const PATTERN: &'static str = "^[A-Z][A-Z0-9_]{0,63}$";
    const CHARS_MAX: usize = 64;
    const DESCRIPTION: &'static str = "Id of a supplier as configured by the operator.";

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PathParameter for EventsToken {
    const NAME: &'static str = "token";
    const PATTERN: &'static str = "^[A-Za-z0-9_-]{32,128}$";
    const DESCRIPTION: &'static str = "The supplier's `events_token`.";

    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// Report changes at a supplier
///
/// For webhooks of suppliers, not for API clients. Responds 200 once every event is stored; an
/// event that is sent repeatedly is stored once. The gateway then reads the booking from the
/// supplier. The content of the body changes nothing by itself. Responds 404 for a supplier that
/// has no webhooks, or whose webhooks have a path with a token.
#[utoipa::path(post, path = "/v1/suppliers/{id}/events", tag = "Supplier webhooks",
    responses((status = 200, description = "Stored.")),
    extensions(("x-error-codes" = json!(["not_found", "invalid_signature", "supplier_unavailable"]))))]
pub(crate) async fn receive_supplier_events(
    State(supplier_events): State<Arc<SupplierEventService>>,
    request: DeferredBody<PathId<SupplierId>>,
) -> ApiResult<SupplierEventsReceipt> {
    let PathId(supplier) = request.parts.clone();
    receive(&supplier_events, &supplier, None, request).await
}

/// Report changes at a supplier that does not sign its webhooks
///
/// Same as the operation without a token, at a path that only the supplier has. Responds 404 for
/// any other token.
#[utoipa::path(post, operation_id = "receive_secret_supplier_events", path = "/v1/suppliers/{id}/events/{token}", tag = "Supplier webhooks",
    responses((status = 200, description = "Stored.")),
    extensions(("x-error-codes" = json!(["not_found", "invalid_signature", "supplier_unavailable"]))))]
pub(crate) async fn receive_supplier_events_with_token(
    State(supplier_events): State<Arc<SupplierEventService>>,
    request: DeferredBody<(PathId<SupplierId>, PathId<EventsToken>)>,
) -> ApiResult<SupplierEventsReceipt> {
    let (PathId(supplier), PathId(token)) = request.parts.clone();
    receive(&supplier_events, &supplier, Some(&token.0), request).await
}

/// Receives a webhook request. Anyone may send one, so the body is read only after the request is
/// admitted.
async fn receive<T>(
    supplier_events: &SupplierEventService,
    supplier: &SupplierId,
    token: Option<&str>,
    request: DeferredBody<T>,
) -> ApiResult<SupplierEventsReceipt> {
    let admitted = supplier_events.admit(supplier, token);
    let admitted = admitted.map_err(|error| ApiError::from_admit(supplier, &error))?;
    let body = read_body(&request.headers, request.body, BODY_BYTES_MAX, BODY_TIMEOUT).await?;
    let webhook = InboundWebhook {
        headers: header_strings(&request.headers),
        body: body.into(),
        request_id: request.context.request_id.to_string(),
        deadline: request.context.deadline.instant(),
    };
    let received = supplier_events.receive(&admitted, webhook).await;
    let received = received.map_err(|error| ApiError::from_receive(supplier, error))?;
    Ok(ApiResponse::ok(SupplierEventsReceipt { received }))
}

/// Returns the headers as text. A value that is not text was not signed as text either.
fn header_strings(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}
