//! Price checks for watches. They run the same queries that callers make.

use crate::base::Base;
use crate::catalog::hotel_mapping::HotelMappingService;
use crate::catalog::hotel_search::{HotelSearchService, SearchArea, SearchQuery};
use crate::catalog::local_date;
use crate::catalog::place::PlaceService;
use crate::context::{ApiKeyScope, RequestContext};
use crate::deadline::Deadline;
use crate::offers::hotel::{HotelSelection, OfferQuery, PricedHotel};
use crate::offers::service::OfferService;
use crate::supplier::query_error::QueryError;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::hotel::supplier_api::{HotelOffer, SearchFilters, SearchSort, SupplierHotel};
use host_domain::hotel::{Location, Stay};
use host_domain::id::{HotelId, KeyId, PriceCheckId};
use host_domain::money::Money;
use host_domain::owner::{Owner, Tenant};
use host_domain::supplier::{Capability, SupplierId};
use host_domain::watch::{self, TripFilters, WatchTarget};
use host_resources::watch_event as render;
use host_resources::watch_event::{CurrentPriceResource, TripMatchResource};
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
    Hotel(Option<(Money, CurrentPriceResource)>),
    /// The cheapest total of a trip, and its cheapest hotels in ascending order of price. Hotels
    /// are priced only if an event of a watch may name them.
    Trip(Option<Money>, Vec<(Money, TripMatchResource)>),
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

/// The dependencies of [`PriceChecker`].
pub struct PriceCheckDependencies {
    /// Database, clock and generator of identifiers.
    pub base: Base,
    /// Prices hotels.
    pub offers: Arc<OfferService>,
    /// Searches hotels.
    pub hotel_search: Arc<HotelSearchService>,
    /// Finds places.
    pub places: Arc<PlaceService>,
    /// Finds the suppliers that have a hotel.
    pub mappings: HotelMappingService,
    /// Selects suppliers.
    pub router: SupplierRouter,
    /// Rate limit of price checks at suppliers.
    pub rate_limiter: SupplierRateLimiter,
}

/// Checks the prices that watches wait for.
pub struct PriceChecker {
    dependencies: PriceCheckDependencies,
}

impl PriceChecker {
    /// Creates the price checker.
    #[must_use]
    pub const fn new(dependencies: PriceCheckDependencies) -> Self {
        Self { dependencies }
    }

    /// Checks that the watched hotel or place exists, and that a supplier can price it.
    pub async fn validate_query(
        &self,
        context: &RequestContext,
        query: &watch::PriceQuery,
    ) -> Result<(), QueryError> {
        let PriceCheckDependencies {
            base,
            places,
            mappings,
            router,
            ..
        } = &self.dependencies;
        let mode = context.owner.tenant.mode;
        match &query.target {
            WatchTarget::Hotel { hotel_id } => {
                let ids = std::slice::from_ref(hotel_id);
                let mappings = mappings.find_hotel_mappings(mode, ids, None).await?;
                let route_request = route_request(context, Capability::HotelPricing);
                let route = router.route(route_request, Some(&mappings.common_suppliers))?;
                let first = route.suppliers.first();
                let mapping = first.and_then(|supplier| mappings.at_supplier(supplier).next());
                let zone = mapping.and_then(|mapping| mapping.profile.time_zone.as_deref());
                if query.stay.check_in < local_date::local_date(zone, base.now()) {
                    return Err(QueryError::CheckInPassed);
                }
            }
            WatchTarget::Trip { area, .. } => {
                router.route(route_request(context, Capability::HotelSearch), None)?;
                if let watch::Area::Place(id) = area {
                    places.find_place(mode, id).await?;
                }
            }
        }
        Ok(())
    }

    /// Runs the query of a price check within `time`.
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
                let mappings = &self.dependencies.mappings;
                let mappings = mappings.find_hotel_mappings(mode, ids, None).await?;
                let route_request = route_request(&context, Capability::HotelPricing);
                self.take_rate_permit(route_request, Some(&mappings.common_suppliers))?;
                let offers = self.fetch_offers(&context, hotel_id, None, stay).await?;
                let cheapest = cheapest(offers, |_| true);
                Ok(CheckResult::Hotel(
                    cheapest.map(|offer| (offer.total, render::current_price(&offer))),
                ))
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
        let PriceCheckDependencies {
            base, hotel_search, ..
        } = &self.dependencies;
        self.take_rate_permit(route_request(context, Capability::HotelSearch), None)?;
        let stay = &check.query.stay;
        let query = search_query(area, filters, stay);
        let found = hotel_search.search_hotels(context, &query).await?;
        // The highest price that a watch of this query waits for.
        let cap = base.store.highest_trigger(&check.tenant, &check.id).await?;
        let (mut matches, mut dearer, mut last_error) = (Vec::new(), None, None);
        for (id, hotel) in &found.hotels {
            let Some(total) = hotel.lowest_total.filter(|_| matches.len() < MATCHES_MAX) else {
                break;
            };
            if cap.is_none_or(|cap| total.minor > cap) {
                dearer = Some(total);
                break;
            }
            let priced = self.price_candidate(context, &found.supplier, id, hotel, filters, stay);
            match priced.await {
                Ok(trip_match) => matches.extend(trip_match),
                // Another hotel may still be available.
                Err(error) => last_error = Some(error),
            }
        }
        if let Some(error) = last_error.filter(|_| matches.is_empty()) {
            return Err(error);
        }
        matches.sort_by_key(|(total, _)| total.minor);
        let cheapest_match = matches.first().map(|(total, _)| *total);
        let cheapest = cheapest_match.into_iter().chain(dearer);
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
    ) -> Result<Option<(Money, TripMatchResource)>, QueryError> {
        self.take_rate_permit_of(context, supplier)?;
        let offers = self.fetch_offers(context, id, Some(supplier), stay).await?;
        let offer = cheapest(offers, |offer| matches_filters(offer, filters));
        Ok(offer.map(|offer| (offer.total, render::trip_match(id, hotel, &offer))))
    }

    /// Returns the current offers of a hotel.
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
        let offers = &self.dependencies.offers;
        let (_, hotels) = offers.price_hotels(context, &query).await?;
        Ok(hotels)
    }

    /// Acquires a rate-limit permit for the supplier that is called first.
    fn take_rate_permit(
        &self,
        request: RouteRequest<'_>,
        eligible: Option<&[SupplierId]>,
    ) -> Result<(), QueryError> {
        let route = self.dependencies.router.route(request, eligible)?;
        let first = route.suppliers.first();
        let supplier = first.ok_or(QueryError::Unsupported(None))?;
        self.take_rate_permit_of(request.context, supplier)
    }

    fn take_rate_permit_of(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
    ) -> Result<(), QueryError> {
        let limiter = &self.dependencies.rate_limiter;
        let permit = limiter.acquire(context.owner.tenant.mode, supplier);
        permit.map_err(|error| QueryError::Supplier {
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

const fn route_request<'a>(context: &'a RequestContext, operation: Capability) -> RouteRequest<'a> {
    RouteRequest {
        context,
        operation,
        selector: None,
    }
}

fn search_query(area: &watch::Area, filters: &TripFilters, stay: &Stay) -> SearchQuery {
    SearchQuery {
        area: match area {
            watch::Area::Place(id) => SearchArea::Place(id.clone()),
            watch::Area::Around { center, radius_m } => SearchArea::Circle {
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
