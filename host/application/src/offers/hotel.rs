//! Hotel offers: the supplier to call, the id of each hotel there, and the reference that each
//! offer is prebooked with.

use crate::application::Application;
use crate::booking::hotel_prebook::{HotelOfferTerms, OfferedRoom};
use crate::catalog::local_date;
use crate::context::RequestContext;
use crate::offers::token;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::hotel::supplier_api::{self, Offer, PriceRequest, PriceResponse};
use host_domain::hotel::{HotelSummary, Stay};
use host_domain::id::HotelId;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Timestamp;
use host_storage::{HotelMapping, HotelObservation, HotelProfile};

/// The hotels of a request.
#[derive(Debug)]
pub enum HotelSelection {
    /// Hotels by the gateway's ids.
    ByHotelId(Vec<HotelId>),
    /// Hotels by a supplier's ids, which are valid only at that supplier.
    BySupplierId(Vec<String>),
}

/// A query for the prices of a stay.
#[derive(Debug)]
pub struct OfferQuery {
    pub hotels: HotelSelection,
    /// The supplier that the caller named. Required with [`HotelSelection::BySupplierId`].
    pub selector: Option<SupplierId>,
    pub stay: Stay,
    pub max_offers_per_hotel: u16,
}

/// An offer that can be prebooked.
#[derive(Debug)]
pub struct PricedOffer {
    pub offer: Offer,
    pub reference: String,
    pub expires_at: Timestamp,
}

/// A hotel of the request with its offers.
#[derive(Debug)]
pub struct PricedHotel {
    pub hotel_id: HotelId,
    pub supplier_hotel_id: String,
    pub offers: Vec<PricedOffer>,
}

/// The hotels of the request as the called supplier has them: the supplier's id, and the gateway's
/// mapping if there is one.
type HotelRows = Vec<(String, Option<HotelMapping>)>;

impl Application {
    /// Returns the offers of every hotel of the request, in its order.
    pub async fn price_hotels(
        &self,
        context: &RequestContext,
        query: &OfferQuery,
    ) -> Result<(SupplierId, Vec<PricedHotel>), QueryError> {
        let selector = query.selector.as_ref();
        let question = RouteRequest {
            context,
            operation: Capability::HotelPricing,
            selector,
            eligible_suppliers: None,
        };
        self.route(question)?;
        let mode = context.owner.tenant.mode;
        match &query.hotels {
            HotelSelection::ByHotelId(ids) => {
                let owned = self.find_hotel_mappings(mode, ids, selector).await?;
                let rows_at = |supplier: &SupplierId| {
                    let rows = owned
                        .at_supplier(supplier)
                        .map(|hotel| (hotel.supplier_hotel_id.clone(), Some(hotel.clone())));
                    rows.collect()
                };
                let question = RouteRequest {
                    eligible_suppliers: Some(&owned.common_suppliers),
                    ..question
                };
                self.price_at_supplier(question, query, rows_at).await
            }
            HotelSelection::BySupplierId(ids) => {
                let supplier = selector.ok_or(QueryError::Unsupported(None))?;
                let known = self
                    .store
                    .hotel_mappings_of_supplier(mode, supplier, ids)
                    .await?;
                let row = |id: &String| {
                    (
                        id.clone(),
                        known
                            .iter()
                            .find(|hotel| hotel.supplier_hotel_id == *id)
                            .cloned(),
                    )
                };
                self.price_at_supplier(question, query, |_: &SupplierId| {
                    ids.iter().map(row).collect()
                })
                .await
            }
        }
    }

    async fn price_at_supplier(
        &self,
        question: RouteRequest<'_>,
        query: &OfferQuery,
        rows_at: impl Fn(&SupplierId) -> HotelRows,
    ) -> Result<(SupplierId, Vec<PricedHotel>), QueryError> {
        let zones = self.route(question)?.suppliers;
        let first: HotelRows = zones.first().map(&rows_at).unwrap_or_default();
        self.ensure_check_in_not_passed(&query.stay, &first)?;
        let answer = self.query_with_failover(question, |supplier, call_context| {
            let request = PriceRequest {
                supplier_hotel_ids: rows_at(&supplier.info().id)
                    .into_iter()
                    .map(|(id, _)| id)
                    .collect(),
                stay: query.stay.clone(),
                max_offers_per_hotel: query.max_offers_per_hotel,
            };
            async move { supplier.price_hotels(&call_context, request).await }
        });
        let (supplier, answer) = answer.await?;
        let rows = rows_at(&supplier);
        let ids = self
            .assign_hotel_ids(question.context, &supplier, &rows, &answer)
            .await?;
        let hotels = self.to_priced_hotels(
            question.context,
            &supplier,
            query,
            rows.into_iter().zip(ids),
            answer,
        );
        Ok((supplier, hotels))
    }

