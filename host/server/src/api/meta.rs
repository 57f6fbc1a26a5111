//! What stands beside the data of more than one answer.

use crate::api::answer::ResponseMeta;
use host_domain::supplier::{Checkout, SupplierId};
use host_storage::PageRequest;
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
    pub(crate) const fn new(supplier: SupplierId) -> Self {
        Self { supplier }
    }
}

impl ResponseMeta for SupplierMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

/// What a browser needs to pay.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PaymentSdk {
    /// For the payment SDK; not retrievable later.
    token: String,
}

/// What a browser needs at the supplier's own checkout.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CheckoutMeta {
    /// Where to pay; null: the supplier's SDK takes the token.
    #[schema(required)]
    url: Option<String>,
    /// Not retrievable later.
    token: String,
}

/// What is told with a bound offer, once.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PrebookMeta {
    /// The supplier that holds the offer.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Present the first time, with `use_payment_sdk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_sdk: Option<PaymentSdk>,
    /// Present the first time, where the supplier takes the payment itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<CheckoutMeta>,
}

impl PrebookMeta {
    /// Of an offer that was bound just now, with what is told only once.
    pub(crate) fn created(
        supplier: SupplierId,
        sdk_token: Option<String>,
        checkout: Option<Checkout>,
    ) -> Self {
        Self {
            supplier,
            payment_sdk: sdk_token.map(|token| PaymentSdk { token }),
            checkout: checkout.map(|Checkout { url, token }| CheckoutMeta { url, token }),
        }
    }

    /// Of an offer that was bound before.
    pub(crate) const fn existing(supplier: SupplierId) -> Self {
        Self {
            supplier,
            payment_sdk: None,
            checkout: None,
        }
    }
}

impl ResponseMeta for PrebookMeta {
    fn supplier(&self) -> Option<&SupplierId> {
        Some(&self.supplier)
    }
}

/// Which part of a list this is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Pagination {
    limit: u32,
    offset: u64,
    /// Whether the next page would hold something.
    has_more: bool,
    /// How many there are without paging, exactly.
    #[schema(minimum = 0)]
    total: u64,
}

/// Which part of a list this is, and how long the list is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct PaginationMeta {
    pagination: Pagination,
}

impl PaginationMeta {
    pub(crate) const fn of(page: PageRequest, has_more: bool, total: u64) -> Self {
        Self {
            pagination: Pagination {
                limit: page.limit,
                offset: page.offset,
                has_more,
                total,
            },
        }
    }
}

impl ResponseMeta for PaginationMeta {}
