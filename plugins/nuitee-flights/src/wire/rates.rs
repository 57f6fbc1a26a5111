//! `POST /flights/rates`.

use stopover_sdk::lenient::{LenientText, OneOrMany};
use stopover_sdk::lenient_struct;

use crate::wire::{Baggage, Duration, Fare, Segment, SegmentFare, Terms, TripPricing};

lenient_struct! {
    /// Results of one of Nuitee's providers.
    pub(crate) struct Batch<'a> {
        pub(crate) journeys: OneOrMany<Itinerary<'a>> = "journeys",
    }

    /// The flights of the whole trip, including the return, and the fares for them.
    pub(crate) struct Itinerary<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        pub(crate) segments: OneOrMany<Segment<'a>> = "segments",
        pub(crate) leg_durations: OneOrMany<LegDuration<'a>> = "legDurations",
        pub(crate) offers: OneOrMany<Offer<'a>> = "offers",
    }

    /// Duration of one direction, from the first departure to the last arrival.
    pub(crate) struct LegDuration<'a> {
        pub(crate) duration: Duration<'a> = "duration",
    }

    pub(crate) struct Offer<'a> {
        pub(crate) id: LenientText<'a> = "offerId",
        pub(crate) expiration: LenientText<'a> = "expiration",
        pub(crate) pricing: TripPricing<'a> = "pricing",
        pub(crate) fare: Fare<'a> = "fare",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Terms<'a> = "terms",
        pub(crate) segment_fares: OneOrMany<SegmentFare<'a>> = "segmentFares",
    }
}