    /// Checks that the day of check-in is not over at any of the hotels. It may be over at a hotel
    /// and not yet elsewhere.
    fn ensure_check_in_not_passed(&self, stay: &Stay, rows: &HotelRows) -> Result<(), QueryError> {
        let now = self.clock.now();
        let mut zones = rows
            .iter()
            .filter_map(|(_, hotel)| hotel.as_ref()?.profile.time_zone.as_deref());
        let passed = zones.any(|zone| stay.check_in < local_date::local_date(Some(zone), now));
        if passed {
            Err(QueryError::CheckInPassed)
        } else {
            Ok(())
        }
    }

    /// Returns the gateway's id of every row. A new hotel gets a new id.
    async fn assign_hotel_ids(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        rows: &HotelRows,
        answer: &PriceResponse,
    ) -> Result<Vec<HotelId>, QueryError> {
        let told = |id: &str| {
            answer
                .hotels
                .iter()
                .find(|hotel| hotel.hotel.supplier_hotel_id == id)
                .map(|hotel| &hotel.hotel)
        };
        let nothing_new = rows.iter().all(|(id, known)| {
            known.as_ref().is_some_and(|known| {
                told(id).is_none_or(|told| is_profile_known(&known.profile, told))
            })
        });
        if nothing_new {
            return Ok(rows
                .iter()
                .filter_map(|(_, known)| known.as_ref().map(|known| known.hotel_id.clone()))
                .collect());
        }
        let seen = rows.iter().map(|(id, known)| HotelObservation {
            supplier_hotel_id: id.clone(),
            candidate: known.as_ref().map_or_else(
                || HotelId::from_bits(self.ids.generate()),
                |known| known.hotel_id.clone(),
            ),
            profile: told(id).map(to_profile).unwrap_or_default(),
        });
        let seen: Vec<HotelObservation> = seen.collect();
        Ok(self
            .store
            .resolve_hotel_ids(context.owner.tenant.mode, supplier, &seen, self.clock.now())
            .await?)
    }

    fn to_priced_hotels(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &OfferQuery,
        rows: impl Iterator<Item = ((String, Option<HotelMapping>), HotelId)>,
        mut answer: PriceResponse,
    ) -> Vec<PricedHotel> {
        let now = self.clock.now();
        let rows = rows.map(|((supplier_hotel_id, _), hotel_id)| {
            let at = answer
                .hotels
                .iter()
                .position(|hotel| hotel.hotel.supplier_hotel_id == supplier_hotel_id);
            let found = at.map(|at| answer.hotels.swap_remove(at));
            let offers = found
                .map(|found| self.to_priced_offers(context, supplier, query, &hotel_id, found, now))
                .unwrap_or_default();
            PricedHotel {
                hotel_id,
                supplier_hotel_id,
                offers,
            }
        });
        rows.collect()
    }

    fn to_priced_offers(
        &self,
        context: &RequestContext,
        supplier: &SupplierId,
        query: &OfferQuery,
        hotel_id: &HotelId,
        found: supplier_api::HotelOffers,
        now: Timestamp,
    ) -> Vec<PricedOffer> {
        let latest = now.plus_s(self.offer_ttl_s());
        let hotel = found.hotel;
        let priced = found.offers.into_iter().filter_map(|offer| {
            let expires_at = offer.expires_at.unwrap_or(latest).min(latest);
            if expires_at <= now {
                return None;
            }
            let terms = offer_terms(supplier, hotel_id, &hotel, &offer, &query.stay, expires_at);
            let reference = token::encode(&self.sealer, &context.owner.tenant, &terms);
            if reference.is_none() {
                tracing::warn!(%supplier, request_id = %context.request_id, "an offer is too large for an offer reference and is left out");
            }
            Some(PricedOffer { offer, reference: reference?, expires_at })
        });
        priced.collect()
    }
}

fn is_profile_known(known: &HotelProfile, told: &HotelSummary) -> bool {
    known.name.is_some()
        && (told.location.is_none() || known.location.is_some())
        && (told.time_zone.is_none() || known.time_zone.is_some())
}

fn to_profile(hotel: &HotelSummary) -> HotelProfile {
    HotelProfile {
        name: Some(hotel.name.clone()),
        location: hotel.location,
        time_zone: hotel.time_zone.clone(),
    }
}

fn offer_terms(
    supplier: &SupplierId,
    hotel_id: &HotelId,
    hotel: &HotelSummary,
    offer: &Offer,
    stay: &Stay,
    expires_at: Timestamp,
) -> HotelOfferTerms {
    let rooms = offer.rooms.iter().map(|room| OfferedRoom {
        name: room.name.clone(),
        board: room.board,
        board_name: room.board_name.clone(),
        total: room.total,
    });
    HotelOfferTerms {
        supplier: supplier.clone(),
        hotel_id: hotel_id.clone(),
        hotel: hotel.clone(),
        supplier_offer: offer.supplier_offer.clone(),
        stay: stay.clone(),
        total: offer.total,
        rooms: rooms.collect(),
        expires_at,
    }
}
