//! Webhooks for booking events. Each product has the same routes under its own path; the products
//! share the handlers.

pub(crate) mod delivery;
pub(crate) mod event_type;
pub(crate) mod subscription;

use crate::extract::{RequestPart, RequestReader, Validate};
use crate::openapi::OperationInputs;
use host_domain::event::Product;
use serde::Deserialize;
use utoipa::ToSchema;

/// The product of a request: the second segment of its path.
pub(crate) struct PathProduct(pub(crate) Product);

impl RequestPart for PathProduct {
    fn extract(incoming: &mut RequestReader<'_>) -> Option<Self> {
        let product = incoming.path().split('/').nth(2);
        product.and_then(Product::parse).map(Self)
    }

    fn describe(_: &mut OperationInputs) {}
}

/// An empty request: `{}`, or no body.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(crate) struct EmptyRequest {}

impl Validate for EmptyRequest {}
