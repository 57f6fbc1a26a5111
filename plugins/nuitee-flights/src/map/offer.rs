//! Conversion of Nuitee's itineraries and their offers to a flat list of offers.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use stopover_sdk::detailed_flight_pricing::DetailedOffer;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_pricing::{Offer, PriceRequest, Sort};
use stopover_sdk::json::{self, DecodeError, ensure};
use stopover_sdk::lenient::{LenientList, LenientText, Part};
use stopover_sdk::time;
use stopover_sdk::types::flight::BaggageType;
use stopover_sdk::types::flight_details::OfferDetails;
use stopover_sdk::types::{MinorUnits, TimestampMs};

use crate::map::details::{DetailSources, journey_details};
use crate::map::journey::{Trip, cabin_letters, cabins, flights, journeys, unmatched_journeys};
use crate::map::{baggage, minor, price, search, terms};
use crate::wire;
use crate::wire::rates::{Batch, Itinerary, LegDuration};
use crate::wire::{Fare, Price, Segment, Terms};

/// Maximum size of an offer reference that the gateway stores, in bytes.
const SUPPLIER_OFFER_BYTES: usize = 4096;
/// Maximum number of flights of an itinerary. The lines of more flights do not fit into a reference.
const SEGMENTS_MAX: usize = 128;

/// The adapter's reference of an offer: the data needed to find it again and to detect changes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferReference<'a> {
    pub(crate) id: Cow<'a, str>,
    /// The flights of each journey, one line per flight.
    pub(crate) flights: Cow<'a, [Vec<String>]>,
    /// The cabins of all flights, one letter each. References of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cabins: Option<String>,
}

impl OfferReference<'_> {
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

/// An itinerary of a response, with its offers and their positions in its list.
pub(crate) struct FoundItinerary<'a> {
    /// JSON pointer of its list of offers.
    pointer: String,
    itinerary: Itinerary<'a>,
    offers: Vec<(usize, wire::rates::Offer<'a>)>,
    /// Sum of the legs' durations, including waiting times, if it is known.
    duration_minutes: Option<u32>,
    /// Set by the first offer that is converted.
    flights: OnceCell<Result<MatchedFlights, DecodeError>>,
}

/// The flights of an itinerary, matched to the requested journeys. All its offers share them.
struct MatchedFlights {
    segment_counts: Vec<usize>,
    /// The flights of each journey, one line per flight.
    lines: Vec<Vec<String>>,
}

impl FoundItinerary<'_> {
    /// Returns the flights. Repeated lists are none.
    fn segments(&self) -> &[Segment<'_>] {
        let segments = self.itinerary.segments.as_ref().value();
        segments.map_or(&[], |segments| segments.0.as_slice())
    }

    /// Returns whether it has no offers.
    pub(crate) fn is_empty(&self) -> bool {
        self.offers.is_empty()
    }

    /// Matches the flights to the requested journeys at the first call.
    ///
    /// # Errors
    /// There are too many flights, they do not match the journeys, or one lacks a value that identifies it.
    fn flights(&self, context: &PricingContext<'_>) -> Result<&MatchedFlights, DecodeError> {
        let matched = self.flights.get_or_init(|| {
            let segments = self.segments();
            ensure(segments.len() <= SEGMENTS_MAX, "it has too many flights")?;
            let requested = &context.request.journeys;
            let segment_counts = search::split(segments, requested);
            let segment_counts = segment_counts.ok_or_else(unmatched_journeys)?;
            let trip = self.trip(context, &segment_counts);
            let lines = flights(trip)?;
            if !search::fits(&trip.segments_by_journey()?, requested) {
                return Err(unmatched_journeys());
            }
            Ok(MatchedFlights {
                segment_counts,
                lines,
            })
        });
        matched.as_ref().map_err(DecodeError::clone)
    }

    fn trip<'t>(
        &'t self,
        context: &'t PricingContext<'_>,
        segment_counts: &'t [usize],
    ) -> Trip<'t> {
        Trip {
            key: self.itinerary.key.as_str(),
            segments: self.segments(),
            segment_counts,
            logo_url: context.logo_url,
        }
    }
}

