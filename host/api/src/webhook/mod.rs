//! Webhooks for booking events. Each product has the same routes under its own path; the products
//! share the handlers.

pub(crate) mod delivery;
pub(crate) mod event_type;
pub(crate) mod subscription;

use crate::extract::{IdempotencyKeyHeader, RequestPart, RequestReader, Validate};
use crate::openapi::describe::OperationInputs;
use host_application::context::RequestContext;
use host_application::idempotency::IdempotentRequest;
use host_domain::event::Product;
use serde::Deserialize;
use utoipa::ToSchema;

/// The product of a request: the second segment of its path.
pub(crate) struct PathProduct(pub(crate) Product);

impl PathProduct {
    fn of(incoming: &RequestReader<'_>) -> Option<Self> {
        let product = incoming.path().split('/').nth(2);
        product.and_then(Product::parse).map(Self)
    }
}

impl RequestPart for PathProduct {
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        Self::of(incoming)
    }

    fn describe(_: &mut OperationInputs) {}
}

/// An empty request: `{}`, or no body.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(crate) struct EmptyRequest {}

impl Validate for EmptyRequest {}

fn idempotent_request(
    context: &RequestContext,
    operation: &str,
    product: Product,
    key: Option<IdempotencyKeyHeader>,
) -> Option<IdempotentRequest> {
    let operation = format!("{}_webhook_{operation}", product.as_str());
    key.map(|key| key.for_operation(&context.owner, &operation))
}
