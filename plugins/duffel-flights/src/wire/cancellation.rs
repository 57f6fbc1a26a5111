//! `/air/order_cancellations`.

use crate::wire::{Amount, record};

record! {
    /// A quote, and once it has `confirmed_at` a cancellation.
    OrderCancellation {
        id: String,
        order_id: String,
        refund_amount: Amount,
        refund_currency: String,
        refund_to: String,
        expires_at: Option<String>,
        confirmed_at: Option<String>,
        created_at: String,
    }
}
