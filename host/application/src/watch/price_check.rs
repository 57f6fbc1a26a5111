//! Price checks for watches. They run the same queries that callers make.

use crate::base::Base;
use crate::catalog::hotel_mapping::{HotelMappingService, HotelMappings};
use crate::catalog::hotel_search::{HotelSearchService, SearchQuery};
use crate::catalog::local_date;
use crate::catalog::place::PlaceService;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::offers::hotel::{HotelSelection, OfferQuery, PricedHotel};
use crate::offers::service::OfferService;
use crate::supplier::query_error::QueryError;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::hotel::Stay;
use host_domain::hotel::supplier_api::{HotelOffer, SearchFilters, SearchSort, SupplierHotel};
use host_domain::id::{HotelId, PriceCheckId};
use host_domain::money::Money;
use host_domain::owner::Tenant;
use host_domain::routing::SupplierRoute;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::watch::{self, TripFilters, WatchTarget};
use host_resources::watch_event::{self, CurrentPriceResource, TripMatchResource};
use host_storage::ClaimedPriceCheck;
use std::sync::Arc;
use std::time::Duration;

/// Number of cheapest hotels that a search requests; the first of them are priced.
const SEARCH_LIMIT: u16 = 20;
pub const MATCHES_MAX: usize = 3;
/// Maximum number of offers that are requested for a hotel; the cheapest is used.
const OFFERS_MAX: u16 = 25;

#[derive(Debug)]
pub enum CheckResult {
    /// A hotel's cheapest offer, or `None` if it has none.
    Hotel(Option<(Money, CurrentPriceResource)>),
    /// The cheapest total of a trip, and its cheapest hotels in ascending order of price. Hotels
    /// are priced only if an event of a watch may name them.
    Trip(Option<Money>, Vec<(Money, TripMatchResource)>),
}

impl CheckResult {
    pub fn total(&self) -> Option<Money> {
        match self {
            Self::Hotel(cheapest) => cheapest.as_ref().map(|(total, _)| *total),
            Self::Trip(total, _) => *total,
        }
    }
}

pub struct PriceChecker {
    pub(crate) base: Base,
    pub(crate) offers: Arc<OfferService>,
    pub(crate) hotel_search: Arc<HotelSearchService>,
    pub(crate) places: Arc<PlaceService>,
    pub(crate) mappings: HotelMappingService,
    pub(crate) router: SupplierRouter,
    pub(crate) rate_limiter: SupplierRateLimiter,
}

impl PriceChecker {
    /// Checks that the watched hotel or place exists, and that a supplier can price it.
    pub async fn validate_query(
        &self,
        context: &RequestContext,
        query: &watch::PriceQuery,
    ) -> Result<(), QueryError> {
        let mode = context.owner.tenant.mode;
        match &query.target {
            WatchTarget::Hotel { hotel_id } => {
                let ids = std::slice::from_ref(hotel_id);
                let mappings = self.mappings.find_hotel_mappings(mode, ids, None).await?;
                let route_request = RouteRequest::new(context, Capability::HotelPricing, None);
                let route = self
                    .router
                    .route(route_request, Some(&mappings.common_suppliers))?;
                let first = route.suppliers.first();
                let mapping = first.and_then(|supplier| mappings.at_supplier(supplier).next());
                let zone = mapping.and_then(|mapping| mapping.profile.time_zone.as_deref());
                if query.stay.check_in < local_date::local_date(zone, self.base.now()) {
                    return Err(QueryError::CheckInPassed);
                }
            }
            WatchTarget::Trip { area, .. } => {
                let route_request = RouteRequest::new(context, Capability::HotelSearch, None);
                self.router.candidates(route_request)?;
                if let watch::Area::Place(id) = area {
                    self.places.find_place(mode, id).await?;
                }
            }
        }
        Ok(())
    }

