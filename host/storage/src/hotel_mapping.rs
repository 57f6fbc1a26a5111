//! Mapping of the suppliers' hotel ids to the gateway's. All organizations of a mode share it: a
//! hotel is the same for every caller, and its id must not depend on who searched first.

use crate::statement::{Row, Statement, sort_upsert, statement, text_array};
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::hotel::types::Location;
use host_domain::id::HotelId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// The stored properties of a hotel. A field is `None` until a supplier reports it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HotelProfile {
    pub name: Option<String>,
    pub location: Option<Location>,
    /// The IANA time-zone name.
    pub time_zone: Option<String>,
}

/// A hotel in a supplier's response.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelObservation {
    pub supplier_hotel_id: String,
    /// The id to assign if the hotel has none: a new one, or that of the same hotel at another
    /// supplier.
    pub candidate: HotelId,
    /// The reported properties, which supplement the stored ones.
    pub profile: HotelProfile,
}

/// A hotel at a supplier.
#[derive(Debug, Clone, PartialEq)]
pub struct HotelMapping {
    pub hotel_id: HotelId,
    pub supplier: SupplierId,
    pub supplier_hotel_id: String,
    pub profile: HotelProfile,
}

impl HotelProfile {
    /// Returns whether `known` contains every value of `self`.
    fn is_subset_of(&self, known: &Self) -> bool {
        (self.name.is_none() || self.name == known.name)
            && (self.location.is_none() || self.location == known.location)
            && (self.time_zone.is_none() || self.time_zone == known.time_zone)
    }
}

impl Store {
    /// Returns the ids of a supplier's hotels, in the order of `observations`. Hotels without an id
    /// get their candidate unless another call assigns one first. Nothing is written if all hotels
    /// and their properties are stored already.
    pub async fn resolve_hotel_ids(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        observations: &[HotelObservation],
        now: Timestamp,
    ) -> Result<Vec<HotelId>, DatabaseError> {
        let ids = observations.iter().map(|hotel| &*hotel.supplier_hotel_id);
        let known = self.fetch_all(by_supplier_ids(mode, supplier, ids)).await?;
        let mut known = by_supplier_id(&known)?;
        let is_missing = |hotel: &&HotelObservation| {
            let known = known.get(&hotel.supplier_hotel_id);
            !known.is_some_and(|known| hotel.profile.is_subset_of(&known.profile))
        };
        let mut missing: Vec<_> = observations.iter().filter(is_missing).collect();
        if !missing.is_empty() {
            sort_upsert(&mut missing, |hotel| &hotel.supplier_hotel_id);
            let mut write = UnitOfWork::new(now);
            let upsert = upsert(&mut write, mode, supplier, &missing);
            write.add_returning(upsert);
            let outcome = self.execute_unconditional(write).await?;
            known.extend(by_supplier_id(&outcome.rows)?);
        }
        let hotels = observations.iter().map(|hotel| {
            let known = known.get(&hotel.supplier_hotel_id);
            let id = known.map_or(&hotel.candidate, |known| &known.hotel_id);
            id.clone()
        });
        Ok(hotels.collect())
    }

    /// Returns the suppliers' mappings of these hotels. Unknown ids are omitted; a hotel of several
    /// suppliers appears several times.
    pub async fn hotel_mappings(
        &self,
        mode: Mode,
        ids: &[HotelId],
    ) -> Result<Vec<HotelMapping>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM hotel_mapping WHERE mode = $1 AND hotel_id {{in $2}} \
                 ORDER BY hotel_id, supplier, supplier_hotel_id"
            ),
            mode,
            text_array(ids.iter().map(HotelId::as_str)),
        );
        self.read_all(select, read).await
    }

    /// Returns the mappings of a supplier's hotels. Unknown ones are omitted.
    pub async fn hotel_mappings_of_supplier(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_hotel_ids: &[String],
    ) -> Result<Vec<HotelMapping>, DatabaseError> {
        let ids = supplier_hotel_ids.iter().map(String::as_str);
        self.read_all(by_supplier_ids(mode, supplier, ids), read)
            .await
    }
}

const COLUMNS: &str = "hotel_id, supplier, supplier_hotel_id, name, location, time_zone";

pub(crate) fn by_supplier_ids<'a>(
    mode: Mode,
    supplier: &SupplierId,
    ids: impl Iterator<Item = &'a str>,
) -> Statement {
    statement!(
        format!(
            "SELECT {COLUMNS} FROM hotel_mapping \
             WHERE mode = $1 AND supplier = $2 AND supplier_hotel_id {{in $3}}"
        ),
        mode,
        supplier.as_str(),
        text_array(ids),
    )
}

fn upsert(
    write: &mut UnitOfWork,
    mode: Mode,
    supplier: &SupplierId,
    missing: &[&HotelObservation],
) -> Statement {
    let rows = missing.iter().map(|hotel| {
        let location = hotel.profile.location.as_ref();
        serde_json::json!({
            "id": hotel.supplier_hotel_id,
            "hotel": hotel.candidate.as_str(),
            "name": hotel.profile.name,
            // The location is encoded as text, because JSON allows several spellings of a number.
            "location": location.map(|location| write.encode_json(location)),
            "zone": hotel.profile.time_zone,
        })
    });
    let rows = serde_json::Value::from_iter(rows).to_string();
    statement!(
        format!(
            "INSERT INTO hotel_mapping (mode, supplier, supplier_hotel_id, hotel_id, name, \
             location, time_zone, created_at) \
             SELECT $1, $2, item.value ->> 'id', item.value ->> 'hotel', item.value ->> 'name', \
               item.value ->> 'location', item.value ->> 'zone', $4 \
             FROM {{each $3}} WHERE TRUE \
             ON CONFLICT (mode, supplier, supplier_hotel_id) DO UPDATE SET \
               name = COALESCE(excluded.name, hotel_mapping.name), \
               location = COALESCE(excluded.location, hotel_mapping.location), \
               time_zone = COALESCE(excluded.time_zone, hotel_mapping.time_zone) \
             RETURNING {COLUMNS}"
        ),
        mode,
        supplier.as_str(),
        rows,
        write.now,
    )
}

fn by_supplier_id(rows: &[Row]) -> Result<HashMap<String, HotelMapping>, DatabaseError> {
    rows.iter()
        .map(|row| read(row).map(|hotel| (hotel.supplier_hotel_id.clone(), hotel)))
        .collect()
}

fn read(row: &Row) -> Result<HotelMapping, DatabaseError> {
    Ok(HotelMapping {
        hotel_id: row.parsed("hotel_id", HotelId::parse)?,
        supplier: row.parsed("supplier", SupplierId::parse)?,
        supplier_hotel_id: row.get("supplier_hotel_id")?,
        profile: HotelProfile {
            name: row.get("name")?,
            location: row.json_opt("location")?,
            time_zone: row.get("time_zone")?,
        },
    })
}
