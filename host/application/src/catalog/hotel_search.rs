//! Hotel search in an area. Filters and orders that a supplier does not apply are reported and
//! applied here, as far as its response allows.

use crate::base::Base;
use crate::catalog::place::PlaceService;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::hotel::supplier_api::{
    HotelAppliedFilters, SearchFilters, SearchRequest, SearchResponse, SearchSort, SupplierHotel,
};
use host_domain::hotel::{Location, Stay};
use host_domain::id::HotelId;
use host_domain::money::Money;
use host_domain::routing::SupplierRoute;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::watch::Area;
use host_storage::{HotelObservation, HotelProfile};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Radius around a place in metres, if its supplier suggests none.
const RADIUS_M_DEFAULT: u32 = 10_000;
pub const RADIUS_M_MAX: u32 = 100_000;
const DEGREE_M: f64 = 111_195.0;

#[derive(Debug)]
pub struct SearchQuery {
    pub area: Area,
    pub selector: Option<SupplierId>,
    pub stay: Stay,
    pub filters: SearchFilters,
    pub sort: SearchSort,
    pub limit: u16,
}

#[derive(Debug)]
pub struct HotelSearchResult {
    pub supplier: SupplierId,
    pub hotels: Vec<(HotelId, SupplierHotel)>,
    pub truncated: bool,
    /// Filters that the supplier did not apply, including the order.
    pub unsupported_filters: Vec<&'static str>,
}

/// A resolved area, with the supplier's place that it was derived from.
struct ResolvedArea {
    center: Location,
    radius_m: u32,
    place: Option<(SupplierId, String)>,
}

pub struct HotelSearchService {
    pub(crate) base: Base,
    pub(crate) router: SupplierRouter,
    pub(crate) places: Arc<PlaceService>,
}

impl HotelSearchService {
    /// Returns the hotels in an area, each with the gateway's id.
    pub async fn search_hotels(
        &self,
        context: &RequestContext,
        query: &SearchQuery,
    ) -> Result<HotelSearchResult, QueryError> {
        let candidates = self.router.candidates(RouteRequest::new(
            context,
            Capability::HotelSearch,
            query.selector.as_ref(),
        ))?;
        let area = self.resolve_area(context, &query.area).await?;
        let route = candidates.choose(None)?;
        self.search_area(context, &route, query, area).await
    }

    /// Returns the hotels in an area, each with the gateway's id. `route` has the suppliers to
    /// call.
    pub(crate) async fn search_on_route(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        query: &SearchQuery,
    ) -> Result<HotelSearchResult, QueryError> {
        let area = self.resolve_area(context, &query.area).await?;
        self.search_area(context, route, query, area).await
    }

    async fn search_area(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        query: &SearchQuery,
        area: ResolvedArea,
    ) -> Result<HotelSearchResult, QueryError> {
        let response = self
            .router
            .query_with_failover(context, route, |supplier, call_context| {
                let place = area.place.as_ref();
                let own_place = place.filter(|(owner, _)| *owner == supplier.info().id);
                let request = SearchRequest {
                    center: area.center,
                    radius_m: area.radius_m,
                    supplier_place_id: own_place.map(|(_, id)| id.clone()),
                    stay: query.stay.clone(),
                    filters: query.filters.clone(),
                    sort: query.sort,
                    limit: query.limit,
                };
                async move { supplier.search_hotels(&call_context, request).await }
            });
        let (supplier, mut response) = response.await?;
        let unsupported = unsupported_filters(query, &response);
        apply_filters(query, area.center, &mut response);
        let hotels = response.hotels.iter();
        let observations: Vec<_> = hotels.map(|hotel| self.to_observation(hotel)).collect();
        let (store, mode) = (&self.base.store, context.owner.tenant.mode);
        let ids = store.resolve_hotel_ids(mode, &supplier, &observations, self.base.now());
        let hotels = ids.await?.into_iter().zip(response.hotels).collect();
        Ok(HotelSearchResult {
            supplier,
            hotels,
            truncated: response.truncated,
            unsupported_filters: unsupported,
        })
    }

    async fn resolve_area(
        &self,
        context: &RequestContext,
        area: &Area,
    ) -> Result<ResolvedArea, QueryError> {
        match area {
            Area::Around { center, radius_m } => Ok(ResolvedArea {
                center: *center,
                radius_m: *radius_m,
                place: None,
            }),
            Area::Place(id) => {
                let mode = context.owner.tenant.mode;
                let (stored, place) = self.places.find_place(mode, id).await?;
                let suggested = place.suggested_radius;
                Ok(ResolvedArea {
                    center: place.location,
                    radius_m: suggested.map_or(RADIUS_M_DEFAULT, clamp_radius),
                    place: Some((stored.supplier, stored.supplier_place_id)),
                })
            }
        }
    }

