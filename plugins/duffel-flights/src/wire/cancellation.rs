//! `/air/order_cancellations`.

use stopover_sdk::lenient::Essential;
use stopover_sdk::lenient_struct;

use crate::wire::{LenientAmount, OptionalText, OrDefault};

lenient_struct! {
    /// A cancellation quote. It is a cancellation once it has `confirmed_at`.
    pub(crate) struct OrderCancellation {
        id: Essential<String>,
        order_id: Essential<String>,
        pub(crate) confirmed_at: Essential<String>,
        pub(crate) refund_amount: Essential<LenientAmount>,
        refund_currency: Essential<OptionalText>,
        refund_to: Essential<OptionalText>,
        pub(crate) expires_at: OrDefault<OptionalText>,
        pub(crate) created_at: OrDefault<OptionalText>,
    }
}

/// A text is empty if it is missing, unreadable or ambiguous.
impl OrderCancellation {
    pub(crate) fn id(&self) -> &str {
        self.id.value().map_or("", String::as_str)
    }

    pub(crate) fn order_id(&self) -> &str {
        self.order_id.value().map_or("", String::as_str)
    }

    pub(crate) fn refund_currency(&self) -> &str {
        self.refund_currency
            .value()
            .map_or("", OptionalText::as_str)
    }

    pub(crate) fn refund_to(&self) -> &str {
        self.refund_to.value().map_or("", OptionalText::as_str)
    }
}
