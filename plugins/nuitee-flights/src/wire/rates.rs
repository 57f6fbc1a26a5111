//! `POST /flights/rates`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use stopover_sdk::lenient::{LenientList, LenientText, OneOrMany, Part, Single};
use stopover_sdk::lenient_struct;

use crate::wire::{Baggage, Duration, Fare, Segment, SegmentFare, Terms, TripPricing};

lenient_struct! {
    /// Results of one of Nuitee's providers.
    pub(crate) struct Batch<'a> {
        pub(crate) journeys: Option<LenientList<Itinerary<'a>>> = "journeys",
    }

    /// The flights of the whole trip, including the return, and the fares for them.
    pub(crate) struct Itinerary<'a> {
        pub(crate) key: LenientText<'a> = "journeyKey",
        /// Time at which Nuitee received the flights from their provider.
        pub(crate) timestamp: LenientText<'a> = "timestamp",
        pub(crate) segments: Single<OneOrMany<Segment<'a>>> = "segments",
        /// Only the order of a search depends on them.
        pub(crate) leg_durations: Part<LenientList<LegDuration<'a>>> = "legDurations",
        pub(crate) offers: Option<LenientList<Offer<'a>>> = "offers",
    }

    /// Duration of one direction, from the first departure to the last arrival.
    pub(crate) struct LegDuration<'a> {
        pub(crate) duration: Duration<'a> = "duration",
    }

    pub(crate) struct Offer<'a> {
        pub(crate) id: Single<LenientText<'a>> = "offerId",
        pub(crate) expiration: LenientText<'a> = "expiration",
        pub(crate) pricing: Single<TripPricing<'a>> = "pricing",
        pub(crate) fare: Single<Fare<'a>> = "fare",
        pub(crate) baggage: Baggage<'a> = "baggage",
        pub(crate) terms: Single<Terms<'a>> = "terms",
        pub(crate) segment_fares: Single<OneOrMany<SegmentFare<'a>>> = "segmentFares",
        pub(crate) segment_amenities: OneOrMany<SegmentAmenities<'a>> = "segmentAmenities",
    }

    pub(crate) struct SegmentAmenities<'a> {
        pub(crate) segment_key: LenientText<'a> = "segmentKey",
        /// Code or name of the aircraft.
        pub(crate) aircraft: LenientText<'a> = "aircraftType",
    }
}

/// A batch whose lists were sent as lists.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only the form of the document counts")]
pub(crate) struct ListedBatch {
    journeys: Vec<ListedItinerary>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the form of the document counts")]
struct ListedItinerary {
    offers: Vec<IgnoredAny>,
}
