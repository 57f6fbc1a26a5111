//! Places by name: found at a supplier, stored, and loaded again by id.

use crate::base::Base;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use host_domain::hotel::supplier_api::{Place, PlaceQuery};
use host_domain::id::PlaceId;
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_resources::place::SavedPlace;
use host_storage::{PlaceObservation, StoredPlace};

const PLACES_MAX: u16 = 20;

#[derive(Debug)]
pub struct PlaceSearch {
    pub text: String,
    /// The country as an ISO 3166-1 alpha-2 code.
    pub country: Option<String>,
    pub selector: Option<SupplierId>,
}

pub struct PlaceService {
    pub(crate) base: Base,
    pub(crate) router: SupplierRouter,
}

impl PlaceService {
    /// Searches places at a supplier and stores them.
    pub async fn search_places(
        &self,
        context: &RequestContext,
        search: PlaceSearch,
    ) -> Result<(SupplierId, Vec<(PlaceId, SavedPlace)>), QueryError> {
        let route_request =
            RouteRequest::new(context, Capability::HotelPlaces, search.selector.as_ref());
        let route = self.router.route(route_request, None)?;
        let query = PlaceQuery {
            text: search.text.clone(),
            country: search.country.clone(),
            limit: PLACES_MAX,
        };
        let response =
            self.router
                .query_with_failover(context, &route, |supplier, call_context| {
                    let query = query.clone();
                    async move {
                        match supplier.find_places(&call_context, query).await {
                            // Some suppliers return this error instead of an empty list.
                            Err(ReadError::NotFound(_)) => Ok(Vec::new()),
                            response => response,
                        }
                    }
                });
        let (supplier, places) = response.await?;
        let mode = context.owner.tenant.mode;
        let mut observations = Vec::with_capacity(places.len());
        let mut saved = Vec::with_capacity(places.len());
        for place in places {
            let (supplier_place_id, place) = to_saved_place(place);
            let document = serde_json::to_string(&place).unwrap_or_default();
            observations.push(PlaceObservation {
                supplier_place_id,
                candidate: PlaceId::from_bits(self.base.ids.generate()),
                document,
            });
            saved.push(place);
        }
        let (store, now) = (&self.base.store, self.base.now());
        let ids = store.save_places(mode, &supplier, &observations, now);
        let places = ids.await?.into_iter().zip(saved).collect();
        Ok((supplier, places))
    }

    /// Returns a stored place without calling a supplier.
    ///
    /// # Errors
    /// [`QueryError::PlaceNotFound`] or [`QueryError::Database`].
    pub async fn find_place(
        &self,
        mode: Mode,
        id: &PlaceId,
    ) -> Result<(StoredPlace, SavedPlace), QueryError> {
        let stored = self.base.store.place(mode, id).await?;
        let stored = stored.ok_or(QueryError::PlaceNotFound)?;
        let place = serde_json::from_str(&stored.document);
        let place = place.map_err(|error| {
            tracing::error!(place = %id, %error, "a stored place cannot be parsed; it is treated as not existing");
            QueryError::PlaceNotFound
        })?;
        Ok((stored, place))
    }
}

fn to_saved_place(place: Place) -> (String, SavedPlace) {
    let saved = SavedPlace {
        name: place.name,
        address: place.address,
        location: place.location,
        suggested_radius: place.suggested_radius,
        country: place.country,
        city: place.city,
        types: place.types,
        alternatives: place.alternatives,
    };
    (place.supplier_place_id, saved)
}
