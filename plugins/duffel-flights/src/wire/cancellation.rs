//! `/air/order_cancellations`.

use stopover_sdk::lenient_struct;

use crate::wire::LenientAmount;

lenient_struct! {
    /// A cancellation quote. It is a cancellation once it has `confirmed_at`.
    pub(crate) struct OrderCancellation {
        pub(crate) id: String,
        pub(crate) order_id: String,
        pub(crate) refund_amount: LenientAmount,
        pub(crate) refund_currency: String,
        pub(crate) refund_to: String,
        pub(crate) expires_at: Option<String>,
        pub(crate) confirmed_at: Option<String>,
        pub(crate) created_at: String,
    }
}
