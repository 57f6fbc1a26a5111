//! Flight search. Duffel queries the airlines; the offers are then read in pages, cheapest first. A
//! search has megabytes of offers, and a single page fits into memory.

use std::collections::HashMap;
use std::mem;

use serde_json::{Value, json};
use stopover_sdk::detailed_flight_pricing::{
    AppliedFilters, DetailedOffer, DetailedPriceResponse, PriceRequest,
};
use stopover_sdk::dropped::{DropReason, DroppedItems};
use stopover_sdk::flight_pricing::{Filters, RequestedJourney, Sort};
use stopover_sdk::http::Method;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::LenientList;
use stopover_sdk::{DetailedFlightPricing, ReadError};

use crate::map::itinerary::cabin_class;
use crate::map::offer::Search;
use crate::map::passenger::{match_searched_ids, requested_categories};
use crate::settings::Settings;
use crate::upstream::{ReadFailure, api_request, get, open_read, read_page, with_data};
use crate::wire::Cursor;
use crate::{DuffelFlights, map, wire};

/// Maximum number of offers per page: 1 to 4 MB of JSON at 10 to 40 KB per offer.
const PAGE_OFFERS_MAX: usize = 100;
/// Minimum number of offers per page. A smaller page does not justify its round trip.
const PAGE_OFFERS_MIN: usize = 20;
/// Maximum number of pages that are read per search. Fewer than 250 offers are kept, and filters
/// may drop most of the offers read.
const PAGES_MAX: usize = 10;
/// Time for Duffel and the network in addition to the airlines' time, in milliseconds.
const SEARCH_OVERHEAD_MS: u32 = 5_000;

impl DetailedFlightPricing for DuffelFlights {
    fn price(request: PriceRequest) -> Result<DetailedPriceResponse, ReadError> {
        let settings = Settings::read()?;
        let search = search(&settings, &request)?;
        let limit = usize::from(request.limit);
        let (sort, is_sorted) = sort(&request);
        let mut collector = OfferCollector::default();
        let mut after: Option<String> = None;
        let (mut kept, mut pages) = (0, 0);
        let is_whole = loop {
            let size = limit
                .saturating_sub(kept)
                .clamp(PAGE_OFFERS_MIN, PAGE_OFFERS_MAX);
            let list = get(&settings, "/air/offers")
                .query("offer_request_id", &search.id)
                .query("sort", sort)
                .query("limit", size);
            let page = match read_page(list, after.as_deref()) {
                Ok(page) => page,
                Err(failure) if collector.offers.is_empty() => return Err(failure.into()),
                Err(failure) => {
                    collector.leave_out_page(failure);
                    break false;
                }
            };
            collector.add_page(page.data, &search, &request.filters);
            kept = collector.main_currency().map_or(0, |(_, count)| count);
            pages += 1;
            match page.after {
                Cursor::End => break true,
                Cursor::Unreadable => break false,
                Cursor::Next(cursor) => after = Some(cursor),
            }
            if kept >= limit || pages >= PAGES_MAX {
                break false;
            }
        };
        collector
            .dropped
            .check_remaining(collector.is_any_readable)?;
        let mut offers = collector.take_offers_in_main_currency();
        let truncated = !is_whole || offers.len() > limit;
        offers.truncate(limit);
        Ok(DetailedPriceResponse {
            offers,
            applied: applied(is_sorted),
            truncated,
        })
    }
}

/// Offers that were read.
#[derive(Default)]
struct OfferCollector {
    /// Offers that satisfy the filters, each with its position in its page.
    offers: Vec<(usize, DetailedOffer)>,
    /// Whether an offer could be read, even if it does not satisfy the filters.
    is_any_readable: bool,
    dropped: DroppedItems,
}

impl OfferCollector {
    /// Leaves out the rest of the offers, because a page of them cannot be read.
    fn leave_out_page(&mut self, failure: ReadFailure) {
        let error = match failure {
            ReadFailure::Unreadable(error) => error,
            failure @ (ReadFailure::Fault(_) | ReadFailure::Exchange(_)) => {
                let error = ReadError::from(failure);
                DecodeError::new(format!("a page of offers cannot be read: {error:?}"))
            }
        };
        let pointer = format_args!("/data");
        self.dropped.add(pointer, DropReason::Unreadable, error);
    }

    /// Adds a page of offers. Unreadable offers are counted and left out, so that they do not fail
    /// the search.
    fn add_page(
        &mut self,
        page: LenientList<wire::offer::Offer>,
        search: &Search,
        filters: &Filters,
    ) {
        for (at, written) in self.dropped.readable(format_args!("/data"), page) {
            let offer = map::offer::offer(written, search);
            if let Some(offer) = self.dropped.keep(format_args!("/data/{at}"), offer) {
                self.is_any_readable = true;
                if map::offer::matches_filters(filters, &offer.offer) {
                    self.offers.push((at, offer));
                }
            }
        }
    }

