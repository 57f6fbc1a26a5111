//! JSON resources of flight offers in a pricing response.

use crate::flight::details::{PaymentTermsResource, SegmentPassengerDetailsResource};
use crate::flight::itinerary::{
    CabinResource, FareConditionsResource, JourneyTimesResource, SegmentFlightResource,
};
use crate::value::{IsoDateTime, MoneyResource};
use host_domain::flight::{self, supplier_api};
use host_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// The baggage that every passenger with a seat may bring on every segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct IncludedBaggageResource {
    /// Whether a checked bag is included.
    checked: bool,
    /// Whether a cabin bag is included.
    carry_on: bool,
}

/// The cabin and baggage of one passenger on one segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OfferPassengerResource {
    /// Zero-based position of the passenger, by type: adults, children, infants.
    #[schema(minimum = 0, maximum = 255)]
    position: u32,
    cabin_class: CabinResource,
    /// Name that the airline gives the cabin. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    cabin_name: Option<String>,
    /// Number of checked bags. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    checked_bags: Option<u32>,
    /// Number of cabin bags. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0)]
    carry_on_bags: Option<u32>,
    #[serde(flatten)]
    details: SegmentPassengerDetailsResource,
}

/// A flight under one flight number from one airport to the next.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferSegmentResource {
    #[serde(flatten)]
    flight: SegmentFlightResource,
    /// IATA code of the airline that sells the flight.
    #[schema(example = "BA")]
    marketing_carrier_code: String,
    cabin_class: CabinResource,
    /// Cabin and baggage of each passenger. Absent if the supplier does not report them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    passengers: Vec<OfferPassengerResource>,
}

/// A requested journey from an origin to a destination.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OfferJourneyResource {
    #[serde(flatten)]
    times: JourneyTimesResource,
    /// Segments in order of travel.
    segments: Vec<OfferSegmentResource>,
}

/// A bookable flight offer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FlightOfferResource {
    /// Opaque reference that binds fare, passenger types and price to the organization. It can be
    /// used for a prebook until `expires_at`.
    #[schema(pattern = "^[A-Za-z0-9_-]+$")]
    offer_reference: String,
    /// Price for all passengers, taxes included.
    total_amount: MoneyResource,
    /// Time until which the offer can be prebooked.
    expires_at: IsoDateTime,
    /// Name that the airline gives the fare.
    #[schema(required, example = "Economy Flex")]
    fare_family: Option<String>,
    /// Whether the ticket can be refunded, possibly for a fee. Null if it is not known.
    #[schema(required)]
    refundable: Option<bool>,
    fare_conditions: FareConditionsResource,
    /// Whether prebook requires a travel document for every passenger.
    documents_required: bool,
    included_baggage: IncludedBaggageResource,
    /// One journey for each journey of the request, in the same order.
    journeys: Vec<OfferJourneyResource>,
    /// Sum of the durations of all journeys. Null if the duration of any journey is not known.
    #[schema(required, minimum = 0)]
    total_duration_minutes: Option<u32>,
    /// Fare without taxes. Absent if the supplier does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    fare_amount: Option<MoneyResource>,
    /// Taxes. Absent if the supplier does not report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    fare_tax_amount: Option<MoneyResource>,
    /// Fees. Absent if the supplier does not report them separately; fare or taxes then contain them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    fee_amount: Option<MoneyResource>,
    /// Deadline for the payment of the offer at the supplier. Absent if the supplier does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    payment_terms: Option<PaymentTermsResource>,
}

/// Builds the resource of an offer with the given offer reference.
pub fn offer(
    offer: &supplier_api::FlightOffer,
    reference: String,
    expires_at: Timestamp,
) -> FlightOfferResource {
    FlightOfferResource {
        offer_reference: reference,
        total_amount: offer.total.into(),
        expires_at: expires_at.into(),
        fare_family: offer.fare_family.clone(),
        refundable: offer.refundable,
        fare_conditions: offer.fare_conditions.into(),
        documents_required: offer.documents_required,
        included_baggage: IncludedBaggageResource {
            checked: offer.checked_bag_included,
            carry_on: offer.carry_on_included,
        },
        journeys: offer.journeys.iter().map(journey).collect(),
        total_duration_minutes: offer.total_duration_minutes(),
        fare_amount: offer.details.fare.map(MoneyResource::from),
        fare_tax_amount: offer.details.fare_tax.map(MoneyResource::from),
        fee_amount: offer.details.fee.map(MoneyResource::from),
        payment_terms: offer.details.payment_terms.map(PaymentTermsResource::from),
    }
}

fn journey(journey: &flight::Journey) -> OfferJourneyResource {
    OfferJourneyResource {
        times: journey.into(),
        segments: journey.segments.iter().map(segment).collect(),
    }
}

fn segment(segment: &flight::Segment) -> OfferSegmentResource {
    OfferSegmentResource {
        flight: segment.into(),
        marketing_carrier_code: segment.marketing_carrier_code.clone(),
        cabin_class: segment.cabin.into(),
        passengers: segment.passengers.iter().map(passenger).collect(),
    }
}

fn passenger(passenger: &flight::SegmentPassenger) -> OfferPassengerResource {
    OfferPassengerResource {
        position: passenger.passenger.into(),
        cabin_class: passenger.cabin.into(),
        cabin_name: passenger.cabin_name.clone(),
        checked_bags: passenger.checked_bags.map(u32::from),
        carry_on_bags: passenger.carry_on_bags.map(u32::from),
        details: (&passenger.details).into(),
    }
}
