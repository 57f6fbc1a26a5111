//! Response metadata that several operations share.

use crate::response::{ApiResponse, ResponseMeta};
use host_domain::booking::{Booking, BookingKind, BookingStatus};
use host_domain::page::PageRequest;
use host_domain::supplier::{Checkout, SupplierId};
use serde::Serialize;
use utoipa::ToSchema;

/// The supplier that responded.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SupplierMeta {
    /// Id of the supplier that responded.
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

impl<T> ApiResponse<T, SupplierMeta> {
    /// Creates the response to a cancellation: with status 202 while it is in progress.
    pub(crate) fn cancellation<K: BookingKind>(
        booking: Booking<K>,
        to_resource: fn(&Booking<K>) -> T,
    ) -> Self {
        let resource = to_resource(&booking);
        let response = match booking.status() {
            BookingStatus::CancelInProgress => Self::accepted(resource),
            _ => Self::ok(resource),
        };
        response.meta(SupplierMeta::new(booking.supplier))
    }
}

/// Data that a browser needs for the payment.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PaymentSdk {
    /// Token for the payment SDK. It cannot be retrieved later.
    token: String,
}

/// Data that a browser needs for the supplier's own checkout.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CheckoutMeta {
    /// URL of the checkout; null if the supplier's SDK takes the token instead.
    #[schema(required)]
    url: Option<String>,
    /// Token for the checkout. It cannot be retrieved later.
    token: String,
}

/// Metadata of a prebooked offer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PrebookMeta {
    /// Id of the supplier that holds the offer.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "SANDBOX_HOTELS")]
    supplier: SupplierId,
    /// Present in the first response only, if `use_payment_sdk` was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_sdk: Option<PaymentSdk>,
    /// Present in the first response only, if the supplier collects the payment itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<CheckoutMeta>,
}

impl PrebookMeta {
    /// Creates the metadata of an offer that was bound by this request, including the tokens that
    /// are sent only once.
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

    /// Creates the metadata of an offer that was bound by an earlier request.
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

/// Position of a page in a list.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Pagination {
    limit: u32,
    offset: u64,
    /// Whether there are further items after this page.
    has_more: bool,
    /// Exact number of items on all pages.
    #[schema(minimum = 0)]
    total: u64,
}

/// Position of a page in a list, and the length of the list.
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
