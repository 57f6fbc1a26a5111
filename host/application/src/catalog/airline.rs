//! Airlines, stored once a supplier has returned them. A stale airline is returned as it is and
//! refreshed in the background. An airline that was never read is read before the response.

use crate::application::Application;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::flight::supplier_api::Airline;
use host_domain::id::AirlineId;
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::StoredAirline;
use std::sync::Arc;
use std::time::Duration;

/// Age at which an airline becomes stale, in milliseconds (30 days). Airlines seldom change, and no
/// booking depends on whether one still flies, which matters most.
const MAX_AGE_MS: i64 = 30 * 86_400_000;

/// An airline in one mode, identified by its IATA code in upper case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AirlineKey {
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

impl Application {
    /// Returns the airline with an IATA code, active or not.
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
        Ok(self.store.airline(key.mode, &key.iata_code).await?)
    }

    fn is_fresh(&self, stored: &StoredAirline) -> bool {
        self.clock.now().since(stored.fetched_at) < MAX_AGE_MS
    }

    /// Refreshes an airline in the background, unless a read is already in progress.
    fn refresh_airline(self: &Arc<Self>, context: &RequestContext, key: AirlineKey) {
        if self.query_state.airline_fetches.is_in_flight(&key) {
            return;
        }
        let app = Arc::clone(self);
        let time = Duration::from_secs(self.config.limits.request_s);
        let context = RequestContext {
            deadline: Deadline::from_now(time),
            ..context.clone()
        };
        self.tasks.spawn("refresh airline", async move {
            if let Err(error) = app.fetch_airline(&context, &key).await {
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
        let turnstile = self.query_state.airline_fetches.lock_for(key);
        let _one_at_a_time = turnstile.lock().await;
        let stored = self.stored_airline(key).await?;
        if let Some(stored) = stored.filter(|stored| self.is_fresh(stored)) {
            return Ok(from_stored(stored));
        }
        let question = RouteRequest {
            context,
            operation: Capability::FlightReference,
            selector: None,
            eligible_suppliers: None,
        };
        let answer = self.query_with_failover(question, |supplier, call_context| {
            let iata_code = key.iata_code.clone();
            async move { supplier.read_airline(&call_context, iata_code).await }
        });
        let (supplier, airline) = answer.await.map_err(|error| match error {
            QueryError::Supplier {
                error: ReadError::NotFound(_),
                ..
            } => QueryError::AirlineNotFound,
            other => other,
        })?;
        let candidate = AirlineId::from_bits(self.ids.generate());
        let id = self
            .store
            .save_airline(key.mode, &supplier, candidate, &airline, self.clock.now())
            .await?;
        Ok(ResolvedAirline {
            id,
            airline,
            supplier: Some(supplier),
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
