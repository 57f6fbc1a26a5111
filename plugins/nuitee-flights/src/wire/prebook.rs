//! `POST /flights/verify` and `POST /flights/prebooks`.

use stopover_sdk::lenient::{LenientAmount, LenientFlag, LenientText, OneOrMany};
use stopover_sdk::lenient_struct;

use crate::wire::booking::Booking;
use crate::wire::{Baggage, Fare, Segment, SegmentFare, Terms, TripPricing};

lenient_struct! {
    pub(crate) struct Verified<'a> {
        pub(crate) journey: Option<VerifiedJourney<'a>> = "journey",
        pub(crate) changes: Changes = "changes",
    }

    /// The flights of the whole trip.
    pub(crate) struct VerifiedJourney<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        pub(crate) pricing: TripPricing<'a> = "pricing",
        pub(crate) fare: Fare<'a> = "fare",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Terms<'a> = "terms",
        pub(crate) segments: OneOrMany<Segment<'a>> = "segments",
        pub(crate) segment_fares: OneOrMany<SegmentFare<'a>> = "segmentFares",
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
