//! The ledger: one entry for each effect, even if its response was lost. Entries are only added.

use serde::{Deserialize, Serialize};

use crate::money::Currency;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EntryKind {
    Booking,
    Cancellation,
    Bags,
    Authorization,
    Capture,
    Void,
    Refund,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub(crate) at: i64,
    pub(crate) kind: EntryKind,
    pub(crate) supplier: String,
    /// Reference that the caller sent.
    pub(crate) client_reference: String,
    /// The sandbox's own reference of the booking or payment.
    pub(crate) reference: String,
    /// Amount in minor units.
    pub(crate) amount: i64,
    pub(crate) currency: Currency,
}

/// The cancellation of an order, or the sum of all cancellations of a hotel booking so far.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Cancellation {
    pub(crate) reference: String,
    pub(crate) fee: i64,
    pub(crate) refund: i64,
    pub(crate) at: i64,
}

/// Table of the entries.
pub(crate) const TABLE: &str = "ledger";
