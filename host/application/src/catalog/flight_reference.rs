//! Airlines and airports, stored once a supplier has returned them. A stale airline is returned as
//! it is and refreshed in the background. An airline that was never read is read before the
//! response. Airports are searched at a supplier each time.

use crate::base::Base;
use crate::catalog::single_flight::SingleFlight;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::{RouteRequest, SupplierRouter};
use crate::task_supervisor::TaskSupervisor;
use host_domain::flight::supplier_api::{Airline, Airport, AirportResponse};
use host_domain::id::{AirlineId, AirportId};
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::{AirportObservation, StoredAirline};
use std::sync::Arc;
use std::time::Duration;

/// Age at which an airline becomes stale, in milliseconds (30 days). Airlines seldom change, and no
/// booking depends on whether one still flies, which matters most.
const MAX_AGE_MS: i64 = 30 * 86_400_000;

/// An airline in one mode, identified by its IATA code in upper case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AirlineKey {
    mode: Mode,
    iata_code: String,
}

/// An airline and the supplier that returned it.
#[derive(Debug)]
pub struct ResolvedAirline {
    pub id: AirlineId,
    pub airline: Airline,
    /// The supplier that was called. `None` if the airline was already stored.
    pub supplier: Option<SupplierId>,
}

/// Time limit of a search. The user is typing, so a later response is of no use.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(8);

#[derive(Debug)]
pub struct AirportSearchResult {
    pub supplier: SupplierId,
    pub airports: Vec<(AirportId, Airport)>,
    pub truncated: bool,
}

pub struct FlightReferenceService {
    pub(crate) base: Base,
    pub(crate) router: SupplierRouter,
    pub(crate) tasks: TaskSupervisor,
    pub(crate) refresh_timeout: Duration,
    pub(crate) airline_reads: SingleFlight<AirlineKey>,
}

impl FlightReferenceService {
    pub async fn find_airline(
        self: &Arc<Self>,
        context: &RequestContext,
        iata_code: String,
    ) -> Result<ResolvedAirline, QueryError> {
        let key = AirlineKey {
            mode: context.owner.tenant.mode,
            iata_code,
        };
        let Some(stored) = self.stored_airline(&key).await? else {
            return self.fetch_airline(context, &key).await;
        };
        if !self.is_fresh(&stored) {
            self.refresh_airline(context, key);
        }
        Ok(from_stored(stored))
    }

    async fn stored_airline(&self, key: &AirlineKey) -> Result<Option<StoredAirline>, QueryError> {
        Ok(self.base.store.airline(key.mode, &key.iata_code).await?)
    }

    fn is_fresh(&self, stored: &StoredAirline) -> bool {
        self.base.now().since(stored.fetched_at) < MAX_AGE_MS
    }

    /// Refreshes an airline in the background, unless a read is already in progress.
    fn refresh_airline(self: &Arc<Self>, context: &RequestContext, key: AirlineKey) {
        if self.airline_reads.is_in_flight(&key) {
            return;
        }
        let service = Arc::clone(self);
        let context = RequestContext {
            deadline: Deadline::from_now(self.refresh_timeout),
            ..context.clone()
        };
        self.tasks.spawn("refresh airline", async move {
            if let Err(error) = service.fetch_airline(&context, &key).await {
                tracing::warn!(airline = %key.iata_code, error = &error as &dyn std::error::Error, "an airline could not be refreshed; the stored one is still used");
            }
        });
    }

    /// Reads an airline from suppliers and stores it. Concurrent callers share one read.
    async fn fetch_airline(
        &self,
        context: &RequestContext,
        key: &AirlineKey,
    ) -> Result<ResolvedAirline, QueryError> {
        let lock = self.airline_reads.lock_for(key);
        let _guard = lock.lock().await;
        let stored = self.stored_airline(key).await?;
        if let Some(stored) = stored.filter(|stored| self.is_fresh(stored)) {
            return Ok(from_stored(stored));
        }
        let route_request = RouteRequest::new(context, Capability::FlightReference, None);
        let route = self.router.route(route_request, None)?;
        let response =
            self.router
                .query_with_failover(context, &route, |supplier, call_context| {
                    let iata_code = key.iata_code.clone();
                    async move { supplier.read_airline(&call_context, iata_code).await }
                });
        let (supplier, airline) = response.await.map_err(|error| match error {
            QueryError::Supplier {
                error: ReadError::NotFound(_),
                ..
            } => QueryError::AirlineNotFound,
            other => other,
        })?;
        let candidate = AirlineId::from_bits(self.base.ids.generate());
        let (store, now) = (&self.base.store, self.base.now());
        let id = store.save_airline(key.mode, &supplier, candidate, &airline, now);
        Ok(ResolvedAirline {
            id: id.await?,
            airline,
            supplier: Some(supplier),
        })
    }

    /// Searches airports by name, city or IATA code, as the supplier matches them, and stores them.
    pub async fn search_airports(
        &self,
        context: RequestContext,
        text: String,
        limit: u16,
    ) -> Result<AirportSearchResult, QueryError> {
        let context = RequestContext {
            deadline: context.deadline.capped_at(SEARCH_TIMEOUT),
            ..context
        };
        let route_request = RouteRequest::new(&context, Capability::FlightReference, None);
        let route = self.router.route(route_request, None)?;
        let response =
            self.router
                .query_with_failover(&context, &route, |supplier, call_context| {
                    let text = text.clone();
                    async move {
                        match supplier.find_airports(&call_context, text, limit).await {
                            // Some suppliers return this error instead of an empty list.
                            Err(ReadError::NotFound(_)) => Ok(AirportResponse {
                                airports: Vec::new(),
                                truncated: false,
                            }),
                            response => response,
                        }
                    }
                });
        let (
            supplier,
            AirportResponse {
                airports,
                truncated,
            },
        ) = response.await?;
        let mode = context.owner.tenant.mode;
        let observations: Vec<AirportObservation> = airports
            .iter()
            .map(|airport| AirportObservation {
                candidate: AirportId::from_bits(self.base.ids.generate()),
                airport: airport.clone(),
            })
            .collect();
        let (store, now) = (&self.base.store, self.base.now());
        let ids = store.save_airports(mode, &supplier, &observations, now);
        let ids = ids.await?;
        Ok(AirportSearchResult {
            supplier,
            airports: ids.into_iter().zip(airports).collect(),
            truncated,
        })
    }
}

fn from_stored(stored: StoredAirline) -> ResolvedAirline {
    ResolvedAirline {
        id: stored.id,
        airline: stored.airline,
        supplier: None,
    }
}
