//! `POST /flights/verify` and `POST /flights/prebooks`.

use stopover_sdk::lenient::{LenientAmount, LenientFlag, LenientText};
use stopover_sdk::lenient_struct;

use crate::wire::booking::{BookedJourney, Booking};

lenient_struct! {
    pub(crate) struct Verified<'a> {
        pub(crate) journey: Option<BookedJourney<'a>> = "journey",
        pub(crate) changes: Changes = "changes",
    }

    /// Differences from the search.
    pub(crate) struct Changes {
        pub(crate) fare_changed: LenientFlag = "fareChanged",
        pub(crate) cabin_changed: LenientFlag = "cabinChanged",
    }

    pub(crate) struct Prebook<'a> {
        pub(crate) id: LenientText<'a> = "prebookId",
        pub(crate) booking: Booking<'a> = "booking",
        /// Price to be charged.
        pub(crate) price: LenientAmount = "price",
        pub(crate) currency: LenientText<'a> = "currency",
        /// Id of the transaction that is paid in the browser.
        pub(crate) transaction_id: LenientText<'a> = "transactionId",
        pub(crate) secret_key: LenientText<'a> = "secretKey",
    }
}
