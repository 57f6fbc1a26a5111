//! Conversion of search requests, and assignment of a response's flights to the requested legs.

use stopover_sdk::flight_pricing::{AppliedFilters, Leg, PriceRequest, Sort, Travellers};
use stopover_sdk::money::Decimal;
use stopover_sdk::types::flight::PassengerType;

use crate::map::journey::cabin_code;
use crate::map::passenger::FIRST_ADULT_AGE;
use crate::wire::Segment;
use crate::wire::rates::{Filters, Leg as WireLeg, LegFilters, RatesRequest, Sort as WireSort};

/// Maximum number of stops that Nuitee can filter by.
const MOST_STOPS: u8 = 2;

/// Creates the request and returns which filters Nuitee applies. Nuitee has no filter for airlines,
/// for non-refundable fares, or for fares without bags.
pub(crate) fn request<'a>(
    request: &'a PriceRequest,
    currency: &'a str,
    point_of_sale: Option<&'a str>,
) -> (RatesRequest<'a>, AppliedFilters) {
    let asked = &request.filters;
    let mut applied = AppliedFilters::SORT;
    let mut apply = |is_applied: bool, filter| {
        if is_applied {
            applied |= filter;
        }
    };
    let max_stops = asked.max_stops.filter(|stops| *stops <= MOST_STOPS);
    let max_price = asked
        .max_total
        .and_then(|total| Decimal::from_minor(total, currency).ok());
    let refundable_only = asked.refundable.filter(|only| *only);
    let includes_checked_bag = asked.checked_bag.filter(|only| *only);
    apply(asked.cabin.is_some(), AppliedFilters::CABIN);
    apply(max_stops.is_some(), AppliedFilters::MAX_STOPS);
    apply(max_price.is_some(), AppliedFilters::MAX_TOTAL);
    apply(refundable_only.is_some(), AppliedFilters::REFUNDABLE);
    apply(includes_checked_bag.is_some(), AppliedFilters::CHECKED_BAG);
    apply(
        asked.departure_after.is_some(),
        AppliedFilters::DEPARTURE_AFTER,
    );
    apply(
        asked.departure_before.is_some(),
        AppliedFilters::DEPARTURE_BEFORE,
    );
    apply(
        asked.arrival_before.is_some(),
        AppliedFilters::ARRIVAL_BEFORE,
    );

    let cabin = asked.cabin.map(cabin_code);
    let of_each_leg = LegFilters {
        departure_time_after: asked.departure_after.as_deref(),
        departure_time_before: asked.departure_before.as_deref(),
        arrival_time_before: asked.arrival_before.as_deref(),
        max_stops,
    };
    let party = passenger_types(&request.travellers);
    let count = |wanted| {
        let matching = party.iter().filter(|passenger| **passenger == wanted);
        u32::try_from(matching.count()).unwrap_or(u32::MAX)
    };
    let wire = RatesRequest {
        legs: legs(&request.legs, of_each_leg),
        adults: count(PassengerType::Adult),
        children: count(PassengerType::Child),
        infants: count(PassengerType::Infant),
        children_ages: ages_of_children(&request.travellers).collect(),
        cabin_class: cabin,
        currency,
        country: point_of_sale,
        filters: Filters {
            cabin_class: cabin,
            cabin_class_match: cabin.map(|_| "exactly"),
            refundable_only,
            includes_checked_bag,
            max_price,
        },
        sort: WireSort {
            sort_by: match request.sort {
                Sort::TotalAmount => "price",
                Sort::Duration => "duration",
                Sort::DepartureTime => "departure",
            },
            sort_order: if request.descending { "desc" } else { "asc" },
        },
    };
    (wire, applied)
}

/// Converts the legs. A round trip has directions; a multi-city trip has none.
fn legs<'a>(legs: &'a [Leg], filters: LegFilters<'a>) -> Vec<WireLeg<'a>> {
    let is_return = matches!(legs, [out, back]
        if out.origin == back.destination && out.destination == back.origin);
    let directions = ["OUTBOUND", "INBOUND"].into_iter().map(Some);
    let directions = directions
        .filter(|_| is_return)
        .chain(std::iter::repeat(None));
    let each = legs.iter().zip(directions);
    each.map(|(leg, direction)| WireLeg {
        origin: &leg.origin,
        destination: &leg.destination,
        date: &leg.date,
        direction,
        filters,
    })
    .collect()
}

/// Returns Nuitee's type of each traveller in the order of the request. A child aged 12 or more
/// travels as an adult.
pub(crate) fn passenger_types(travellers: &Travellers) -> Vec<PassengerType> {
    let adults = (0..travellers.adults).map(|_| PassengerType::Adult);
    let children = travellers.children.iter().map(|age| {
        if *age >= FIRST_ADULT_AGE {
            PassengerType::Adult
        } else {
            PassengerType::Child
        }
    });
    let infants = (0..travellers.infants).map(|_| PassengerType::Infant);
    adults.chain(children).chain(infants).collect()
}

fn ages_of_children(travellers: &Travellers) -> impl Iterator<Item = u8> {
    let ages = travellers.children.iter().copied();
    ages.filter(|age| *age < FIRST_ADULT_AGE)
}

/// Returns the number of flights of each requested leg, or `None` if it cannot be determined.
pub(crate) fn split(segments: &[Segment<'_>], legs: &[Leg]) -> Option<Vec<usize>> {
    let mut counts = vec![1];
    for (before, after) in segments.iter().zip(segments.iter().skip(1)) {
        let ends_here = match legs.get(counts.len().checked_sub(1)?..)? {
            [this, next, ..] => {
                before.direction != after.direction || is_next(this, next, before, after, segments)
            }
            _ => false,
        };
        match counts.last_mut() {
            Some(count) if !ends_here => *count += 1,
            _ => counts.push(1),
        }
    }
    (!segments.is_empty() && counts.len() == legs.len()).then_some(counts)
}

/// Returns whether `after` is the first flight of the next leg: this leg has arrived, and the
/// departure is on the next leg's date. If a leg was requested by a city code, no flight has that
/// code; the leg then ends where the next leg's origin is.
fn is_next(
    this: &Leg,
    next: &Leg,
    before: &Segment<'_>,
    after: &Segment<'_>,
    segments: &[Segment<'_>],
) -> bool {
    let arrives_at = |segment: &Segment<'_>| segment.destination.as_str() == this.destination;
    let has_arrived = if segments.iter().any(arrives_at) {
        arrives_at(before)
    } else {
        after.origin.as_str() == next.origin
    };
    has_arrived && after.departure_time.as_str().starts_with(&next.date)
}