/// Returns the itineraries of a document's batches. Those that cannot be read are left out.
pub(crate) fn found_itineraries<'a>(
    batches: LenientList<Batch<'a>>,
    dropped: &mut DroppedItems,
) -> Vec<FoundItinerary<'a>> {
    let mut found = Vec::new();
    for (batch_at, batch) in dropped.readable(format_args!("/data"), batches) {
        let lacks_journeys = || DecodeError::missing("the batch has no list of journeys");
        let itineraries = batch.journeys.ok_or_else(lacks_journeys);
        let itineraries = dropped.keep(format_args!("/data/{batch_at}"), itineraries);
        let pointer = format!("/data/{batch_at}/journeys");
        let itineraries = itineraries.unwrap_or_default();
        for (at, mut itinerary) in dropped.readable(format_args!("{pointer}"), itineraries) {
            let lacks_offers = || DecodeError::missing("the journey has no list of offers");
            let offers = itinerary.offers.take().ok_or_else(lacks_offers);
            let Some(offers) = dropped.keep(format_args!("{pointer}/{at}"), offers) else {
                continue;
            };
            let itinerary_pointer = format!("{pointer}/{at}");
            let pointer = format!("{itinerary_pointer}/offers");
            let offers: Vec<_> = dropped
                .readable(format_args!("{pointer}"), offers)
                .collect();
            let legs = std::mem::take(&mut itinerary.leg_durations);
            // Without offers the durations are of no use, and an odd one does not count.
            let duration_minutes = (!offers.is_empty())
                .then(|| flight_minutes(legs, &itinerary_pointer, dropped))
                .flatten();
            found.push(FoundItinerary {
                pointer,
                itinerary,
                offers,
                duration_minutes,
                flights: OnceCell::new(),
            });
        }
    }
    found
}

/// An offer with its sort keys that is not converted yet. Of a response of 3 MB, only the offers
/// within the limit are converted.
struct Candidate<'a> {
    found: &'a FoundItinerary<'a>,
    /// Position in the itinerary's list of offers.
    position: usize,
    offer: &'a wire::rates::Offer<'a>,
    total: MinorUnits,
}

