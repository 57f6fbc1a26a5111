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
use host_domain::id::{HotelId, PlaceId};
use host_domain::supplier::{Capability, SupplierId};
use host_storage::{HotelObservation, HotelProfile};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Radius around a place in metres, if its supplier suggests none.
const RADIUS_M_DEFAULT: u32 = 10_000;
/// Maximum radius of an area, in metres.
pub const RADIUS_M_MAX: u32 = 100_000;
/// Length of a degree of latitude, in metres.
const DEGREE_M: f64 = 111_195.0;

/// The area to search.
#[derive(Debug)]
pub enum SearchArea {
    /// The surroundings of a stored place.
    Place(PlaceId),
    /// A circle around a point.
    Circle {
        /// The centre of the circle.
        center: Location,
        /// The radius in metres.
        radius_m: u32,
    },
}

/// A query for hotels in an area.
#[derive(Debug)]
pub struct SearchQuery {
    pub area: SearchArea,
    /// The supplier that the caller named.
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
    /// Whether there are more hotels.
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

/// Searches hotels in an area.
pub struct HotelSearchService {
    base: Base,
    router: SupplierRouter,
    places: Arc<PlaceService>,
}

impl HotelSearchService {
    #[must_use]
    pub const fn new(base: Base, router: SupplierRouter, places: Arc<PlaceService>) -> Self {
        Self {
            base,
            router,
            places,
        }
    }

