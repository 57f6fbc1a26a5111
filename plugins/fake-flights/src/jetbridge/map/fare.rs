//! Conversion of Jetbridge's fares, in pure functions.

use stopover_sdk::flight_pricing::{
    AppliedFilters, Filters, Offer, PriceRequest, PriceResponse, Sort,
};
use stopover_sdk::json::{DecodeError, non_empty};
use stopover_sdk::types::flight::{FareCondition, FareConditions};

use crate::common::{self, is_within_size_limit};
use crate::jetbridge::map::itinerary::{PassengerCount, journeys, wanted_cabin};
use crate::jetbridge::map::money;
use crate::jetbridge::wire;

pub(crate) fn fares_request(request: &PriceRequest) -> wire::FaresRequest<'_> {
    wire::FaresRequest {
        legs: (request.journeys.iter())
            .map(|journey| wire::SearchedLeg {
                org: &journey.origin,
                dst: &journey.destination,
                day: &journey.date,
            })
            .collect(),
        pax: wire::Party {
            adt: request.passengers.adults,
            chd: &request.passengers.children,
            inf: request.passengers.infants,
        },
        ccy: request.currency.as_deref(),
        filters: filters(&request.filters),
        sort: match request.sort {
            Sort::TotalAmount => wire::Sort::Price,
            Sort::Duration => wire::Sort::Duration,
            Sort::DepartureTime => wire::Sort::Departure,
        },
        descending: request.descending,
        limit: request.limit,
    }
}

fn filters(filters: &Filters) -> wire::Filters<'_> {
    wire::Filters {
        cabin: filters.cabin.map(wanted_cabin),
        max_stops: filters.max_stops,
        airlines: &filters.airlines,
        not_airlines: &filters.excluded_airlines,
        depart_after: filters.departure_after.as_deref(),
        depart_before: filters.departure_before.as_deref(),
        arrive_before: filters.arrival_before.as_deref(),
        refundable: filters.refundable,
        checked_bag: filters.checked_bag,
        max_price: filters.max_total,
    }
}

pub(crate) fn price_response(
    found: wire::Fares,
    request: &PriceRequest,
) -> Result<PriceResponse, DecodeError> {
    let limit = usize::from(request.limit);
    let passengers = PassengerCount::from_counts(&request.passengers);
    let truncated = found.more || found.fares.len() > limit;
    let offers = (found.fares.into_iter())
        .filter(|fare| is_within_size_limit(&fare.fare_key))
        .take(limit)
        .map(|fare| offer(fare, request.currency.as_deref(), passengers));
    Ok(PriceResponse {
        offers: offers.collect::<Result<_, _>>()?,
        applied: AppliedFilters::all(),
        truncated,
    })
}

fn offer(
    fare: wire::Fare,
    currency: Option<&str>,
    passengers: PassengerCount,
) -> Result<Offer, DecodeError> {
    let total = money(fare.price)?;
    let currency = currency.unwrap_or(&total.currency).to_owned();
    Ok(Offer {
        supplier_offer: fare.fare_key,
        // A fare can be booked any number of times.
        exclusive_key: None,
        total: common::amount(total, &currency)?,
        currency,
        fare_family: non_empty(fare.family),
        refundable: fare.refundable,
        fare_conditions: conditions(fare.conditions)?,
        documents_required: fare.needs_document,
        checked_bag_included: fare.bags.checked,
        carry_on_included: fare.bags.cabin,
        journeys: journeys(fare.journeys, passengers)?,
        expires_at: Some(fare.valid_until),
    })
}

pub(crate) fn conditions(conditions: wire::Conditions) -> Result<FareConditions, DecodeError> {
    let condition = |condition: wire::Condition| {
        Ok::<_, DecodeError>(FareCondition {
            allowed: condition.allowed,
            penalty: condition.fee.map(money).transpose()?,
        })
    };
    Ok(FareConditions {
        refund: condition(conditions.refund)?,
        change: condition(conditions.change)?,
    })
}
