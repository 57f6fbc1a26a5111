//! Mandates: a user's leave to buy something later, signed so that nobody can say
//! otherwise, and used once. Whoever buys under one consumes it in the transaction that
//! begins the purchase.

mod claims;
pub mod key;
#[cfg(test)]
mod tests;

use crate::app::Application;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::mandate::key::{SigningKeyRing, SigningKeyError};
use host_domain::id::{InstrumentId, MandateId};
use host_domain::mandate::{
    Mandate, MandateEvent, MandateRejection, MandateScope, MandateTerms, MandateUsage,
};
use host_domain::money::Money;
use host_domain::owner::{Owner, Tenant};
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, UnitOfWork};
use serde_json::Value;

/// How often a change is tried again that somebody else was faster with.
const CONFLICT_RETRIES_MAX: usize = 8;

/// What a mandate is to say.
#[derive(Debug, Clone)]
pub(crate) struct NewMandate {
    /// The most that may be paid.
    pub(crate) amount: Money,
    /// What pays.
    pub(crate) instrument: InstrumentId,
    /// What may be bought.
    pub(crate) scope: MandateScope,
    /// Until when.
    pub(crate) expires_at: Timestamp,
}

/// A mandate that is stored.
#[derive(Debug)]
pub(crate) enum Issued {
    /// Now.
    New(Mandate),
    /// By an earlier call with the same key.
    Existing(Mandate),
}

