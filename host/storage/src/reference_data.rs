//! Airports and airlines, as suppliers last reported them. All organizations of a mode share them.
//! They are identified by IATA code, whichever supplier reports them, so an id stays the same if
//! another supplier is used.

use crate::statement::{Row, Statement, sort_upsert, statement, text_array};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::flight::supplier_api::{Airline, Airport};
use host_domain::id::{AirlineId, AirportId};
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// An airport in a supplier's response.
#[derive(Debug, Clone, PartialEq)]
pub struct AirportObservation {
    /// The id to assign if the airport has none.
    pub candidate: AirportId,
    /// The airport's data, which replaces the stored data.
    pub airport: Airport,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAirline {
    pub id: AirlineId,
    pub airline: Airline,
    /// Time at which the supplier reported the airline.
    pub fetched_at: Timestamp,
}

impl Store {
    /// Stores airports and returns their ids, in the order of `observations`. Nothing is written if
    /// all airports are stored with the same data.
    pub async fn save_airports(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        observations: &[AirportObservation],
        now: Timestamp,
    ) -> Result<Vec<AirportId>, DatabaseError> {
        let mut write = UnitOfWork::new(now);
        let mut changed = Vec::with_capacity(observations.len());
        for observation in observations {
            changed.push((observation, write.encode_json(&observation.airport)));
        }
        sort_upsert(&mut changed, |(observation, _)| {
            &observation.airport.iata_code
        });
        let codes = changed
            .iter()
            .map(|(observation, _)| observation.airport.iata_code.as_str());
        let mut ids = HashMap::with_capacity(observations.len());
        let select = statement!(
            "SELECT iata_code, id, document FROM airport WHERE mode = $1 AND iata_code {in $2}",
            mode,
            text_array(codes),
        );
        for row in self.fetch_all(select).await? {
            let document: String = row.get("document")?;
            ids.extend([read_id(&row)?]);
            changed.retain(|(_, current)| *current != document);
        }
        if !changed.is_empty() {
            write.add_returning(upsert(mode, supplier, &changed, now));
            let outcome = self.execute_unconditional(write).await?;
            for row in &outcome.rows {
                ids.extend([read_id(row)?]);
            }
        }
        let airports = observations.iter().map(|observation| {
            let id = ids.get(&observation.airport.iata_code);
            id.unwrap_or(&observation.candidate).clone()
        });
        Ok(airports.collect())
    }

    /// Stores an airline and returns its id, which is the candidate if it had none.
    pub async fn save_airline(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        candidate: AirlineId,
        airline: &Airline,
        now: Timestamp,
    ) -> Result<AirlineId, DatabaseError> {
        let mut write = UnitOfWork::new(now);
        let document = write.encode_json(airline);
        write.add_returning(statement!(
            "INSERT INTO airline (mode, iata_code, id, supplier, document, fetched_at) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (mode, iata_code) DO UPDATE SET supplier = excluded.supplier, \
               document = excluded.document, fetched_at = excluded.fetched_at \
             RETURNING id",
            mode,
            airline.iata_code.as_str(),
            candidate.as_str(),
            supplier.as_str(),
            document,
            now,
        ));
        let outcome = self.execute_unconditional(write).await?;
        let row = outcome.rows.first();
        row.map_or(Ok(candidate), |row| row.parsed("id", AirlineId::parse))
    }

    /// Returns an airline by its IATA code in upper case.
    pub async fn airline(
        &self,
        mode: Mode,
        iata_code: &str,
    ) -> Result<Option<StoredAirline>, DatabaseError> {
        let select = statement!(
            "SELECT id, document, fetched_at FROM airline WHERE mode = $1 AND iata_code = $2",
            mode,
            iata_code,
        );
        self.read_optional(select, |row| {
            Ok(StoredAirline {
                id: row.parsed("id", AirlineId::parse)?,
                airline: row.json("document")?,
                fetched_at: row.timestamp("fetched_at")?,
            })
        })
        .await
    }
}

fn upsert(
    mode: Mode,
    supplier: &SupplierId,
    changed: &[(&AirportObservation, String)],
    now: Timestamp,
) -> Statement {
    let rows = changed.iter().map(|(observation, document)| {
        serde_json::json!({
            "id": observation.candidate.as_str(),
            "iata_code": observation.airport.iata_code,
            "document": document,
        })
    });
    statement!(
        "INSERT INTO airport (mode, iata_code, id, supplier, document, fetched_at) \
         SELECT $1, item.value ->> 'iata_code', item.value ->> 'id', $2, \
           item.value ->> 'document', $4 \
         FROM {each $3} WHERE TRUE \
         ON CONFLICT (mode, iata_code) DO UPDATE SET supplier = excluded.supplier, \
           document = excluded.document, fetched_at = excluded.fetched_at \
         RETURNING iata_code, id",
        mode,
        supplier.as_str(),
        serde_json::Value::from_iter(rows).to_string(),
        now,
    )
}

fn read_id(row: &Row) -> Result<(String, AirportId), DatabaseError> {
    Ok((row.get("iata_code")?, row.parsed("id", AirportId::parse)?))
}
