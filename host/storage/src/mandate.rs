//! Mandates and the keys that sign them. Private keys are encrypted before they reach this crate.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{BookingId, InstrumentId, MandateId};
use host_domain::mandate::{Mandate, MandateState, MandateStatus, MandateTerms};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Owner, Tenant};
use host_domain::time::Timestamp;

/// A key that signs mandates, with its private part encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MandateKey {
    /// The thumbprint of the public part, used as `kid` in signatures.
    pub kid: String,
    /// The key's number in order of creation. The key with the highest number signs new mandates.
    pub generation: i64,
    pub public_jwk: String,
    /// The encrypted private part, which this crate cannot decrypt.
    pub sealed_private_key: Vec<u8>,
    pub created_at: Timestamp,
}

impl UnitOfWork {
    /// Stores a new mandate. Fails with [`Conflict::MandateExists`] if its id exists.
    pub fn insert_mandate(&mut self, mandate: &Mandate) -> &mut Self {
        let terms = &mandate.terms;
        let scope = self.encode_json(&terms.scope);
        let (status, booking_id, payment_jws) = columns(&mandate.state);
        let insert = statement!(
            "INSERT INTO mandate (organization, mode, id, user_id, amount_minor, currency, \
             instrument_id, scope, created_at, expires_at, jws, status, booking_id, payment_jws, \
             version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
             ON CONFLICT DO NOTHING",
            &terms.owner.tenant,
            terms.id.as_str(),
            terms.owner.user.as_str(),
            terms.amount.minor,
            terms.amount.currency.code(),
            terms.instrument.as_str(),
            scope,
            terms.created_at,
            terms.expires_at,
            mandate.jws.as_str(),
            status,
            booking_id,
            payment_jws,
            mandate.version,
        );
        self.add_expecting_one(insert, Conflict::MandateExists)
    }

    /// Stores the state of a mandate that was read at version `read_version`. Fails with
    /// [`Conflict::MandateVersion`] if the stored version is another one.
    pub fn update_mandate(&mut self, mandate: &Mandate, read_version: i64) -> &mut Self {
        let tenant = &mandate.terms.owner.tenant;
        let (status, booking_id, payment_jws) = columns(&mandate.state);
        let update = statement!(
            "UPDATE mandate SET status = $4, booking_id = $5, payment_jws = $6, version = $7 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $8",
            tenant,
            mandate.terms.id.as_str(),
            status,
            booking_id,
            payment_jws,
            mandate.version,
            read_version,
        );
        self.add_expecting_one(update, Conflict::MandateVersion)
    }

    /// Stores a new signing key. Fails with [`Conflict::MandateKeyExists`] if the generation
    /// exists: of several processes that create the same generation, one succeeds.
    pub fn insert_mandate_key(&mut self, key: &MandateKey) -> &mut Self {
        let insert = statement!(
            "INSERT INTO mandate_key (kid, generation, public_jwk, sealed_private_key, created_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
            key.kid.as_str(),
            key.generation,
            key.public_jwk.as_str(),
            key.sealed_private_key.as_slice(),
            key.created_at,
        );
        self.add_expecting_one(insert, Conflict::MandateKeyExists)
    }
}

impl Store {
    pub async fn mandate(
        &self,
        tenant: &Tenant,
        id: &MandateId,
    ) -> Result<Option<Mandate>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM mandate \
                 WHERE organization = $1 AND mode = $2 AND id = $3"
            ),
            tenant,
            id.as_str(),
        );
        self.read_optional(select, |row| read(tenant, row)).await
    }

    /// Returns all signing keys ever created, newest first. There are few, one per rotation.
    pub async fn mandate_keys(&self) -> Result<Vec<MandateKey>, DatabaseError> {
        let select = statement!(
            "SELECT kid, generation, public_jwk, sealed_private_key, created_at \
             FROM mandate_key ORDER BY generation DESC"
        );
        self.read_all(select, read_key).await
    }
}

/// Returns the columns for status, booking and the signed record of the use.
fn columns(state: &MandateState) -> (&'static str, Option<&str>, Option<&str>) {
    match state {
        MandateState::Active => (MandateStatus::Active.as_str(), None, None),
        MandateState::Consumed { booking, jws } => (
            MandateStatus::Consumed.as_str(),
            Some(booking.as_str()),
            Some(jws.as_str()),
        ),
        MandateState::Revoked => (MandateStatus::Revoked.as_str(), None, None),
    }
}

/// The columns that [`read`] needs besides the tenant.
pub(crate) const COLUMNS: &str = "id, user_id, amount_minor, currency, instrument_id, scope, \
    created_at, expires_at, jws, status, booking_id, payment_jws, version";

pub(crate) fn read(tenant: &Tenant, row: &Row) -> Result<Mandate, DatabaseError> {
    let currency = row.parsed("currency", Currency::parse)?;
    Ok(Mandate {
        terms: MandateTerms {
            id: row.parsed("id", MandateId::parse)?,
            owner: Owner {
                tenant: tenant.clone(),
                user: row.get("user_id")?,
            },
            amount: Money::new(row.get("amount_minor")?, currency),
            instrument: row.parsed("instrument_id", InstrumentId::parse)?,
            scope: row.json("scope")?,
            created_at: row.timestamp("created_at")?,
            expires_at: row.timestamp("expires_at")?,
        },
        jws: row.get("jws")?,
        state: read_state(row)?,
        version: row.get("version")?,
    })
}

fn read_state(row: &Row) -> Result<MandateState, DatabaseError> {
    Ok(match row.enum_value("status", MandateStatus::parse)? {
        // The status `EXPIRED` is never stored; it follows from the time alone.
        MandateStatus::Active | MandateStatus::Expired => MandateState::Active,
        MandateStatus::Consumed => MandateState::Consumed {
            booking: row.parsed("booking_id", BookingId::parse)?,
            jws: row.get("payment_jws")?,
        },
        MandateStatus::Revoked => MandateState::Revoked,
    })
}

fn read_key(row: &Row) -> Result<MandateKey, DatabaseError> {
    Ok(MandateKey {
        kid: row.get("kid")?,
        generation: row.get("generation")?,
        public_jwk: row.get("public_jwk")?,
        sealed_private_key: row.get("sealed_private_key")?,
        created_at: row.timestamp("created_at")?,
    })
}
