//! Prices hotels and flights. Each offer gets the reference that it is prebooked with. No offer is
//! stored.

use crate::base::Base;
use crate::catalog::hotel_mapping::{HotelMappingService, HotelMappings};
use crate::catalog::local_date;
use crate::context::RequestContext;
use crate::offers::flight::{self, FareQuery, FareSearchResult, PricedFare};
use crate::offers::flight_filter;
use crate::offers::hotel::{self, HotelRow, HotelSelection, OfferQuery, PricedHotel, PricedOffer};
use crate::offers::terms::{FlightOfferTerms, HotelOfferTerms};
use crate::offers::token;
use crate::sealer::Sealer;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::flight::supplier_api as flight_api;
use host_domain::hotel::Stay;
use host_domain::hotel::supplier_api::{HotelOffers, HotelPriceRequest, HotelPriceResponse};
use host_domain::id::HotelId;
use host_domain::owner::Tenant;
use host_domain::routing::SupplierRoute;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_domain::time::Timestamp;
use host_storage::HotelObservation;
use std::sync::Arc;

/// Prices hotels and flights, and opens the references of their offers.
pub struct OfferService {
    pub(crate) base: Base,
    pub(crate) router: SupplierRouter,
    pub(crate) mappings: HotelMappingService,
    pub(crate) sealer: Arc<Sealer>,
    /// Validity of an offer whose supplier names no expiry, in seconds.
    pub(crate) ttl_s: i64,
}

impl OfferService {
    /// Opens the reference of a hotel offer. Returns `None` if it is not valid for this tenant.
    pub fn open_hotel_offer(&self, tenant: &Tenant, reference: &str) -> Option<HotelOfferTerms> {
        token::decode(&self.sealer, tenant, reference)
    }

    /// Opens the reference of a fare. Returns `None` if it is not valid for this tenant.
    pub fn open_flight_offer(&self, tenant: &Tenant, reference: &str) -> Option<FlightOfferTerms> {
        token::decode(&self.sealer, tenant, reference)
    }

    /// Returns the offers of every hotel of the request, in its order.
    pub async fn price_hotels(
        &self,
        context: &RequestContext,
        query: &OfferQuery,
    ) -> Result<(SupplierId, Vec<PricedHotel>), QueryError> {
        let selector = query.selector.as_ref();
        let candidates = self.router.candidates(RouteRequest::new(
            context,
            Capability::HotelPricing,
            selector,
        ))?;
        let mode = context.owner.tenant.mode;
        match &query.hotels {
            HotelSelection::ByHotelId(ids) => {
                let mappings = self.mappings.find_hotel_mappings(mode, ids, selector);
                let mappings = mappings.await?;
                let route = candidates.choose(Some(&mappings.common_suppliers))?;
                self.price_mapped_hotels(context, &route, query, &mappings)
                    .await
            }
            HotelSelection::BySupplierId(ids) => {
                let supplier = selector.ok_or(QueryError::Unsupported(None))?;
                let store = &self.base.store;
                let mappings = store.hotel_mappings_of_supplier(mode, supplier, ids);
                let mappings = mappings.await?;
                let route = candidates.choose(None)?;
                let row = |id: &String| {
                    let mut mappings = mappings.iter();
                    HotelRow {
                        supplier_hotel_id: id.clone(),
                        mapping: mappings.find(|one| one.supplier_hotel_id == *id).cloned(),
                    }
                };
                let rows_at = |_: &SupplierId| ids.iter().map(row).collect();
                self.price_at_supplier(context, &route, query, rows_at)
                    .await
            }
        }
    }