    /// Returns the currency of most offers and their number. Of several such currencies, it is the one
    /// of the first offer.
    fn main_currency(&self) -> Option<(&str, usize)> {
        let currencies = || {
            self.offers
                .iter()
                .map(|(_, one)| one.offer.currency.as_str())
        };
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for currency in currencies() {
            *counts.entry(currency).or_default() += 1;
        }
        let mut main: Option<(&str, usize)> = None;
        for currency in currencies() {
            let count = counts.get(currency).copied().unwrap_or_default();
            if main.is_none_or(|(_, most)| count > most) {
                main = Some((currency, count));
            }
        }
        main
    }

    /// Returns the offers in the currency of most of them. The others are counted and left out: a
    /// response has one currency, and one odd offer must not fail the search.
    fn take_offers_in_main_currency(&mut self) -> Vec<DetailedOffer> {
        let main = self.main_currency();
        let main = main.map_or_else(String::new, |(currency, _)| currency.to_owned());
        let offers = mem::take(&mut self.offers);
        let mut kept = Vec::with_capacity(offers.len());
        for (at, offer) in offers {
            if offer.offer.currency == main {
                kept.push(offer);
            } else {
                let error = DecodeError::new("an offer is in another currency than most offers");
                let pointer = format_args!("/data/{at}/total_currency");
                self.dropped.leave_out(pointer, error);
            }
        }
        kept
    }
}

/// Starts a search with the airlines.
fn search(settings: &Settings, request: &PriceRequest) -> Result<Search, ReadError> {
    let categories = requested_categories(&request.passengers);
    let filters = &request.filters;
    let timeout_ms = settings.search_timeout_ms;
    let http_request = api_request(settings, Method::Post, "/air/offer_requests")
        .query("return_offers", false)
        .query("supplier_timeout", timeout_ms)
        .timeout_ms(timeout_ms + SEARCH_OVERHEAD_MS);
    let journeys = request.journeys.iter();
    let slices: Vec<Value> = journeys.map(|journey| slice(journey, filters)).collect();
    let passengers: Vec<Value> = categories.iter().map(|one| one.to_search()).collect();
    let data = json!({
        "slices": slices,
        "passengers": passengers,
        "cabin_class": filters.cabin.map(cabin_class),
        "max_connections": filters.max_stops,
    });
    let response = with_data(http_request, data)?.send()?;
    let made: wire::offer::OfferRequest = open_read(&response)?;
    let id = made.id.required("id")?;
    ensure(id.starts_with("orq_"), "the search has no id")?;
    let offered = made.passengers.into_part();
    let ids = match_searched_ids(&categories, offered, &mut DroppedItems::default())?;
    Ok(Search {
        id,
        ids,
        seated: categories.len() - usize::from(request.passengers.infants),
    })
}

/// Returns a journey of a search. Ranges of local times are closed, each `HH:MM`.
fn slice(journey: &RequestedJourney, filters: &Filters) -> Value {
    let range = |from: Option<&str>, to: Option<&str>| {
        let is_open = from.is_none() && to.is_none();
        (!is_open).then(|| json!({ "from": from.unwrap_or("00:00"), "to": to.unwrap_or("23:59") }))
    };
    let (after, before) = (&filters.departure_after, &filters.departure_before);
    json!({
        "origin": journey.origin,
        "destination": journey.destination,
        "departure_date": journey.date,
        "departure_time": range(after.as_deref(), before.as_deref()),
        "arrival_time": range(None, filters.arrival_before.as_deref()),
    })
}

/// Returns Duffel's name of the sort order and whether it is the requested order. Duffel does not
/// sort by departure.
fn sort(request: &PriceRequest) -> (&'static str, bool) {
    match (request.sort, request.descending) {
        (Sort::TotalAmount, false) => ("total_amount", true),
        (Sort::TotalAmount, true) => ("-total_amount", true),
        (Sort::Duration, false) => ("total_duration", true),
        (Sort::Duration, true) => ("-total_duration", true),
        (Sort::DepartureTime, _) => ("total_amount", false),
    }
}

fn applied(is_sorted: bool) -> AppliedFilters {
    let mut applied = AppliedFilters::CABIN
        | AppliedFilters::MAX_STOPS
        | AppliedFilters::DEPARTURE_AFTER
        | AppliedFilters::DEPARTURE_BEFORE
        | AppliedFilters::ARRIVAL_BEFORE;
    applied.set(AppliedFilters::SORT, is_sorted);
    applied
}