/// Why something about a mandate was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MandateError {
    /// Not this tenant's, or not this user's.
    #[error("the mandate does not exist")]
    NotFound,
    /// It cannot be used, or not be moved.
    #[error("the mandate cannot be used")]
    Invalid(#[source] MandateRejection),
    /// Its instrument is not the user's, or deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    /// Others change it all the time.
    #[error("it is being changed by others")]
    TooManyConflicts,
    /// The idempotency key.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    /// The database.
    #[error("mandates could not be read or stored")]
    Storage(#[from] CommitError),
    /// The signing keys.
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
    /// Claims that are not JSON.
    #[error("claims cannot be written")]
    Claims(#[from] serde_json::Error),
}

impl From<DatabaseError> for MandateError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<MandateRejection> for MandateError {
    fn from(refusal: MandateRejection) -> Self {
        Self::Invalid(refusal)
    }
}

impl Application {
    /// Makes and signs a mandate, and adds it to `write`, with which it comes into being.
    ///
    /// # Errors
    /// [`MandateError::Instrument`], or what went wrong.
    pub(crate) async fn sign_in(
        &self,
        write: &mut UnitOfWork,
        owner: &Owner,
        new: NewMandate,
    ) -> Result<Mandate, MandateError> {
        let instrument = self.find_instrument(&[owner], &new.instrument).await?;
        self.sign(write, owner, instrument, new).await
    }

    async fn find_instrument(
        &self,
        payers: &[&Owner],
        id: &InstrumentId,
    ) -> Result<InstrumentId, MandateError> {
        for payer in payers {
            if let Some(instrument) = self.store.instrument(payer, id).await? {
                return Ok(instrument.id);
            }
        }
        Err(MandateError::InstrumentNotFound)
    }

    async fn sign(
        &self,
        write: &mut UnitOfWork,
        owner: &Owner,
        instrument: InstrumentId,
        new: NewMandate,
    ) -> Result<Mandate, MandateError> {
        let terms = MandateTerms {
            id: MandateId::from_bits(self.ids.generate()),
            owner: owner.clone(),
            amount: new.amount,
            instrument,
            scope: new.scope,
            created_at: self.clock.now(),
            expires_at: new.expires_at,
        };
        let age_max_s = self.config.mandates.key_max_age_s;
        let now = self.clock.now();
        let keys = SigningKeyRing::load_or_rotate(&self.store, &self.sealer, age_max_s, now).await?;
        let key = keys.current()?;
        let claims = claims::open_mandate_claims(&terms, &self.base_url, &key.jwk)?;
        let mandate = Mandate::new(terms, key.sign(&self.sealer, &claims)?);
        write.insert_mandate(&mandate);
        Ok(mandate)
    }

    /// Checks signature, status, cap, currency, expiry, user, instrument and scope, and
    /// adds the use to `write`. That write meets [`Conflict::MandateVersion`] when the
    /// mandate moved meanwhile: then nothing of it is stored, and this is to be asked anew.
    /// Returns the mandate as it is once the write is committed: CONSUMED, with the signed
    /// record of the use.
    ///
    /// # Errors
    /// [`MandateError::NotFound`] or [`MandateError::Invalid`], or what went wrong.
    pub(crate) async fn consume_in(
        &self,
        write: &mut UnitOfWork,
        id: &MandateId,
        usage: MandateUsage,
    ) -> Result<Mandate, MandateError> {
        let mandate = self.store.mandate(&usage.owner.tenant, id).await?;
        let mandate = mandate.ok_or(MandateError::NotFound)?;
        let now = self.clock.now();
        let keys = SigningKeyRing::load(&self.store).await?;
        let verified = keys.verify(&mandate.jws)?;
        let (key, signed) = verified.ok_or(MandateRejection::InvalidSignature)?;
        let issuer = signed
            .get("iss")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if signed != claims::open_mandate_claims(&mandate.terms, issuer, &key.jwk)? {
            return Err(MandateRejection::InvalidSignature.into());
        }
        mandate.check_usage(&usage, now)?;
        // By the key that the terms name, though it may sign no new mandates any more.
        let claims = claims::closed_mandate_claims(&mandate.terms, &usage, &self.base_url, now);
        let jws = key.sign(&self.sealer, &claims)?;
        let read_version = mandate.version;
        let event = MandateEvent::Consumed { usage, jws };
        let consumed = mandate.apply(event, now)?;
        let consumed = consumed.ok_or(MandateError::TooManyConflicts)?;
        write.update_mandate(&consumed, read_version);
        Ok(consumed)
    }

    /// Adds to `write` that the purchase promised nothing to anybody, so that the mandate
    /// may be used again. One that is not in use stays as it is.
    ///
    /// # Errors
    /// [`MandateError::NotFound`] or [`MandateError::Invalid`], or what went wrong.
    pub(crate) async fn release_in(
        &self,
        write: &mut UnitOfWork,
        tenant: &Tenant,
        id: &MandateId,
    ) -> Result<(), MandateError> {
        let mandate = self.store.mandate(tenant, id).await?;
        let mandate = mandate.ok_or(MandateError::NotFound)?;
        let read_version = mandate.version;
        if let Some(released) = mandate.apply(MandateEvent::Released, self.clock.now())? {
            write.update_mandate(&released, read_version);
        }
        Ok(())
    }

    /// Makes a mandate of a user, once for each key.
    ///
    /// # Errors
    /// As [`App::seal_mandate`], or the key's.
    pub(crate) async fn issue(
        &self,
        caller: &Owner,
        owner: &Owner,
        new: NewMandate,
        key: Option<&IdempotentRequest>,
    ) -> Result<Issued, MandateError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            if let Some(made) = self.find_result(key).await? {
                let id = MandateId::parse(&made).map_err(|_| MandateError::NotFound)?;
                return self.find(owner, &id).await.map(Issued::Existing);
            }
            let mut write = UnitOfWork::new(self.clock.now());
            let payers = [owner, caller];
            let instrument = self.find_instrument(&payers, &new.instrument).await?;
            let mandate = self
                .sign(&mut write, owner, instrument, new.clone())
                .await?;
            claim_in(&mut write, key, mandate.terms.id.as_str());
            match self.store.commit(write).await {
                Ok(()) => return Ok(Issued::New(mandate)),
                // Another call with the same key was faster.
                Err(CommitError::Conflict(Conflict::IdempotencyKeyExists)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(MandateError::TooManyConflicts)
    }

    /// Takes a mandate back, once for each key.
    ///
    /// # Errors
    /// [`MandateError::NotFound`] or [`MandateError::Invalid`], the key's, or what went wrong.
    pub(crate) async fn revoke(
        &self,
        caller: &Owner,
        id: &MandateId,
        key: Option<&IdempotentRequest>,
    ) -> Result<Mandate, MandateError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let mandate = self.find(caller, id).await?;
            if self.find_result(key).await?.is_some() {
                return Ok(mandate);
            }
            let (now, read_version) = (self.clock.now(), mandate.version);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            let revoked = match mandate.clone().apply(MandateEvent::Revoked, now)? {
                Some(revoked) => {
                    write.update_mandate(&revoked, read_version);
                    revoked
                }
                None => mandate,
            };
            match self.store.commit(write).await {
                Ok(()) => return Ok(revoked),
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(MandateError::TooManyConflicts)
    }

    /// A mandate that a caller may see: a user theirs, the organization those of all.
    ///
    /// # Errors
    /// [`MandateError::NotFound`], or the database's.
    pub(crate) async fn find(
        &self,
        caller: &Owner,
        id: &MandateId,
    ) -> Result<Mandate, MandateError> {
        let found = self.store.mandate(&caller.tenant, id).await?;
        let seen = found.filter(|mandate| caller.can_act_for(&mandate.terms.owner.user));
        seen.ok_or(MandateError::NotFound)
    }
}
