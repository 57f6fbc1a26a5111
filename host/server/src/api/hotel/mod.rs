//! Hotels: requests, answers and handlers, one file a noun.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod cancellation;
pub(crate) mod completion;
pub(crate) mod content;
mod guest;
pub(crate) mod offer;
pub(crate) mod place;
pub(crate) mod prebook;
pub(crate) mod search;
mod stay;
pub(crate) mod weather;

use crate::api::answer::Meta;
use host_domain::supplier::SupplierId;
use serde::Serialize;
use utoipa::ToSchema;

/// Who answered.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SupplierMeta {
    /// The supplier that answered.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
}

impl SupplierMeta {
    pub(crate) const fn of(supplier: SupplierId) -> Self {
        Self { supplier }
    }
}

impl Meta for SupplierMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}
