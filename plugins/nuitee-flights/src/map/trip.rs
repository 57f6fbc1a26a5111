//! The parts of a trip that is verified, prebooked or booked.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::lenient::{LenientText, Part, Single};

use crate::map::{PartReader, baggage};
use crate::wire::booking::BookedJourney;
use crate::wire::{Baggage, Fare, Price, Segment, SegmentFare, Terms};

/// The readable parts of a trip. A part is missing if Nuitee did not send it or if it cannot be read.
#[derive(Default)]
pub(crate) struct TripParts<'a> {
    pub(crate) key: LenientText<'a>,
    /// All flights, in order. They are whole or missing.
    pub(crate) segments: Option<Vec<Segment<'a>>>,
    pub(crate) price: Option<Price<'a>>,
    pub(crate) baggage: Baggage<'a>,
    pub(crate) terms: Option<Terms<'a>>,
    pub(crate) fare: Fare<'a>,
    pub(crate) segment_fares: Vec<SegmentFare<'a>>,
}

impl<'a> TripParts<'a> {
    /// Reads the trip at `pointer`. Parts that cannot be read are left out.
    pub(crate) fn read(trip: BookedJourney<'a>, pointer: &str, dropped: &mut DroppedItems) -> Self {
        let mut parts = PartReader { pointer, dropped };
        let pricing = parts.read("pricing", trip.pricing.into_part());
        let price = parts.read("price", trip.price.into_part());
        let segments = parts.read("segments", trip.segments.into_part());
        let segment_fares = parts.read("segmentFares", trip.segment_fares.into_part());
        let baggage = parts.read("baggage", trip.baggage).unwrap_or_default();
        let checked = baggage::check(&baggage);
        let checked = parts
            .dropped
            .keep(format_args!("{pointer}/baggage"), checked);
        Self {
            key: trip.key,
            segments: segments.map(|segments| segments.0),
            price: pricing
                .and_then(|pricing| pricing.display.value())
                .or(price),
            baggage: checked.map_or_else(Baggage::default, |()| baggage),
            terms: parts.read("terms", trip.terms.into_part()),
            fare: parts
                .read("fare", trip.fare.into_part())
                .unwrap_or_default(),
            segment_fares: segment_fares.unwrap_or_default().0,
        }
    }

    /// Reads a trip that may be missing itself.
    pub(crate) fn read_part(
        trip: Single<Part<BookedJourney<'a>>>,
        pointer: &str,
        dropped: &mut DroppedItems,
    ) -> Self {
        let trip = dropped.readable_part(format_args!("{pointer}"), trip.into_part());
        trip.map(|trip| Self::read(trip, pointer, dropped))
            .unwrap_or_default()
    }
}
