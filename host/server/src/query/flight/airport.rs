//! Airports by name: found at a supplier, and stored.

use crate::api::caller::Caller;
use crate::app::App;
use crate::query::QueryError;
use crate::query::route::Question;
use host_domain::flight::supply::{Airport, AirportResponse};
use host_domain::id::AirportId;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_storage::AirportObservation;
use std::time::Duration;

/// Someone is typing: an answer that comes later is of no use.
const TIME: Duration = Duration::from_secs(8);

/// What was found.
#[derive(Debug)]
pub(crate) struct FoundAirports {
    pub(crate) supplier: SupplierId,
    /// In the supplier's order.
    pub(crate) airports: Vec<(AirportId, Airport)>,
    /// There were more.
    pub(crate) truncated: bool,
}

impl App {
    /// Finds airports by name, city or IATA code, and stores them. What matches is
    /// for the supplier to say.
    pub(crate) async fn find_airports(
        &self,
        caller: Caller,
        text: String,
        limit: u16,
    ) -> Result<FoundAirports, QueryError> {
        let caller = Caller {
            deadline: caller.deadline.within(TIME),
            ..caller
        };
        let question = Question {
            caller: &caller,
            operation: Capability::FlightReference,
            selector: None,
            owners: None,
        };
        let answer = self.ask(question, |supplier, context| {
            let text = text.clone();
            async move {
                match supplier.find_airports(&context, text, limit).await {
                    // Some suppliers say so instead of giving an empty list.
                    Err(ReadError::NotFound(_)) => Ok(nothing()),
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
        let mode = caller.owner.tenant.mode;
        let seen: Vec<AirportObservation> = airports
            .iter()
            .map(|airport| AirportObservation {
                candidate: AirportId::from_bits(self.ids.bits()),
                airport: airport.clone(),
            })
            .collect();
        let ids = self
            .store
            .save_airports(mode, &supplier, &seen, self.clock.now())
            .await?;
        Ok(FoundAirports {
            supplier,
            airports: ids.into_iter().zip(airports).collect(),
            truncated,
        })
    }
}

fn nothing() -> AirportResponse {
    AirportResponse {
        airports: Vec::new(),
        truncated: false,
    }
}
