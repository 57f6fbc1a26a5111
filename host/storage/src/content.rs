//! What suppliers say about hotels, as they said it last. Shared by all
//! organizations of a mode, as hotels are. How old is too old is decided by
//! whoever reads.

use crate::statement::statement;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::owner::Mode;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// What is fetched, and becomes old, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentPart {
    /// What the hotel is.
    Details,
    /// What guests say.
    Reviews,
}

/// A supplier's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// JSON.
    pub document: String,
    /// When the supplier gave it.
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
    /// Keeps an answer that was fetched at the write's instant, unless a newer
    /// one is kept already.
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
    /// A supplier's last answer about a hotel.
    ///
    /// # Errors
    /// The database's.
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
        let Some(row) = self.fetch_optional(select).await? else {
            return Ok(None);
        };
        Ok(Some(StoredContent {
            document: row.text("document")?,
            fetched_at: row.timestamp("fetched_at")?,
        }))
    }
}
