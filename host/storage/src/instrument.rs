//! Stored payment instruments. Their tokens are encrypted before they reach this crate.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::InstrumentId;
use host_domain::owner::Owner;
use host_domain::payment::Card;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInstrument {
    pub id: InstrumentId,
    /// The processor that issued the token.
    pub processor: SupplierId,
    /// The processor's token, encrypted; this crate cannot decrypt it.
    pub sealed_token: Vec<u8>,
    /// The card data that may be displayed.
    pub card: Option<Card>,
    pub created_at: Timestamp,
}

impl UnitOfWork {
    /// Stores a new instrument. Fails with [`Conflict::InstrumentExists`] if its id exists.
    pub fn insert_instrument(&mut self, owner: &Owner, instrument: &StoredInstrument) -> &mut Self {
        let card = instrument.card.as_ref().map(|card| self.encode_json(card));
        let insert = statement!(
            "INSERT INTO payment_instrument (organization, mode, id, user_id, processor, \
             sealed_token, card, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT DO NOTHING",
            &owner.tenant,
            instrument.id.as_str(),
            owner.user.as_str(),
            instrument.processor.as_str(),
            instrument.sealed_token.as_slice(),
            card,
            instrument.created_at,
        );
        self.add_expecting_one(insert, Conflict::InstrumentExists)
    }

    /// Deletes an instrument with its token. Fails with [`Conflict::InstrumentNotFound`] if it does
    /// not exist. The row is kept, so that its id is never reused.
    pub fn delete_instrument(&mut self, owner: &Owner, id: &InstrumentId) -> &mut Self {
        let update = statement!(
            "UPDATE payment_instrument SET deleted_at = $5, sealed_token = $6, card = NULL \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id || '' = $4 \
             AND deleted_at IS NULL",
            &owner.tenant,
            id.as_str(),
            owner.user.as_str(),
            self.now,
            &[] as &[u8],
        );
        self.add_expecting_one(update, Conflict::InstrumentNotFound)
    }
}

impl Store {
    /// Returns an instrument of this owner. Deleted instruments are omitted.
    pub async fn instrument(
        &self,
        owner: &Owner,
        id: &InstrumentId,
    ) -> Result<Option<StoredInstrument>, DatabaseError> {
        // `user_id || ''` keeps the databases from using the index of the owner's list instead of
        // the primary key.
        let select = statement!(
            "SELECT id, processor, sealed_token, card, created_at FROM payment_instrument \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND user_id || '' = $4 \
             AND deleted_at IS NULL",
            &owner.tenant,
            id.as_str(),
            owner.user.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns an owner's instruments, newest first.
    pub async fn instruments(&self, owner: &Owner) -> Result<Vec<StoredInstrument>, DatabaseError> {
        let select = statement!(
            "SELECT id, processor, sealed_token, card, created_at FROM payment_instrument \
             WHERE organization = $1 AND mode = $2 AND user_id = $3 AND deleted_at IS NULL \
             ORDER BY created_at DESC, id DESC",
            &owner.tenant,
            owner.user.as_str(),
        );
        self.read_all(select, read).await
    }
}

fn read(row: &Row) -> Result<StoredInstrument, DatabaseError> {
    Ok(StoredInstrument {
        id: row.parsed("id", InstrumentId::parse)?,
        processor: row.parsed("processor", SupplierId::parse)?,
        sealed_token: row.get("sealed_token")?,
        card: row.json_opt("card")?,
        created_at: row.timestamp("created_at")?,
    })
}