    /// Returns the offers of every hotel of the request, in its order. `mappings` are those of its
    /// hotels, and `route` has the suppliers to call.
    pub(crate) async fn price_mapped_hotels(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        query: &OfferQuery,
        mappings: &HotelMappings,
    ) -> Result<(SupplierId, Vec<PricedHotel>), QueryError> {
        let rows_at = |supplier: &SupplierId| {
            let rows = mappings.at_supplier(supplier).map(|mapping| HotelRow {
                supplier_hotel_id: mapping.supplier_hotel_id.clone(),
                mapping: Some(mapping.clone()),
            });
            rows.collect()
        };
        self.price_at_supplier(context, route, query, rows_at).await
    }

    async fn price_at_supplier(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        query: &OfferQuery,
        rows_at: impl Fn(&SupplierId) -> Vec<HotelRow>,
    ) -> Result<(SupplierId, Vec<PricedHotel>), QueryError> {
        let first_rows = route.suppliers.first().map(&rows_at).unwrap_or_default();
        self.ensure_check_in_not_passed(&query.stay, &first_rows)?;
        let response = self
            .router
            .query_with_failover(context, route, |supplier, call_context| {
                let rows = rows_at(&supplier.info().id);
                let request = HotelPriceRequest {
                    supplier_hotel_ids: rows.into_iter().map(|row| row.supplier_hotel_id).collect(),
                    stay: query.stay.clone(),
                    max_offers_per_hotel: query.max_offers_per_hotel,
                    include_package_rates: query.include_package_rates,
                };
                async move { supplier.price_hotels(&call_context, request).await }
            });
        let (supplier, response) = response.await?;
        let rows = rows_at(&supplier);
        let ids = self.assign_hotel_ids(context, &supplier, &rows, &response);
        let ids = ids.await?;
        let rows = rows.into_iter().zip(ids);
        let hotels = self.to_priced_hotels(context, &supplier, query, rows, response);
        Ok((supplier, hotels))
    }

    /// Checks that the day of check-in is not over at any of the hotels. It may be over at a hotel
    /// and not yet elsewhere.
    fn ensure_check_in_not_passed(&self, stay: &Stay, rows: &[HotelRow]) -> Result<(), QueryError> {
        let now = self.base.now();
        let zones = rows.iter();
        let mut zones = zones.filter_map(|row| row.mapping.as_ref()?.profile.time_zone.as_deref());
        match zones.any(|zone| stay.check_in < local_date::local_date(Some(zone), now)) {
            true => Err(QueryError::CheckInPassed),
            false => Ok(()),
        }
    }

    /// Returns the gateway's id of every row. A new hotel gets a new id.
    async fn assign_hotel_ids(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        rows: &[HotelRow],
        response: &HotelPriceResponse,
    ) -> Result<Vec<HotelId>, QueryError> {
        let is_known = |row: &HotelRow| {
            row.mapping.as_ref().is_some_and(|mapping| {
                hotel::hotel_in(response, &row.supplier_hotel_id)
                    .is_none_or(|hotel| hotel::is_profile_known(&mapping.profile, hotel))
            })
        };
        if rows.iter().all(is_known) {
            let mappings = rows.iter().filter_map(|row| row.mapping.as_ref());
            return Ok(mappings.map(|mapping| mapping.hotel_id.clone()).collect());
        }
        let observations = rows.iter().map(|row| HotelObservation {
            supplier_hotel_id: row.supplier_hotel_id.clone(),
            candidate: row.mapping.as_ref().map_or_else(
                || HotelId::from_bits(self.base.ids.generate()),
                |mapping| mapping.hotel_id.clone(),
            ),
            profile: hotel::hotel_in(response, &row.supplier_hotel_id)
                .map(hotel::to_profile)
                .unwrap_or_default(),
        });
        let observations: Vec<HotelObservation> = observations.collect();
        let (store, mode) = (&self.base.store, context.owner.tenant.mode);
        let ids = store.resolve_hotel_ids(mode, supplier, &observations, self.base.now());
        Ok(ids.await?)
    }

