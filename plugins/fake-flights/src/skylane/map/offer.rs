//! Conversion of Skylane's offers, in pure functions.

use stopover_sdk::flight_booking::{PrebookRequest, PrebookResponse};
use stopover_sdk::flight_pricing::{AppliedFilters, Offer, PriceRequest, PriceResponse, Sort};
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::types::flight::{FareCondition, FareConditions};

use crate::common::{self, is_within_size_limit};
use crate::skylane::map::itinerary::{journeys, wanted_cabin};
use crate::skylane::map::{amount, instant, money};
use crate::skylane::wire;

/// Creates a search. The passengers are in the order of their positions: adults, children, infants.
pub(crate) fn search_request(request: &PriceRequest) -> wire::Search<'_> {
    let passengers = &request.passengers;
    let many =
        |r#type, count: u8| (0..count).map(move |_| wire::SearchedTraveller { r#type, age: None });
    let children = passengers
        .children
        .iter()
        .map(|age| wire::SearchedTraveller {
            r#type: wire::TravellerType::Child,
            age: Some(*age),
        });
    wire::Search {
        slices: (request.journeys.iter())
            .map(|journey| wire::SearchedSlice {
                from: &journey.origin,
                to: &journey.destination,
                date: &journey.date,
            })
            .collect(),
        travellers: many(wire::TravellerType::Adult, passengers.adults)
            .chain(children)
            .chain(many(wire::TravellerType::Infant, passengers.infants))
            .collect(),
        cabin: request.filters.cabin.map(wanted_cabin),
        max_connections: request.filters.max_stops,
        currency: request.currency.as_deref(),
        limit: request.limit,
    }
}

pub(crate) fn price_response(
    found: wire::Found,
    request: &PriceRequest,
) -> Result<PriceResponse, DecodeError> {
    let limit = usize::from(request.limit);
    let truncated = found.more || found.offers.len() > limit;
    let offers = (found.offers.into_iter())
        .filter(|offer| is_within_size_limit(&offer.id))
        .take(limit)
        .map(|found| offer(found, request.currency.as_deref()));
    Ok(PriceResponse {
        offers: offers.collect::<Result<_, _>>()?,
        applied: applied(request),
        truncated,
    })
}

/// Returns the applied filters. Skylane has two filters and always sorts by price, cheapest first.
fn applied(request: &PriceRequest) -> AppliedFilters {
    let filters = AppliedFilters::CABIN | AppliedFilters::MAX_STOPS;
    if request.sort == Sort::TotalAmount && !request.descending {
        filters | AppliedFilters::SORT
    } else {
        filters
    }
}

fn offer(offer: wire::Offer, currency: Option<&str>) -> Result<Offer, DecodeError> {
    let total = money(offer.total)?;
    let currency = currency.unwrap_or(&total.currency).to_owned();
    let seats = || (offer.slices.iter()).flat_map(|slice| &slice.segments);
    let mut seats = seats().flat_map(|segment| &segment.travellers).peekable();
    let seated = seats.peek().is_some();
    let (checked, carried) = seats.fold((seated, seated), |(checked, carried), seat| {
        (checked && seat.checked > 0, carried && seat.carry_on > 0)
    });
    Ok(Offer {
        // Skylane accepts one order per offer, so a booking reserves the offer itself.
        exclusive_key: Some(offer.id.clone()),
        supplier_offer: offer.id,
        total: common::amount(total, &currency)?,
        currency,
        fare_family: non_empty(offer.brand),
        refundable: offer.conditions.refund.allowed,
        fare_conditions: conditions(offer.conditions)?,
        documents_required: offer.passports_required,
        checked_bag_included: checked,
        carry_on_included: carried,
        journeys: journeys(offer.slices)?,
        expires_at: Some(instant(&offer.expires_at)?),
    })
}

pub(crate) fn conditions(conditions: wire::Conditions) -> Result<FareConditions, DecodeError> {
    let condition = |condition: wire::Condition| {
        Ok::<_, DecodeError>(FareCondition {
            allowed: condition.allowed,
            penalty: condition.penalty.map(money).transpose()?,
        })
    };
    Ok(FareConditions {
        refund: condition(conditions.refund)?,
        change: condition(conditions.change)?,
    })
}

pub(crate) fn prebook_response(
    offer: wire::Offer,
    request: &PrebookRequest,
) -> Result<PrebookResponse, DecodeError> {
    let is_same_offer = offer.id == request.supplier_offer;
    ensure(is_same_offer, "the price is that of another offer")?;
    let currency = request.currency.clone();
    Ok(PrebookResponse {
        total: amount(offer.total, &currency)?,
        fare: Some(amount(offer.base, &currency)?),
        fare_tax: Some(amount(offer.tax, &currency)?),
        fare_conditions: conditions(offer.conditions)?,
        documents_required: offer.passports_required,
        journeys: journeys(offer.slices)?,
        expires_at: Some(instant(&offer.expires_at)?),
        checkout: None,
        supplier_prebook: offer.id,
        currency,
    })
}