    /// Returns the hotels in an area, each with the gateway's id.
    pub async fn search_hotels(
        &self,
        context: &RequestContext,
        query: &SearchQuery,
    ) -> Result<HotelSearchResult, QueryError> {
        let candidates = self.router.candidates(RouteRequest {
            context,
            operation: Capability::HotelSearch,
            selector: query.selector.as_ref(),
        })?;
        let area = self.resolve_area(context, &query.area).await?;
        let route = candidates.choose(None)?;
        let response =
            self.router
                .query_with_failover(context, &route, |supplier, call_context| {
                    let own_place = area
                        .place
                        .as_ref()
                        .filter(|(owner, _)| *owner == supplier.info().id);
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
        let observations: Vec<HotelObservation> = response
            .hotels
            .iter()
            .map(|hotel| self.to_observation(hotel))
            .collect();
        let ids = self
            .base
            .store
            .resolve_hotel_ids(
                context.owner.tenant.mode,
                &supplier,
                &observations,
                self.base.now(),
            )
            .await?;
        let hotels = ids.into_iter().zip(response.hotels).collect();
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
        area: &SearchArea,
    ) -> Result<ResolvedArea, QueryError> {
        match area {
            SearchArea::Circle { center, radius_m } => Ok(ResolvedArea {
                center: *center,
                radius_m: *radius_m,
                place: None,
            }),
            SearchArea::Place(id) => {
                let (stored, place) = self
                    .places
                    .find_place(context.owner.tenant.mode, id)
                    .await?;
                let radius_m = place
                    .suggested_radius
                    .map_or(RADIUS_M_DEFAULT, clamp_radius);
                Ok(ResolvedArea {
                    center: place.location,
                    radius_m,
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

/// Clamps a suggested radius to the range that a search accepts.
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
    let SearchFilters {
        min_star_rating,
        min_guest_rating,
        refundable,
        boards,
        max_total,
    } = &query.filters;
    let HotelAppliedFilters {
        min_star_rating: star,
        min_guest_rating: guest,
        refundable: free,
        boards: board,
        max_total: total,
        sort,
    } = response.applied;
    let requested = [
        ("min_star_rating", min_star_rating.is_some() && !star),
        ("min_guest_rating", min_guest_rating.is_some() && !guest),
        ("refundable", refundable.is_some() && !free),
        ("board", !boards.is_empty() && !board),
        ("max_total", max_total.is_some() && !total),
        ("sort", response.truncated && !sort),
    ];
    requested
        .into_iter()
        .filter_map(|(name, ignored)| ignored.then_some(name))
        .collect()
}

/// Applies the filters and the order that the supplier did not apply. Filters by refundable rate or
/// board cannot be applied here, because a search response does not contain that data.
fn apply_filters(query: &SearchQuery, center: Location, response: &mut SearchResponse) {
    let mut ids = BTreeSet::new();
    response.hotels.retain(|hotel| {
        ids.insert(hotel.supplier_hotel_id.clone())
            && matches_filters(&query.filters, response.applied, hotel)
    });
    if !response.applied.sort {
        response
            .hotels
            .sort_by(|one, other| compare(query.sort, center, one, other));
    }
    let limit = usize::from(query.limit);
    response.truncated |= response.hotels.len() > limit;
    response.hotels.truncate(limit);
}

fn matches_filters(
    filters: &SearchFilters,
    applied: HotelAppliedFilters,
    hotel: &SupplierHotel,
) -> bool {
    let at_least = |least: Option<f64>, value: Option<f64>| {
        least.is_none_or(|least| value.is_some_and(|value| value >= least))
    };
    let stars = applied.min_star_rating || at_least(filters.min_star_rating, hotel.star_rating);
    let guests = applied.min_guest_rating || at_least(filters.min_guest_rating, hotel.guest_rating);
    let within = |most: host_domain::money::Money| {
        hotel
            .lowest_total
            .is_some_and(|total| total.currency == most.currency && total.minor <= most.minor)
    };
    stars && guests && (applied.max_total || filters.max_total.is_none_or(within))
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
    match sort {
        SearchSort::Distance => {
            distance(center, one.location).total_cmp(&distance(center, other.location))
        }
        SearchSort::Total => {
            let minor =
                |hotel: &SupplierHotel| hotel.lowest_total.map_or(i64::MAX, |total| total.minor);
            minor(one).cmp(&minor(other))
        }
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
    use host_domain::money::{Currency, Money};

    fn euros(minor: i64) -> Money {
        Money::new(minor, Currency::parse("EUR").unwrap())
    }

    fn hotel(id: &str, latitude: f64, stars: Option<f64>, total: Option<i64>) -> SupplierHotel {
        SupplierHotel {
            supplier_hotel_id: id.to_owned(),
            name: id.to_owned(),
            address: String::new(),
            location: Location {
                latitude,
                longitude: 179.9,
            },
            star_rating: stars,
            guest_rating: None,
            lowest_total: total.map(euros),
            main_image: None,
        }
    }

    fn query(filters: SearchFilters, sort: SearchSort, limit: u16) -> SearchQuery {
        let stay = Stay {
            check_in: "2026-12-01".parse().unwrap(),
            check_out: "2026-12-03".parse().unwrap(),
            occupancies: Vec::new(),
            guest_nationality: "GB".to_owned(),
            guest_residence: None,
            currency: Currency::parse("EUR").unwrap(),
        };
        let center = Location {
            latitude: 10.0,
            longitude: -179.9,
        };
        SearchQuery {
            area: SearchArea::Circle {
                center,
                radius_m: 1,
            },
            selector: None,
            stay,
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
        apply_filters(
            query,
            Location {
                latitude: 10.0,
                longitude: -179.9,
            },
            &mut response,
        );
        (
            response
                .hotels
                .into_iter()
                .map(|hotel| hotel.supplier_hotel_id)
                .collect(),
            response.truncated,
            unsupported,
        )
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
        let all = HotelAppliedFilters {
            min_star_rating: true,
            min_guest_rating: true,
            refundable: true,
            boards: true,
            max_total: true,
            sort: true,
        };
        let hotels = [
            hotel("b", 12.0, None, None),
            hotel("a", 10.0, Some(1.0), Some(1)),
        ];
        let filters = SearchFilters {
            min_star_rating: Some(4.0),
            ..SearchFilters::default()
        };
        let (left, _, unsupported) = finished(&query(filters, SearchSort::Total, 20), all, &hotels);
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
            let (left, ..) = finished(
                &query(SearchFilters::default(), sort, 20),
                HotelAppliedFilters::default(),
                &hotels,
            );
            assert_eq!(left, order, "{sort:?}");
        }
    }

    #[test]
    fn hotels_over_the_limit_are_truncated() {
        let hotels = [hotel("a", 10.0, None, None), hotel("b", 10.1, None, None)];
        let (left, truncated, _) = finished(
            &query(SearchFilters::default(), SearchSort::Distance, 1),
            HotelAppliedFilters::default(),
            &hotels,
        );
        assert_eq!((left.len(), truncated), (1, true));
    }

    #[test]
    fn distance_across_the_antimeridian_is_short() {
        let here = Location {
            latitude: 60.0,
            longitude: 179.95,
        };
        let there = Location {
            latitude: 60.0,
            longitude: -179.95,
        };
        assert!(
            (distance(here, there) - 5_560.0).abs() < 20.0,
            "{}",
            distance(here, there)
        );
    }

    #[test]
    fn suggested_radius_is_clamped() {
        for (suggested, taken) in [
            (0.2, 1),
            (1500.4, 1500),
            (5e9, 100_000),
            (f64::NAN, RADIUS_M_DEFAULT),
        ] {
            assert_eq!(clamp_radius(suggested), taken);
        }
    }
}