    fn to_priced_hotels(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &OfferQuery,
        rows: impl Iterator<Item = (HotelRow, HotelId)>,
        mut response: HotelPriceResponse,
    ) -> Vec<PricedHotel> {
        let now = self.base.now();
        let hotels = rows.map(|(row, hotel_id)| {
            let found = hotel::take_hotel_offers(&mut response, &row.supplier_hotel_id);
            let offers = found
                .map(|found| self.to_priced_offers(context, supplier, query, &hotel_id, found, now))
                .unwrap_or_default();
            PricedHotel {
                hotel_id,
                supplier_hotel_id: row.supplier_hotel_id,
                offers,
            }
        });
        hotels.collect()
    }

    fn to_priced_offers(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &OfferQuery,
        hotel_id: &HotelId,
        found: HotelOffers,
        now: Timestamp,
    ) -> Vec<PricedOffer> {
        let latest = now.plus_s(self.ttl_s);
        let hotel = found.hotel;
        let offers = found.offers.into_iter().filter_map(|offer| {
            let expires_at = offer.expires_at.unwrap_or(latest).min(latest);
            if expires_at <= now {
                return None;
            }
            let terms =
                hotel::offer_terms(supplier, hotel_id, &hotel, &offer, query, expires_at);
            let reference = token::encode_hotel(&self.sealer, &context.owner.tenant, terms);
            if reference.is_none() {
                tracing::warn!(%supplier, request_id = %context.request_id, "an offer is too large for an offer reference and is left out");
            }
            Some(PricedOffer { offer, reference: reference?, expires_at })
        });
        offers.collect()
    }

    /// Returns the fares that pass the filters, in the requested order.
    pub async fn price_flights(
        &self,
        context: &RequestContext,
        query: &FareQuery,
    ) -> Result<FareSearchResult, QueryError> {
        let route_request =
            RouteRequest::new(context, Capability::FlightPricing, query.selector.as_ref());
        let route = self.router.route(route_request, None)?;
        let response =
            self.router
                .query_with_failover(context, &route, |supplier, call_context| {
                    let request = flight_filter::supplier_request(&query.request);
                    async move {
                        match supplier.price_flights(&call_context, request).await {
                            // Some suppliers return this error instead of an empty list.
                            Err(ReadError::NotFound(_)) => Ok(flight::empty_response()),
                            response => response,
                        }
                    }
                });
        let (supplier, mut response) = response.await?;
        let now = self.base.now();
        let has_expired =
            |offer: &flight_api::FlightOffer| offer.expires_at.is_some_and(|at| at <= now);
        response.offers.retain(|offer| !has_expired(offer));
        let unsupported_filters = flight_filter::unsupported_filters(&query.request, &response);
        flight_filter::apply_filters(&query.request, &mut response);
        let fares = response.offers.into_iter();
        let fares =
            fares.filter_map(|offer| self.to_priced_fare(context, &supplier, query, offer, now));
        Ok(FareSearchResult {
            fares: fares.collect(),
            supplier,
            truncated: response.truncated,
            unsupported_filters,
        })
    }

    fn to_priced_fare(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &FareQuery,
        offer: flight_api::FlightOffer,
        now: Timestamp,
    ) -> Option<PricedFare> {
        let latest = now.plus_s(self.ttl_s);
        let terms = FlightOfferTerms {
            supplier: supplier.clone(),
            supplier_offer: offer.supplier_offer.clone(),
            exclusive_key: offer.exclusive_key.clone(),
            total: offer.total,
            travellers: query.request.travellers.clone(),
            documents_required: offer.documents_required,
            expires_at: offer.expires_at.unwrap_or(latest).min(latest),
        };
        let reference = token::encode(&self.sealer, &context.owner.tenant, &terms);
        if reference.is_none() {
            tracing::warn!(%supplier, request_id = %context.request_id, "a fare is too large for an offer reference and is left out");
        }
        Some(PricedFare {
            offer,
            reference: reference?,
            expires_at: terms.expires_at,
        })
    }
}
