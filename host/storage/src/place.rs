//! Places from suppliers' search results, available by id. All organizations of a mode share them,
//! as they share hotels.

use crate::statement::{Statement, sort_upsert, statement};
use crate::{DatabaseError, Store};
use host_domain::id::PlaceId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// A place in a supplier's search results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceObservation {
    pub supplier_place_id: String,
    /// The id to assign if the place has none.
    pub candidate: PlaceId,
    /// The place as JSON, which replaces the stored document.
    pub document: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlace {
    pub id: PlaceId,
    pub supplier: SupplierId,
    pub supplier_place_id: String,
    /// The latest document as JSON.
    pub document: String,
    pub created_at: Timestamp,
}

impl Store {
    /// Stores places and returns their ids, in the order of `observations`. A place of a supplier
    /// keeps its id permanently.
    pub async fn save_places(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        observations: &[PlaceObservation],
        now: Timestamp,
    ) -> Result<Vec<PlaceId>, DatabaseError> {
        if observations.is_empty() {
            return Ok(Vec::new());
        }
        let upsert = upsert(mode, supplier, observations, now);
        let ids = self.execute_returning(upsert, |row| {
            let id = row.parsed("id", PlaceId::parse)?;
            Ok((row.get::<String>("supplier_place_id")?, id))
        });
        let ids: HashMap<_, _> = ids.await?.into_iter().collect();
        let places = observations.iter().map(|place| {
            let id = ids.get(&place.supplier_place_id);
            id.unwrap_or(&place.candidate).clone()
        });
        Ok(places.collect())
    }

    pub async fn place(
        &self,
        mode: Mode,
        id: &PlaceId,
    ) -> Result<Option<StoredPlace>, DatabaseError> {
        let select = statement!(
            "SELECT id, supplier, supplier_place_id, document, created_at FROM place \
             WHERE mode = $1 AND id = $2",
            mode,
            id.as_str(),
        );
        self.read_optional(select, |row| {
            Ok(StoredPlace {
                id: row.parsed("id", PlaceId::parse)?,
                supplier: row.parsed("supplier", SupplierId::parse)?,
                supplier_place_id: row.get("supplier_place_id")?,
                document: row.get("document")?,
                created_at: row.timestamp("created_at")?,
            })
        })
        .await
    }
}

fn upsert(
    mode: Mode,
    supplier: &SupplierId,
    observations: &[PlaceObservation],
    now: Timestamp,
) -> Statement {
    let mut places: Vec<&PlaceObservation> = observations.iter().collect();
    sort_upsert(&mut places, |place| &place.supplier_place_id);
    let rows = places.into_iter().map(|place| {
        serde_json::json!({
            "id": place.candidate.as_str(),
            "supplier_id": place.supplier_place_id,
            "document": place.document,
        })
    });
    statement!(
        "INSERT INTO place (mode, id, supplier, supplier_place_id, document, created_at) \
         SELECT $1, item.value ->> 'id', $2, item.value ->> 'supplier_id', \
           item.value ->> 'document', $4 \
         FROM {each $3} WHERE TRUE \
         ON CONFLICT (mode, supplier, supplier_place_id) DO UPDATE SET \
           document = excluded.document \
         RETURNING id, supplier_place_id",
        mode,
        supplier.as_str(),
        serde_json::Value::from_iter(rows).to_string(),
        now,
    )
}
