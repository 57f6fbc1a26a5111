//! Telling subscribers what happens to bookings. Each product has the same routes,
//! under its own path: there is one handler for both.

pub(crate) mod delivery;
mod event_type;
pub(crate) mod subscription;

use crate::api::document::Inputs;
use crate::api::extract::{Incoming, Part, Rules};
use host_domain::event::Product;
use serde::Deserialize;
use utoipa::ToSchema;

/// The product whose events a call is about: the second segment of its path.
pub(crate) struct Of(pub(crate) Product);

impl Part for Of {
    fn take(incoming: &mut Incoming<'_>) -> Option<Self> {
        let product = incoming.path().split('/').nth(2);
        product.and_then(Product::parse).map(Self)
    }

    fn describe(_: &mut Inputs) {}
}

/// Nothing to say: `{}`, or no body at all.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(crate) struct EmptyRequest {}

impl Rules for EmptyRequest {}
