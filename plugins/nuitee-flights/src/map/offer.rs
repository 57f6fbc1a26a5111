//! Conversion of Nuitee's itineraries and their offers to a flat list of offers.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use stopover_sdk::flight_pricing::{Offer, PriceRequest, Sort};
use stopover_sdk::types::flight::Journey;
use stopover_sdk::types::{MinorUnits, TimestampMs};
use stopover_sdk::{json, time};

use crate::map::journey::{Trip, cabins, flights, journeys};
use crate::map::{baggage, minor, search, terms};
use crate::wire;
use crate::wire::rates::Itinerary;

/// Maximum size of an offer reference that the gateway stores, in bytes.
const SUPPLIER_OFFER_BYTES: usize = 4096;

/// The adapter's reference of an offer: the data needed to find it again and to detect changes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferReference {
    pub(crate) id: String,
    /// The flights of each journey, one line per flight.
    pub(crate) flights: Vec<Vec<String>>,
}

impl OfferReference {
    /// Returns the number of flights of each journey.
    pub(crate) fn segment_counts(&self) -> Vec<usize> {
        self.flights.iter().map(Vec::len).collect()
    }
}

/// The request that a response belongs to.
pub(crate) struct PricingContext<'a> {
    pub(crate) request: &'a PriceRequest,
    pub(crate) currency: &'a str,
    pub(crate) logo_url: &'a str,
    pub(crate) now_ms: TimestampMs,
}

/// An offer with its sort keys that is not converted yet. Of a response of 3 MB, only the offers
/// within the limit are converted.
struct Candidate<'a> {
    itinerary: &'a Itinerary<'a>,
    offer: &'a wire::rates::Offer<'a>,
    total: MinorUnits,
    duration_minutes: Option<u32>,
}

/// Returns the offers in the requested order, up to the limit, and whether there are more. Each
/// offer counts once, with its first price. Unreadable offers are left out and reported to
/// `left_out`.
pub(crate) fn offers(
    context: &PricingContext<'_>,
    itineraries: &[Itinerary<'_>],
    mut left_out: impl FnMut(&'static str),
) -> (Vec<Offer>, bool) {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for itinerary in itineraries {
        for offer in &itinerary.offers.0 {
            if !seen.insert(offer.id.as_str()) {
                continue;
            }
            match total(offer, context.currency) {
                Some(total) => candidates.push(Candidate {
                    itinerary,
                    offer,
                    total,
                    duration_minutes: flight_minutes(itinerary),
                }),
                None => left_out("the offer has no price in the requested currency"),
            }
        }
    }
    sort(&mut candidates, context.request);
    let limit = usize::from(context.request.limit);
    let mut offers = Vec::new();
    for candidate in candidates {
        match to_offer(context, &candidate) {
            Ok(_) if offers.len() == limit => return (offers, true),
            Ok(offer) => offers.push(offer),
            Err(reason) => left_out(reason),
        }
    }
    (offers, false)
}

fn sort(candidates: &mut [Candidate<'_>], request: &PriceRequest) {
    let signed = |value: i64| if request.descending { -value } else { value };
    match request.sort {
        Sort::TotalAmount => candidates.sort_by_key(|candidate| signed(candidate.total)),
        Sort::Duration => candidates.sort_by_key(|candidate| {
            let minutes = candidate.duration_minutes;
            minutes.map_or(i64::MAX, |minutes| signed(minutes.into()))
        }),
        Sort::DepartureTime => {
            candidates.sort_by_cached_key(departure);
            if request.descending {
                candidates.reverse();
            }
        }
    }
}

fn departure(candidate: &Candidate<'_>) -> String {
    let first = candidate.itinerary.segments.0.first();
    first.map_or_else(String::new, |first| {
        first.departure_time.as_str().to_owned()
    })
}

/// Returns the sum of the legs' durations, including waiting times. Trips without durations are
/// sorted last.
fn flight_minutes(itinerary: &Itinerary<'_>) -> Option<u32> {
    let legs = itinerary.leg_durations.0.iter();
    let mut total: u32 = 0;
    for leg in legs {
        total = total.checked_add(leg.duration.minutes.0?)?;
    }
    (total > 0).then_some(total)
}

fn total(offer: &wire::rates::Offer<'_>, currency: &str) -> Option<MinorUnits> {
    let price = offer.pricing.display.as_ref()?;
    let total = minor(price.total, price.currency.as_str())?;
    (price.currency.as_str() == currency && total > 0).then_some(total)
}

fn to_offer(
    context: &PricingContext<'_>,
    candidate: &Candidate<'_>,
) -> Result<Offer, &'static str> {
    let (itinerary, offer) = (candidate.itinerary, candidate.offer);
    let id = offer.id.as_deref().ok_or("the offer has no id")?;
    let segments = &itinerary.segments.0;
    let segment_counts = search::split(segments, &context.request.journeys)
        .ok_or("its flights do not match the requested journeys")?;
    let trip = Trip {
        key: itinerary.key.as_str(),
        segments,
        segment_counts: &segment_counts,
        logo_url: context.logo_url,
    };
    let cabins = cabins(segments, &offer.segment_fares.0, &offer.fare)?;
    let passengers = search::passenger_types(&context.request.passengers);
    let pieces = baggage::pieces(&offer.baggage, &passengers);
    let journeys: Vec<Journey> = journeys(trip, &cabins, &pieces)?;
    let offered = OfferReference {
        id: id.to_owned(),
        flights: flights(trip).ok_or("its flights do not match the requested journeys")?,
    };
    Ok(Offer {
        supplier_offer: supplier_offer(&offered)?,
        exclusive_key: None,
        total: candidate.total,
        currency: context.currency.to_owned(),
        fare_family: offer.fare.family.to_owned(),
        refundable: offer.terms.refundable.0,
        fare_conditions: terms::conditions(&offer.terms),
        documents_required: DOCUMENTS_REQUIRED,
        checked_bag_included: offer.baggage.has_checked_bag.is_set(),
        carry_on_included: offer.baggage.has_carry_on_bag.is_set(),
        journeys,
        // Some offers have the time of the response as their expiry; this is treated as no expiry.
        expires_at: time::parse_timestamp(offer.expiration.as_str())
            .filter(|expires_at| *expires_at > context.now_ms),
    })
}

/// Whether documents are required. Nuitee documents them as part of every prebook and marks no fare
/// as exempt.
pub(crate) const DOCUMENTS_REQUIRED: bool = true;

fn supplier_offer(offered: &OfferReference) -> Result<String, &'static str> {
    let text = json::encode_text(offered).ok();
    text.filter(|text| text.len() <= SUPPLIER_OFFER_BYTES)
        .ok_or("the offer's reference is too long")
}
