//! `/air/order_cancellations`.

use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText, OrDefault, Part};

lenient_struct! {
    /// A cancellation quote. It is a cancellation once it has `confirmed_at`.
    pub(crate) struct OrderCancellation {
        pub(crate) id: String,
        pub(crate) order_id: String,
        pub(crate) confirmed_at: Part<String>,
        pub(crate) refund_amount: OrDefault<LenientAmount>,
        pub(crate) refund_currency: OrDefault<OptionalText>,
        pub(crate) refund_to: OrDefault<OptionalText>,
        pub(crate) expires_at: OrDefault<OptionalText>,
        pub(crate) created_at: OrDefault<OptionalText>,
    }
}