    fn to_observation(&self, hotel: &SupplierHotel) -> HotelObservation {
        HotelObservation {
            supplier_hotel_id: hotel.supplier_hotel_id.clone(),
            candidate: HotelId::from_bits(self.base.ids.generate()),
            profile: HotelProfile {
                name: Some(hotel.name.clone()),
                location: Some(hotel.location),
                time_zone: None,
            },
        }
    }
}

fn clamp_radius(radius: f64) -> u32 {
    let within = radius.round().clamp(1.0, f64::from(RADIUS_M_MAX));
    // A radius that is not a number is replaced by the default.
    if within.is_nan() {
        RADIUS_M_DEFAULT
    } else {
        format!("{within:.0}").parse().unwrap_or(RADIUS_M_DEFAULT)
    }
}

/// Returns the names of the filters that the supplier did not apply. `sort` is included only if the
/// supplier truncated its response and may have left out the first hotels.
fn unsupported_filters(query: &SearchQuery, response: &SearchResponse) -> Vec<&'static str> {
    let (filters, done) = (&query.filters, response.applied);
    let requested = [
        (
            "min_star_rating",
            filters.min_star_rating.is_some() && !done.min_star_rating,
        ),
        (
            "min_guest_rating",
            filters.min_guest_rating.is_some() && !done.min_guest_rating,
        ),
        (
            "refundable",
            filters.refundable.is_some() && !done.refundable,
        ),
        ("board", !filters.boards.is_empty() && !done.boards),
        ("max_total", filters.max_total.is_some() && !done.max_total),
        ("sort", response.truncated && !done.sort),
    ];
    let ignored = requested.into_iter().filter(|(_, ignored)| *ignored);
    ignored.map(|(name, _)| name).collect()
}

/// Applies the filters and the order that the supplier did not apply. Filters by refundable rate or
/// board cannot be applied here, because a search response does not contain that data.
fn apply_filters(query: &SearchQuery, center: Location, response: &mut SearchResponse) {
    let (hotels, done) = (&mut response.hotels, response.applied);
    let mut ids = BTreeSet::new();
    hotels.retain(|hotel| {
        ids.insert(hotel.supplier_hotel_id.clone()) && matches_filters(&query.filters, done, hotel)
    });
    if !done.sort {
        hotels.sort_by(|one, other| compare(query.sort, center, one, other));
    }
    let limit = usize::from(query.limit);
    response.truncated |= hotels.len() > limit;
    hotels.truncate(limit);
}

fn matches_filters(
    filters: &SearchFilters,
    done: HotelAppliedFilters,
    hotel: &SupplierHotel,
) -> bool {
    let at_least = |least: Option<f64>, value: Option<f64>| {
        least.is_none_or(|least| value.is_some_and(|value| value >= least))
    };
    let stars = done.min_star_rating || at_least(filters.min_star_rating, hotel.star_rating);
    let guests = done.min_guest_rating || at_least(filters.min_guest_rating, hotel.guest_rating);
    let within = |most: Money| {
        let total = hotel.lowest_total;
        total.is_some_and(|total| total.currency == most.currency && total.minor <= most.minor)
    };
    stars && guests && (done.max_total || filters.max_total.is_none_or(within))
}

fn compare(
    sort: SearchSort,
    center: Location,
    one: &SupplierHotel,
    other: &SupplierHotel,
) -> Ordering {
    let best_first = |one: Option<f64>, other: Option<f64>| {
        other.unwrap_or(-1.0).total_cmp(&one.unwrap_or(-1.0))
    };
    let away = |hotel: &SupplierHotel| distance(center, hotel.location);
    let minor = |hotel: &SupplierHotel| hotel.lowest_total.map_or(i64::MAX, |total| total.minor);
    match sort {
        SearchSort::Distance => away(one).total_cmp(&away(other)),
        SearchSort::Total => minor(one).cmp(&minor(other)),
        SearchSort::GuestRating => best_first(one.guest_rating, other.guest_rating),
        SearchSort::StarRating => best_first(one.star_rating, other.star_rating),
    }
}

