//! Determines which suppliers have the hotels of a request.

use crate::supplier::query_error::QueryError;
use host_domain::id::HotelId;
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_storage::{HotelMapping, Store};

/// The hotels of a request and the suppliers that have all of them.
#[derive(Debug)]
pub struct HotelMappings {
    /// The mappings of each hotel to suppliers, in the order of the request.
    hotels: Vec<Vec<HotelMapping>>,
    pub common_suppliers: Vec<SupplierId>,
}

impl HotelMappings {
    /// Returns the hotels as one supplier has them, in the order of the request.
    pub fn at_supplier<'a>(
        &'a self,
        supplier: &'a SupplierId,
    ) -> impl Iterator<Item = &'a HotelMapping> {
        let own = move |hotel: &'a Vec<HotelMapping>| {
            hotel.iter().find(|mapped| mapped.supplier == *supplier)
        };
        self.hotels.iter().filter_map(own)
    }

    /// Returns the mappings of one of the hotels.
    pub fn of_hotel(&self, id: &HotelId) -> Self {
        let is_own = |hotel: &&Vec<HotelMapping>| hotel.iter().any(|one| one.hotel_id == *id);
        let hotels: Vec<_> = self.hotels.iter().filter(is_own).cloned().collect();
        Self {
            common_suppliers: common_suppliers(&hotels),
            hotels,
        }
    }

    /// Returns the supplier's own ids, in the order of the request.
    pub fn supplier_ids(&self, supplier: &SupplierId) -> Vec<String> {
        self.at_supplier(supplier)
            .map(|hotel| hotel.supplier_hotel_id.clone())
            .collect()
    }
}

/// Looks up which suppliers have which hotels.
#[derive(Clone)]
pub struct HotelMappingService {
    pub(crate) store: Store,
}

impl HotelMappingService {
    /// Looks up hotels. One supplier must have all of them: the one that the caller named, or any.
    ///
    /// # Errors
    /// [`QueryError::HotelsNotFound`], [`QueryError::MixedSuppliers`] or [`QueryError::Database`].
    pub async fn find_hotel_mappings(
        &self,
        mode: Mode,
        ids: &[HotelId],
        selector: Option<&SupplierId>,
    ) -> Result<HotelMappings, QueryError> {
        let mappings = self.store.hotel_mappings(mode, ids).await?;
        let mappings_of = |id: &HotelId| {
            let own = mappings.iter().filter(|mapping| mapping.hotel_id == *id);
            own.cloned().collect()
        };
        let hotels: Vec<Vec<HotelMapping>> = ids.iter().map(mappings_of).collect();
        let unknown = ids
            .iter()
            .zip(&hotels)
            .filter(|(_, hotel)| hotel.is_empty());
        let unknown: Vec<HotelId> = unknown.map(|(id, _)| id.clone()).collect();
        if !unknown.is_empty() {
            return Err(QueryError::HotelsNotFound(unknown));
        }
        let common_suppliers = common_suppliers(&hotels);
        let is_served = selector.map_or(!common_suppliers.is_empty(), |selected| {
            common_suppliers.contains(selected)
        });
        if is_served {
            Ok(HotelMappings {
                hotels,
                common_suppliers,
            })
        } else {
            let unmapped = unmapped_hotels(ids, &hotels, selector);
            Err(QueryError::MixedSuppliers(unmapped))
        }
    }
}

fn common_suppliers(hotels: &[Vec<HotelMapping>]) -> Vec<SupplierId> {
    let first = hotels.first();
    let mut common = first.map(|hotel| suppliers(hotel)).unwrap_or_default();
    common.retain(|supplier| {
        let has = |hotel: &Vec<HotelMapping>| hotel.iter().any(|one| one.supplier == *supplier);
        hotels.iter().all(has)
    });
    common
}

fn suppliers(hotel: &[HotelMapping]) -> Vec<SupplierId> {
    let mut suppliers: Vec<SupplierId> =
        hotel.iter().map(|mapped| mapped.supplier.clone()).collect();
    suppliers.sort();
    suppliers.dedup();
    suppliers
}

/// Returns the hotels that the named supplier does not have, or all hotels if no supplier is named.
fn unmapped_hotels(
    ids: &[HotelId],
    hotels: &[Vec<HotelMapping>],
    selector: Option<&SupplierId>,
) -> Vec<(usize, HotelId, Vec<SupplierId>)> {
    let rows = ids.iter().zip(hotels).enumerate();
    let rows = rows.map(|(position, (id, hotel))| (position, id.clone(), suppliers(hotel)));
    rows.filter(|(_, _, suppliers)| selector.is_none_or(|selected| !suppliers.contains(selected)))
        .collect()
}
