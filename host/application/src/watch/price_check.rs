//! Price checks for watches. They run the same queries that callers make.

use crate::application::Application;
use crate::catalog::hotel_search::{Area, SearchQuery};
use crate::catalog::local_date;
use crate::context::{ApiKeyScope, RequestContext};
use crate::deadline::Deadline;
use crate::offers::hotel::{HotelSelection, OfferQuery, PricedHotel};
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::hotel::supplier_api::{Offer, SearchFilters, SearchSort, SupplierHotel};
use host_domain::hotel::{Location, Stay};
use host_domain::id::{HotelId, KeyId, PriceCheckId};
use host_domain::money::Money;
use host_domain::owner::{Owner, Tenant};
use host_domain::supplier::{Capability, SupplierId};
use host_domain::watch::{self, TripFilters, WatchTarget};
use host_resources::watch_event as render;
use host_resources::watch_event::{CurrentPrice, TripMatch};
use host_storage::ClaimedPriceCheck;
use std::sync::Arc;
use std::time::Duration;

/// Number of cheapest hotels that a search requests; the first of them are priced.
const SEARCH_LIMIT: u16 = 20;
/// Maximum number of hotels in the event of a trip watch.
pub const MATCHES_MAX: usize = 3;
/// Maximum number of offers that are requested for a hotel; the cheapest is used.
const OFFERS_MAX: u16 = 25;

/// The result of a price check.
#[derive(Debug)]
pub enum CheckResult {
    /// A hotel's cheapest offer, or `None` if it has none.
    Hotel(Option<(Money, CurrentPrice)>),
    /// The cheapest total of a trip, and its cheapest hotels in ascending order of price. Hotels
    /// are priced only if an event of a watch may name them.
    Trip(Option<Money>, Vec<(Money, TripMatch)>),
}

impl CheckResult {
    /// Returns the cheapest total.
    pub fn total(&self) -> Option<Money> {
        match self {
            Self::Hotel(cheapest) => cheapest.as_ref().map(|(total, _)| *total),
            Self::Trip(total, _) => *total,
        }
    }
}