/// Returns the distance in metres on a plane, which is accurate enough to sort the hotels of an
/// area.
fn distance(from: Location, to: Location) -> f64 {
    let north = to.latitude - from.latitude;
    let around = (to.longitude - from.longitude).abs();
    let east = around.min(360.0 - around) * from.latitude.to_radians().cos();
    north.hypot(east) * DEGREE_M
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_domain::hotel::Board;
    use host_domain::money::Currency;
    use serde_json::json;

    fn euros(minor: i64) -> Money {
        Money::new(minor, Currency::parse("EUR").unwrap())
    }

    fn at(latitude: f64, longitude: f64) -> Location {
        Location {
            latitude,
            longitude,
        }
    }

    fn hotel(id: &str, latitude: f64, stars: Option<f64>, total: Option<i64>) -> SupplierHotel {
        SupplierHotel {
            supplier_hotel_id: id.to_owned(),
            name: id.to_owned(),
            address: String::new(),
            location: at(latitude, 179.9),
            star_rating: stars,
            guest_rating: None,
            lowest_total: total.map(euros),
            main_image: None,
        }
    }

    fn query(filters: SearchFilters, sort: SearchSort, limit: u16) -> SearchQuery {
        let stay = json!({
            "check_in": "2026-12-01",
            "check_out": "2026-12-03",
            "occupancies": [],
            "guest_nationality": "GB",
            "currency": "EUR",
        });
        let (center, radius_m) = (at(10.0, -179.9), 1);
        SearchQuery {
            area: Area::Around { center, radius_m },
            selector: None,
            stay: serde_json::from_value(stay).unwrap(),
            filters,
            sort,
            limit,
        }
    }

    fn finished(
        query: &SearchQuery,
        applied: HotelAppliedFilters,
        hotels: &[SupplierHotel],
    ) -> (Vec<String>, bool, Vec<&'static str>) {
        let mut response = SearchResponse {
            hotels: hotels.to_vec(),
            applied,
            truncated: false,
        };
        let unsupported = unsupported_filters(query, &response);
        apply_filters(query, at(10.0, -179.9), &mut response);
        let left = response.hotels.into_iter();
        let left = left.map(|hotel| hotel.supplier_hotel_id);
        (left.collect(), response.truncated, unsupported)
    }

    #[test]
    fn filters_not_applied_by_the_supplier_are_reported_and_applied() {
        let hotels = [
            hotel("far", 11.0, Some(5.0), Some(300)),
            hotel("near", 10.1, Some(4.0), Some(200)),
            hotel("near", 10.1, Some(4.0), Some(200)),
            hotel("poor", 10.0, Some(2.0), Some(100)),
            hotel("unknown", 10.0, None, None),
        ];
        let filters = SearchFilters {
            min_star_rating: Some(4.0),
            max_total: Some(euros(300)),
            boards: vec![Board::HalfBoard],
            ..SearchFilters::default()
        };
        let search = query(filters, SearchSort::Distance, 20);
        let (left, truncated, unsupported) =
            finished(&search, HotelAppliedFilters::default(), &hotels);
        assert_eq!(left, ["near", "far"]);
        assert!(!truncated);
        assert_eq!(unsupported, ["min_star_rating", "board", "max_total"]);
    }

    #[test]
    fn filters_applied_by_the_supplier_are_not_applied_again() {
        let applied = HotelAppliedFilters {
            min_star_rating: true,
            sort: true,
            ..HotelAppliedFilters::default()
        };
        let hotels = [
            hotel("b", 12.0, None, None),
            hotel("a", 10.0, Some(1.0), Some(1)),
        ];
        let filters = SearchFilters {
            min_star_rating: Some(4.0),
            ..SearchFilters::default()
        };
        let query = query(filters, SearchSort::Total, 20);
        let (left, _, unsupported) = finished(&query, applied, &hotels);
        assert_eq!(left, ["b", "a"]);
        assert!(unsupported.is_empty());
    }

    #[test]
    fn hotels_with_unknown_values_are_sorted_last() {
        let hotels = [
            hotel("none", 10.0, None, None),
            hotel("dear", 10.2, Some(5.0), Some(900)),
            hotel("cheap", 10.3, Some(3.0), Some(100)),
        ];
        for (sort, order) in [
            (SearchSort::Total, ["cheap", "dear", "none"]),
            (SearchSort::StarRating, ["dear", "cheap", "none"]),
            (SearchSort::Distance, ["none", "dear", "cheap"]),
        ] {
            let query = query(SearchFilters::default(), sort, 20);
            let (left, ..) = finished(&query, HotelAppliedFilters::default(), &hotels);
            assert_eq!(left, order, "{sort:?}");
        }
    }

    #[test]
    fn hotels_over_the_limit_are_truncated() {
        let hotels = [hotel("a", 10.0, None, None), hotel("b", 10.1, None, None)];
        let query = query(SearchFilters::default(), SearchSort::Distance, 1);
        let (left, truncated, _) = finished(&query, HotelAppliedFilters::default(), &hotels);
        assert_eq!((left.len(), truncated), (1, true));
    }

    #[test]
    fn distance_across_the_antimeridian_is_short() {
        let across = distance(at(60.0, 179.95), at(60.0, -179.95));
        assert!((across - 5_560.0).abs() < 20.0, "{across}");
    }

    #[test]
    fn suggested_radius_is_clamped() {
        let unknown = (f64::NAN, RADIUS_M_DEFAULT);
        for (suggested, taken) in [(0.2, 1), (1500.4, 1500), (5e9, 100_000), unknown] {
            assert_eq!(clamp_radius(suggested), taken);
        }
    }
}
