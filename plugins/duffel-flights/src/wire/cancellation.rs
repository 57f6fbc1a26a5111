//! `/air/order_cancellations`.

use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText};

lenient_struct! {
    /// A cancellation quote. It is a cancellation once it has `confirmed_at`.
    pub(crate) struct OrderCancellation {
        pub(crate) id: String,
        pub(crate) order_id: String,
        pub(crate) confirmed_at: Option<String>,
        pub(crate) refund_amount: LenientAmount,
        pub(crate) refund_currency: OptionalText,
        pub(crate) refund_to: OptionalText,
        pub(crate) expires_at: OptionalText,
        pub(crate) created_at: OptionalText,
    }
}
