//! Flight offers, as pricing answers them.

use crate::api::value::{IsoDateTime, Money};
use crate::render::flight::itinerary::{Cabin, FareConditions, JourneyTimes, SegmentFlight};
use host_domain::flight;
use host_domain::flight::supply;
use host_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// What every passenger with a seat may bring on every segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct IncludedBaggage {
    /// A checked bag.
    checked: bool,
    /// A bag in the cabin.
    carry_on: bool,
}

/// One flight number from one airport to the next.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct OfferSegment {
    #[serde(flatten)]
    flight: SegmentFlight,
    /// IATA code of the airline that sells the flight.
    #[schema(example = "BA")]
    marketing_carrier_code: String,
    cabin_class: Cabin,
}

/// From an origin to a destination, as asked for.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct OfferJourney {
    #[serde(flatten)]
    times: JourneyTimes,
    /// In order of travel.
    segments: Vec<OfferSegment>,
}

/// A fare that can be booked.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct FlightOffer {
    /// Opaque; binds fare, passengers' types and price to the organization.
    /// Prebook takes it until `expires_at`.
    #[schema(pattern = "^[A-Za-z0-9_-]+$")]
    offer_reference: String,
    /// For all passengers, taxes included.
    total_amount: Money,
    /// Until when it can be prebooked.
    expires_at: IsoDateTime,
    /// The airline's name of the fare.
    #[schema(required, example = "Economy Flex")]
    fare_family: Option<String>,
    /// Whether the ticket can be given back, perhaps at a cost; null where it is not told.
    #[schema(required)]
    refundable: Option<bool>,
    fare_conditions: FareConditions,
    /// Prebook needs a travel document of every passenger.
    documents_required: bool,
    included_baggage: IncludedBaggage,
    /// One for each journey of the request, in its order.
    journeys: Vec<OfferJourney>,
    /// Of all journeys together; null when that of one is not known.
    #[schema(required, minimum = 0)]
    total_duration_minutes: Option<u32>,
}

/// An offer, under the reference that was made for it.
pub(crate) fn offer(
    offer: &supply::Offer,
    reference: String,
    expires_at: Timestamp,
) -> FlightOffer {
    FlightOffer {
        offer_reference: reference,
        total_amount: offer.total.into(),
        expires_at: expires_at.into(),
        fare_family: offer.fare_family.clone(),
        refundable: offer.refundable,
        fare_conditions: offer.fare_conditions.into(),
        documents_required: offer.documents_required,
        included_baggage: IncludedBaggage {
            checked: offer.checked_bag_included,
            carry_on: offer.carry_on_included,
        },
        journeys: offer.journeys.iter().map(journey).collect(),
        total_duration_minutes: offer.total_duration_minutes(),
    }
}

fn journey(journey: &flight::Journey) -> OfferJourney {
    OfferJourney {
        times: journey.into(),
        segments: journey.segments.iter().map(segment).collect(),
    }
}

fn segment(segment: &flight::Segment) -> OfferSegment {
    OfferSegment {
        flight: segment.into(),
        marketing_carrier_code: segment.marketing_carrier_code.clone(),
        cabin_class: segment.cabin.into(),
    }
}