/// Returns the offers in the requested order, up to the limit, and whether there are more. Each
/// offer counts once, with its first price. Offers that cannot be sold are left out.
pub(crate) fn offers(
    context: &PricingContext<'_>,
    itineraries: &[FoundItinerary<'_>],
    dropped: &mut DroppedItems,
) -> (Vec<DetailedOffer>, bool) {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for found in itineraries {
        for (position, offer) in &found.offers {
            let pointer = format_args!("{}/{position}", found.pointer);
            let priced = identify(offer, context.currency);
            let Some((id, total)) = dropped.keep(pointer, priced) else {
                continue;
            };
            if seen.insert(id) {
                candidates.push(Candidate {
                    found,
                    position: *position,
                    offer,
                    total,
                });
            }
        }
    }
    sort(&mut candidates, context.request);
    let limit = usize::from(context.request.limit);
    let mut offers = Vec::new();
    for candidate in candidates {
        let pointer = format_args!("{}/{}", candidate.found.pointer, candidate.position);
        if let Some(mut offer) = dropped.keep(pointer, to_offer(context, &candidate)) {
            if offers.len() == limit {
                return (offers, true);
            }
            let expires_at = expires_at(context, &candidate);
            let pointer = format_args!("{pointer}/expiration");
            offer.offer.expires_at = dropped.keep(pointer, expires_at).flatten();
            offers.push(offer);
        }
    }
    (offers, false)
}

fn sort(candidates: &mut [Candidate<'_>], request: &PriceRequest) {
    let signed = |value: i64| if request.descending { -value } else { value };
    match request.sort {
        Sort::TotalAmount => candidates.sort_by_key(|candidate| signed(candidate.total)),
        Sort::Duration => candidates.sort_by_key(|candidate| {
            let minutes = candidate.found.duration_minutes;
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
    let first = candidate.found.segments().first();
    first.map_or_else(String::new, |first| {
        first.departure_time.as_str().to_owned()
    })
}

/// Returns the sum of the legs' durations of the itinerary at `pointer`. It is not known if one of them is
/// missing or cannot be read. Trips without durations are sorted last.
fn flight_minutes(
    legs: Part<LenientList<LegDuration<'_>>>,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> Option<u32> {
    let pointer = format_args!("{pointer}/legDurations");
    let legs = dropped.readable_part(pointer, legs)?;
    let is_whole = legs.unreadable().is_empty();
    let mut total: u32 = 0;
    for (_, leg) in dropped.readable(pointer, legs) {
        total = total.checked_add(leg.duration.minutes.0?)?;
    }
    (is_whole && total > 0).then_some(total)
}

/// Returns the id and the total of an offer.
fn identify<'o>(
    offer: &'o wire::rates::Offer<'_>,
    currency: &str,
) -> Result<(&'o str, MinorUnits), DecodeError> {
    let id = offer.id.as_deref();
    let id = id.ok_or_else(|| DecodeError::missing("the offer has no id"))?;
    let price = display_price(offer);
    let price = price.filter(|price| price.currency.as_str() == currency);
    let total = price
        .and_then(|price| minor(price.total, currency))
        .filter(|total| *total > 0)
        .ok_or_else(|| DecodeError::new("the offer has no price in the requested currency"))?;
    Ok((id, total))
}

/// Returns the price, which counts only if it is stated once.
fn display_price<'o, 'a>(offer: &'o wire::rates::Offer<'a>) -> Option<&'o Price<'a>> {
    offer.pricing.as_ref().value()?.display.as_ref().value()
}

fn to_offer(
    context: &PricingContext<'_>,
    candidate: &Candidate<'_>,
) -> Result<DetailedOffer, DecodeError> {
    let (found, offer) = (candidate.found, candidate.offer);
    let matched = found.flights(context)?;
    baggage::check(&offer.baggage)?;
    let trip = found.trip(context, &matched.segment_counts);
    let (no_fare, no_terms) = (Fare::default(), Terms::default());
    let fare = offer.fare.as_ref().value().unwrap_or(&no_fare);
    let fares = offer.segment_fares.as_ref().optional("segmentFares")?;
    let fares = fares.map_or(&[][..], |fares| &fares.0);
    let cabins = cabins(trip.segments, fares, fare)?;
    let supplier_offer = supplier_offer(&OfferReference {
        id: offer.id.as_str().into(),
        flights: matched.lines.as_slice().into(),
        cabins: Some(cabin_letters(&cabins)),
    })?;
    let passengers = search::passenger_types(&context.request.passengers);
    let pieces = baggage::pieces(&offer.baggage, &passengers);
    let journeys = journeys(trip, &cabins, &pieces)?;
    let sources = DetailSources {
        fares,
        amenities: &offer.segment_amenities.0,
        baggage: &offer.baggage,
        passengers: &passengers,
    };
    let details = OfferDetails {
        price: price::breakdown(display_price(offer), context.currency, candidate.total),
        journeys: journey_details(trip, &sources),
        ..OfferDetails::default()
    };
    let terms = offer.terms.as_ref().value().unwrap_or(&no_terms);
    let fare_conditions = terms::conditions(terms, display_price(offer));
    let includes = |bag| baggage::is_for_everyone(&offer.baggage, bag, &passengers);
    let offer = Offer {
        supplier_offer,
        exclusive_key: None,
        total: candidate.total,
        currency: context.currency.to_owned(),
        fare_family: fare.family.as_deref().map(str::to_owned),
        refundable: fare_conditions.refund.allowed,
        fare_conditions,
        documents_required: DOCUMENTS_REQUIRED,
        checked_bag_included: includes(BaggageType::Checked),
        carry_on_included: includes(BaggageType::CarryOn),
        journeys,
        expires_at: None,
    };
    Ok(DetailedOffer { offer, details })
}

/// Returns the expiry of an offer. Some offers have the time at which Nuitee received their flights; this
/// is treated as no expiry.
///
/// # Errors
/// The expiry cannot be read, or is another time in the past.
fn expires_at(
    context: &PricingContext<'_>,
    candidate: &Candidate<'_>,
) -> Result<Option<TimestampMs>, DecodeError> {
    let expiration = &candidate.offer.expiration;
    let expires_at = future_time(expiration, context.now_ms);
    match expires_at {
        Err(_) if *expiration == candidate.found.itinerary.timestamp => Ok(None),
        expires_at => expires_at,
    }
}

/// Parses a deadline, which may be missing.
///
/// # Errors
/// It is no time, or in the past.
pub(crate) fn future_time(
    text: &LenientText<'_>,
    now_ms: TimestampMs,
) -> Result<Option<TimestampMs>, DecodeError> {
    let Some(text) = text.as_deref() else {
        return Ok(None);
    };
    let deadline = time::parse_timestamp(text);
    let deadline = deadline.ok_or_else(|| DecodeError::new("a deadline is no time"))?;
    ensure(deadline > now_ms, "a deadline is in the past")?;
    Ok(Some(deadline))
}

/// Whether documents are required. Nuitee documents them as part of every prebook and marks no fare
/// as exempt.
pub(crate) const DOCUMENTS_REQUIRED: bool = true;

fn supplier_offer(offered: &OfferReference<'_>) -> Result<String, DecodeError> {
    let text = json::encode_text(offered).ok();
    text.filter(|text| text.len() <= SUPPLIER_OFFER_BYTES)
        .ok_or_else(|| DecodeError::new("the offer's reference is too long"))
}