    pub async fn run_check(
        &self,
        check: &ClaimedPriceCheck,
        time: Duration,
    ) -> Result<CheckResult, QueryError> {
        let context = background_context(&check.tenant, &check.id, time);
        let stay = &check.query.stay;
        match &check.query.target {
            WatchTarget::Hotel { hotel_id } => {
                let mode = check.tenant.mode;
                let ids = std::slice::from_ref(hotel_id);
                let mappings = self.mappings.find_hotel_mappings(mode, ids, None).await?;
                let route_request = RouteRequest::new(&context, Capability::HotelPricing, None);
                let suppliers = Some(mappings.common_suppliers.as_slice());
                let route = self.router.route(route_request, suppliers)?;
                let priced = self.price_on_route(&context, &route, &mappings, hotel_id, stay);
                let offers = priced.await?;
                let cheapest = cheapest(offers, |_| true);
                Ok(CheckResult::Hotel(cheapest.map(|offer| {
                    (offer.total, watch_event::current_price(&offer))
                })))
            }
            WatchTarget::Trip { area, filters } => {
                self.check_trip(&context, check, area, filters).await
            }
        }
    }

    async fn check_trip(
        &self,
        context: &RequestContext,
        check: &ClaimedPriceCheck,
        area: &watch::Area,
        filters: &TripFilters,
    ) -> Result<CheckResult, QueryError> {
        let route_request = RouteRequest::new(context, Capability::HotelSearch, None);
        let route = self.router.route(route_request, None)?;
        self.take_rate_permit(context, &route)?;
        let stay = &check.query.stay;
        let query = search_query(area, filters, stay);
        let found = self.hotel_search.search_on_route(context, &route, &query);
        let found = found.await?;
        // The highest price that a watch of this query waits for.
        let cap = self.base.store.highest_trigger(&check.tenant, &check.id);
        let cap = cap.await?;
        let hotels = found.hotels.iter();
        let hotels = hotels.map_while(|(id, hotel)| Some((id, hotel, hotel.lowest_total?)));
        let hotels: Vec<_> = hotels.collect();
        let is_dearer = |(.., total): &(_, _, Money)| cap.is_none_or(|cap| total.minor > cap);
        let dearer_from = hotels.iter().position(is_dearer).unwrap_or(hotels.len());
        let (affordable, dearer) = hotels.split_at(dearer_from);
        let matches = self.price_found_hotels(context, &found.supplier, affordable, filters, stay);
        let matches = matches.await?;
        let dearer = dearer.first().filter(|_| matches.len() < MATCHES_MAX);
        let dearer = dearer.map(|(.., total)| *total);
        let cheapest_match = matches.first().map(|(total, _)| *total);
        let cheapest = cheapest_match.into_iter().chain(dearer);
        let cheapest = cheapest.min_by_key(|total| total.minor);
        Ok(CheckResult::Trip(cheapest, matches))
    }

    /// Prices hotels that a search found, until [`MATCHES_MAX`] of them have an offer that passes
    /// the filters. Returns the cheapest such offer of each, in ascending order of price.
    async fn price_found_hotels(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        hotels: &[(&HotelId, &SupplierHotel, Money)],
        filters: &TripFilters,
        stay: &Stay,
    ) -> Result<Vec<(Money, TripMatchResource)>, QueryError> {
        if hotels.is_empty() {
            return Ok(Vec::new());
        }
        let route_request = RouteRequest::new(context, Capability::HotelPricing, Some(supplier));
        let route = self.router.route(route_request, None)?;
        let mode = context.owner.tenant.mode;
        let ids: Vec<HotelId> = hotels.iter().map(|(id, ..)| (*id).clone()).collect();
        let mappings = self
            .mappings
            .find_hotel_mappings(mode, &ids, Some(supplier));
        let mappings = mappings.await?;
        let (mut matches, mut last_error) = (Vec::new(), None);
        for (id, hotel, _) in hotels {
            if matches.len() == MATCHES_MAX {
                break;
            }
            let mapping = mappings.of_hotel(id);
            let priced = self.price_on_route(context, &route, &mapping, id, stay);
            match priced.await {
                Ok(offers) => {
                    let offer = cheapest(offers, |offer| matches_filters(offer, filters));
                    matches.extend(offer.map(|offer| {
                        let trip_match = watch_event::trip_match(id, hotel, &offer);
                        (offer.total, trip_match)
                    }));
                }
                // Another hotel may still be available.
                Err(error) => last_error = Some(error),
            }
        }
        if let Some(error) = last_error.filter(|_| matches.is_empty()) {
            return Err(error);
        }
        matches.sort_by_key(|(total, _)| total.minor);
        Ok(matches)
    }

