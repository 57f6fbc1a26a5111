//! Airports by name: found at a supplier, and stored.

use crate::application::Application;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::RouteRequest;
use host_domain::flight::supplier_api::{Airport, AirportResponse};
use host_domain::id::AirportId;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::AirportObservation;
use std::time::Duration;

/// Time limit of a search. The user is typing, so a later response is of no use.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(8);

/// The result of an airport search.
#[derive(Debug)]
pub struct AirportSearchResult {
    pub supplier: SupplierId,
    /// The airports in the supplier's order.
    pub airports: Vec<(AirportId, Airport)>,
    /// Whether the supplier has more airports.
    pub truncated: bool,
}

impl Application {
    /// Finds airports by name, city or IATA code, and stores them. The supplier decides what
    /// matches.
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
        let question = RouteRequest {
            context: &context,
            operation: Capability::FlightReference,
            selector: None,
            eligible_suppliers: None,
        };
        let answer = self.query_with_failover(question, |supplier, call_context| {
            let text = text.clone();
            async move {
                match supplier.find_airports(&call_context, text, limit).await {
                    // Some suppliers return this error instead of an empty list.
                    Err(ReadError::NotFound(_)) => Ok(empty_answer()),
                    answer => answer,
                }
            }
        });
        let (
            supplier,
            AirportResponse {
                airports,
                truncated,
            },
        ) = answer.await?;
        let mode = context.owner.tenant.mode;
        let seen: Vec<AirportObservation> = airports
            .iter()
            .map(|airport| AirportObservation {
                candidate: AirportId::from_bits(self.ids.generate()),
                airport: airport.clone(),
            })
            .collect();
        let ids = self
            .store
            .save_airports(mode, &supplier, &seen, self.clock.now())
            .await?;
        Ok(AirportSearchResult {
            supplier,
            airports: ids.into_iter().zip(airports).collect(),
            truncated,
        })
    }
}

fn empty_answer() -> AirportResponse {
    AirportResponse {
        airports: Vec::new(),
        truncated: false,
    }
}
