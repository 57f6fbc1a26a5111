//! `POST /flights/rates`.

use serde::Serialize;
use stopover_sdk::lenient::{LenientText, OneOrMany};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

use crate::wire::{Baggage, Duration, Fare, Segment, SegmentFare, Terms, TripPricing};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RatesRequest<'a> {
    pub(crate) legs: Vec<Leg<'a>>,
    /// Number of passengers aged 12 or more.
    pub(crate) adults: u32,
    pub(crate) children: u32,
    pub(crate) infants: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) children_ages: Vec<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cabin_class: Option<&'static str>,
    pub(crate) currency: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) country: Option<&'a str>,
    #[serde(skip_serializing_if = "Filters::is_empty")]
    pub(crate) filters: Filters,
    pub(crate) sort: Sort,
}

#[derive(Debug, Serialize)]
pub(crate) struct Leg<'a> {
    pub(crate) origin: &'a str,
    pub(crate) destination: &'a str,
    pub(crate) date: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<&'static str>,
    #[serde(skip_serializing_if = "LegFilters::is_empty")]
    pub(crate) filters: LegFilters<'a>,
}

/// Filters of a leg. Times are local, `HH:MM`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LegFilters<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) departure_time_after: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) departure_time_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arrival_time_before: Option<&'a str>,
    /// Maximum number of stops, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_stops: Option<u8>,
}

impl LegFilters<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cabin_class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cabin_class_match: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refundable_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) includes_checked_bag: Option<bool>,
    /// Maximum price in major units of the search's currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_price: Option<Decimal>,
}

impl Filters {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sort {
    pub(crate) sort_by: &'static str,
    pub(crate) sort_order: &'static str,
}

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