    /// Acquires a rate-limit permit, and prices a hotel at the suppliers of a route. `mappings` are
    /// those of the hotel.
    async fn price_on_route(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        mappings: &HotelMappings,
        hotel: &HotelId,
        stay: &Stay,
    ) -> Result<Vec<PricedHotel>, QueryError> {
        self.take_rate_permit(context, route)?;
        let query = offer_query(hotel, stay);
        let priced = self
            .offers
            .price_mapped_hotels(context, route, &query, mappings);
        let (_, hotels) = priced.await?;
        Ok(hotels)
    }

    /// Returns the offers of a hotel at the moment.
    pub async fn fetch_offers(
        &self,
        context: &RequestContext,
        hotel: &HotelId,
        stay: &Stay,
    ) -> Result<Vec<PricedHotel>, QueryError> {
        let query = offer_query(hotel, stay);
        let (_, hotels) = self.offers.price_hotels(context, &query).await?;
        Ok(hotels)
    }

    /// Acquires a rate-limit permit for the first supplier of a route.
    fn take_rate_permit(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
    ) -> Result<(), QueryError> {
        let first = route.suppliers.first();
        let supplier = first.ok_or(QueryError::Unsupported(None))?;
        let mode = context.owner.tenant.mode;
        let permit = self.rate_limiter.acquire(mode, supplier);
        permit.map_err(|error| QueryError::Supplier {
            supplier: supplier.clone(),
            error,
        })
    }
}

/// Builds the context of a background check, which runs for the organization's watches and not for
/// a caller. The same check always uses the same supplier, as long as that one responds.
pub fn background_context(tenant: &Tenant, id: &PriceCheckId, time: Duration) -> RequestContext {
    RequestContext::for_background(tenant, id.as_str(), Deadline::from_now(time))
}

fn offer_query(hotel: &HotelId, stay: &Stay) -> OfferQuery {
    OfferQuery {
        hotels: HotelSelection::ByHotelId(vec![hotel.clone()]),
        selector: None,
        stay: stay.clone(),
        max_offers_per_hotel: OFFERS_MAX,
        include_package_rates: false,
    }
}

fn search_query(area: &watch::Area, filters: &TripFilters, stay: &Stay) -> SearchQuery {
    SearchQuery {
        area: area.clone(),
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

fn cheapest(
    hotels: Vec<PricedHotel>,
    is_wanted: impl Fn(&HotelOffer) -> bool,
) -> Option<HotelOffer> {
    let offers = hotels.into_iter().flat_map(|hotel| hotel.offers);
    let offers = offers.map(|priced| priced.offer);
    offers
        .filter(|offer| is_wanted(offer))
        .min_by_key(|offer| offer.total.minor)
}

fn matches_filters(offer: &HotelOffer, filters: &TripFilters) -> bool {
    let is_refundable = offer.policy.refundable;
    let refundable = filters
        .refundable
        .is_none_or(|requested| requested == is_refundable);
    let has_board = |room: &host_domain::hotel::RoomRate| filters.boards.contains(&room.board);
    refundable && (filters.boards.is_empty() || offer.rooms.iter().all(has_board))
}
