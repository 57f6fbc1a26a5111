//! The latest hotel content from suppliers. All organizations of a mode share it, as they share
//! hotels. Readers decide from what age the content is stale.

use crate::statement::statement;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// A part of the content that is fetched, and becomes stale, independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentPart {
    Details,
    Reviews,
}

/// A supplier's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// The content as JSON.
    pub document: String,
    pub fetched_at: Timestamp,
}

impl ContentPart {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Details => "details",
            Self::Reviews => "reviews",
        }
    }
}

impl UnitOfWork {
    /// Stores content that was fetched at the time of this unit of work, unless newer content is
    /// stored.
    pub fn save_hotel_content(
        &mut self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_hotel_id: &str,
        part: ContentPart,
        document: &str,
    ) -> &mut Self {
        self.add(statement!(
            "INSERT INTO hotel_content (mode, supplier, supplier_hotel_id, part, document, \
             fetched_at) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (mode, supplier, supplier_hotel_id, part) DO UPDATE SET \
               document = excluded.document, fetched_at = excluded.fetched_at \
             WHERE hotel_content.fetched_at <= excluded.fetched_at",
            mode,
            supplier.as_str(),
            supplier_hotel_id,
            part.as_str(),
            document,
            self.now,
        ))
    }
}

impl Store {
    /// Returns a supplier's latest content about a hotel.
    pub async fn hotel_content(
        &self,
        mode: Mode,
        supplier: &SupplierId,
        supplier_hotel_id: &str,
        part: ContentPart,
    ) -> Result<Option<StoredContent>, DatabaseError> {
        let select = statement!(
            "SELECT document, fetched_at FROM hotel_content \
             WHERE mode = $1 AND supplier = $2 AND supplier_hotel_id = $3 AND part = $4",
            mode,
            supplier.as_str(),
            supplier_hotel_id,
            part.as_str(),
        );
        self.read_optional(select, |row| {
            Ok(StoredContent {
                document: row.get("document")?,
                fetched_at: row.timestamp("fetched_at")?,
            })
        })
        .await
    }
}