impl Application {
    /// Checks that the watched hotel or place exists, and that a supplier can price it.
    pub async fn validate_query(
        &self,
        context: &RequestContext,
        question: &watch::PriceQuery,
    ) -> Result<(), QueryError> {
        match &question.target {
            WatchTarget::Hotel { hotel_id } => {
                let mode = context.owner.tenant.mode;
                let ids = std::slice::from_ref(hotel_id);
                let owned = self.find_hotel_mappings(mode, ids, None).await?;
                let pricing = Capability::HotelPricing;
                let route = self.route(route_request(
                    context,
                    pricing,
                    Some(&owned.common_suppliers),
                ))?;
                let first = route.suppliers.first();
                let hotel = first.and_then(|supplier| owned.at_supplier(supplier).next());
                let zone = hotel.and_then(|hotel| hotel.profile.time_zone.as_deref());
                if question.stay.check_in < local_date::local_date(zone, self.clock.now()) {
                    return Err(QueryError::CheckInPassed);
                }
            }
            WatchTarget::Trip { area, .. } => {
                self.route(route_request(context, Capability::HotelSearch, None))?;
                if let watch::Area::Place(id) = area {
                    self.find_place(context.owner.tenant.mode, id).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs the query of a price check within `time`.
    pub async fn run_check(
        &self,
        asked: &ClaimedPriceCheck,
        time: Duration,
    ) -> Result<CheckResult, QueryError> {
        let context = background_context(&asked.tenant, &asked.id, time);
        let stay = &asked.query.stay;
        match &asked.query.target {
            WatchTarget::Hotel { hotel_id } => {
                let mode = asked.tenant.mode;
                let ids = std::slice::from_ref(hotel_id);
                let owned = self.find_hotel_mappings(mode, ids, None).await?;
                self.take_rate_permit(route_request(
                    &context,
                    Capability::HotelPricing,
                    Some(&owned.common_suppliers),
                ))?;
                let offers = self.fetch_offers(&context, hotel_id, None, stay).await?;
                let cheapest = cheapest(offers, |_| true);
                Ok(CheckResult::Hotel(
                    cheapest.map(|offer| (offer.total, render::current_price(&offer))),
                ))
            }
            WatchTarget::Trip { area, filters } => {
                self.check_trip(&context, asked, area, filters).await
            }
        }
    }

    async fn check_trip(
        &self,
        context: &RequestContext,
        asked: &ClaimedPriceCheck,
        area: &watch::Area,
        filters: &TripFilters,
    ) -> Result<CheckResult, QueryError> {
        self.take_rate_permit(route_request(context, Capability::HotelSearch, None))?;
        let stay = &asked.query.stay;
        let query = search_query(area, filters, stay);
        let found = self.search_hotels(context, &query).await?;
        // The highest price that a watch of this query waits for.
        let cap = self.store.highest_trigger(&asked.tenant, &asked.id).await?;
        let (mut matches, mut dearer, mut failed) = (Vec::new(), None, None);
        for (id, hotel) in &found.hotels {
            let Some(total) = hotel.lowest_total.filter(|_| matches.len() < MATCHES_MAX) else {
                break;
            };
            if cap.is_none_or(|cap| total.minor > cap) {
                dearer = Some(total);
                break;
            }
            let verified = self.price_candidate(context, &found.supplier, id, hotel, filters, stay);
            match verified.await {
                Ok(found) => matches.extend(found),
                // Another hotel may still be available.
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed.filter(|_| matches.is_empty()) {
            return Err(error);
        }
        matches.sort_by_key(|(total, _)| total.minor);
        let verified = matches.first().map(|(total, _)| *total);
        let cheapest = verified.into_iter().chain(dearer);
        let cheapest = cheapest.min_by_key(|total| total.minor);
        Ok(CheckResult::Trip(cheapest, matches))
    }

    /// Prices a hotel that a search found. Returns its cheapest offer that passes the filters.
    async fn price_candidate(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        id: &HotelId,
        hotel: &SupplierHotel,
        filters: &TripFilters,
        stay: &Stay,
    ) -> Result<Option<(Money, TripMatch)>, QueryError> {
        self.take_rate_permit_of(context, supplier)?;
        let offers = self.fetch_offers(context, id, Some(supplier), stay).await?;
        let offer = cheapest(offers, |offer| matches_filters(offer, filters));
        Ok(offer.map(|offer| (offer.total, render::trip_match(id, hotel, &offer))))
    }

    pub async fn fetch_offers(
        &self,
        context: &RequestContext,
        hotel: &HotelId,
        selector: Option<&SupplierId>,
        stay: &Stay,
    ) -> Result<Vec<PricedHotel>, QueryError> {
        let query = OfferQuery {
            hotels: HotelSelection::ByHotelId(vec![hotel.clone()]),
            selector: selector.cloned(),
            stay: stay.clone(),
            max_offers_per_hotel: OFFERS_MAX,
        };
        let (_, hotels) = self.price_hotels(context, &query).await?;
        Ok(hotels)
    }

    /// Acquires a rate-limit permit for the supplier that is called first.
    fn take_rate_permit(&self, question: RouteRequest<'_>) -> Result<(), QueryError> {
        let route = self.route(question)?;
        let first = route.suppliers.first();
        let supplier = first.ok_or(QueryError::Unsupported(None))?;
        self.take_rate_permit_of(question.context, supplier)
    }

    fn take_rate_permit_of(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
    ) -> Result<(), QueryError> {
        let pace = &self.query_state.price_check_limiter;
        let taken = pace.acquire(context.owner.tenant.mode, supplier);
        taken.map_err(|error| QueryError::Supplier {
            supplier: supplier.clone(),
            error,
        })
    }
}

/// Builds the context of a background check, which runs for the organization's watches and not for
/// a caller. The same check always uses the same supplier, as long as that one responds.
pub fn background_context(tenant: &Tenant, ask: &PriceCheckId, time: Duration) -> RequestContext {
    RequestContext {
        request_id: Arc::from(ask.as_str()),
        owner: Owner {
            tenant: tenant.clone(),
            user: Owner::ORGANIZATION_USER.to_owned(),
        },
        key_id: KeyId::from_bits(0),
        scopes: Arc::from([ApiKeyScope::Read]),
        deadline: Deadline::from_now(time),
    }
}

const fn route_request<'a>(
    context: &'a RequestContext,
    operation: Capability,
    owners: Option<&'a [SupplierId]>,
) -> RouteRequest<'a> {
    RouteRequest {
        context,
        operation,
        selector: None,
        eligible_suppliers: owners,
    }
}

fn search_query(area: &watch::Area, filters: &TripFilters, stay: &Stay) -> SearchQuery {
    SearchQuery {
        area: match area {
            watch::Area::Place(id) => Area::Place(id.clone()),
            watch::Area::Around { center, radius_m } => Area::Circle {
                center: Location { ..*center },
                radius_m: *radius_m,
            },
        },
        selector: None,
        stay: stay.clone(),
        filters: SearchFilters {
            min_star_rating: filters.min_star_rating,
            min_guest_rating: filters.min_guest_rating,
            refundable: filters.refundable,
            boards: filters.boards.clone(),
            max_total: None,
        },
        sort: SearchSort::Total,
        limit: SEARCH_LIMIT,
    }
}

fn cheapest(hotels: Vec<PricedHotel>, is_wanted: impl Fn(&Offer) -> bool) -> Option<Offer> {
    let offers = hotels.into_iter().flat_map(|hotel| hotel.offers);
    let offers = offers.map(|priced| priced.offer);
    offers
        .filter(|offer| is_wanted(offer))
        .min_by_key(|offer| offer.total.minor)
}

fn matches_filters(offer: &Offer, filters: &TripFilters) -> bool {
    let is_refundable = offer.policy.refundable;
    let refundable = filters
        .refundable
        .is_none_or(|wanted| wanted == is_refundable);
    let has_board = |room: &host_domain::hotel::RoomRate| filters.boards.contains(&room.board);
    refundable && (filters.boards.is_empty() || offer.rooms.iter().all(has_board))
}
