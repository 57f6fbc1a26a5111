//! Mandates: a user's permission to buy something later, signed as evidence and used only once. A
//! purchase under a mandate consumes it in the transaction that starts the purchase.

#[cfg(test)]
mod tests;

use crate::audit::record::audit_in;
use crate::base::Base;
use crate::config::MandatesConfig;
use crate::context::RequestContext;
use crate::idempotency::{IdempotencyError, IdempotentRequest, claim_in};
use crate::mandate::signing_key::{SigningKeyError, SigningKeyRing};
use crate::mandate::{audited, claims};
use crate::sealer::Sealer;
use host_domain::id::{InstrumentId, MandateId};
use host_domain::mandate::{
    Mandate, MandateEvent, MandateRejection, MandateScope, MandateTerms, MandateUsage,
};
use host_domain::money::Money;
use host_domain::owner::{Owner, Tenant};
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, UnitOfWork};
use jsonwebtoken::jwk::JwkSet;
use serde_json::Value;
use std::sync::Arc;

const CONFLICT_RETRIES_MAX: usize = 8;

#[derive(Debug, Clone)]
pub struct NewMandate {
    pub amount: Money,
    pub instrument: InstrumentId,
    pub scope: MandateScope,
    /// The time at which it expires; `None` stands for the end of the configured lifetime.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug)]
pub enum Issued {
    New(Mandate),
    /// The mandate was created by an earlier call with the same key.
    Existing(Mandate),
}

#[derive(Debug, thiserror::Error)]
pub enum MandateError {
    /// The mandate does not exist, or belongs to another tenant or user.
    #[error("the mandate does not exist")]
    NotFound,
    /// The mandate cannot be used, or the transition is not allowed.
    #[error("the mandate cannot be used")]
    Invalid(#[source] MandateRejection),
    #[error("the caller may not act for this user")]
    OtherUser,
    /// The payment instrument does not belong to the user or was deleted.
    #[error("the payment instrument does not exist")]
    InstrumentNotFound,
    #[error("the mandate was changed by too many concurrent requests; try again")]
    TooManyConflicts,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error("mandates could not be read or stored")]
    Storage(#[from] CommitError),
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
    #[error("the mandate's claims cannot be serialized")]
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

pub struct MandateService {
    pub(crate) base: Base,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) config: MandatesConfig,
    /// Base URL of the API, which signed claims name as their issuer.
    pub(crate) base_url: String,
}

impl MandateService {
    /// Returns the keys that sign and verify mandates. If the newest is missing or too old, it is
    /// created first.
    ///
    /// # Errors
    /// The keys cannot be read, created or stored.
    pub async fn load_or_rotate_keys(&self) -> Result<SigningKeyRing, SigningKeyError> {
        let max_age_s = self.config.key_max_age_s;
        let now = self.base.now();
        SigningKeyRing::load_or_rotate(&self.base.store, &self.sealer, max_age_s, now).await
    }

    /// Returns the public parts of all keys, the current signing key first.
    pub async fn jwk_set(&self) -> Result<JwkSet, SigningKeyError> {
        SigningKeyRing::load(&self.base.store).await?.jwk_set()
    }

    /// Creates and signs a mandate and adds it to `write`. The mandate exists once `write` is
    /// committed.
    ///
    /// # Errors
    /// Fails with [`MandateError::InstrumentNotFound`], or with the underlying error.
    pub async fn sign_in(
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
            if let Some(instrument) = self.base.store.instrument(payer, id).await? {
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
        let created_at = self.base.now();
        let ttl_s = i64::try_from(self.config.ttl_s).unwrap_or(i64::MAX);
        let terms = MandateTerms {
            id: MandateId::from_bits(self.base.ids.generate()),
            owner: owner.clone(),
            amount: new.amount,
            instrument,
            scope: new.scope,
            created_at,
            expires_at: new.expires_at.unwrap_or_else(|| created_at.plus_s(ttl_s)),
        };
        let keys = self.load_or_rotate_keys().await?;
        let key = keys.current()?;
        let claims = claims::open_mandate_claims(&terms, &self.base_url, &key.jwk)?;
        let mandate = Mandate::new(terms, key.sign(&self.sealer, &claims)?);
        write.insert_mandate(&mandate);
        Ok(mandate)
    }

    /// Checks signature, status, maximum amount, currency, expiry, user, instrument and scope, and
    /// adds the use to `write`. If the mandate changed meanwhile, the commit of `write` fails with
    /// [`Conflict::MandateVersion`] and stores nothing; call this function again then. Returns the
    /// mandate as it is once `write` is committed: CONSUMED, with the signed record of the use.
    ///
    /// # Errors
    /// Fails with [`MandateError::NotFound`] or [`MandateError::Invalid`], or with the underlying
    /// error.
    pub async fn consume_in(
        &self,
        write: &mut UnitOfWork,
        id: &MandateId,
        usage: MandateUsage,
    ) -> Result<Mandate, MandateError> {
        let mandate = self.base.store.mandate(&usage.owner.tenant, id).await?;
        let mandate = mandate.ok_or(MandateError::NotFound)?;
        let now = self.base.now();
        let keys = SigningKeyRing::load(&self.base.store).await?;
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
        // The use is signed with the key that the terms name, even if that key no longer signs new
        // mandates.
        let claims = claims::closed_mandate_claims(&mandate.terms, &usage, &self.base_url, now);
        let jws = key.sign(&self.sealer, &claims)?;
        let read_version = mandate.version;
        let event = MandateEvent::Consumed { usage, jws };
        let consumed = mandate.apply(event, now)?;
        let consumed = consumed.ok_or(MandateError::TooManyConflicts)?;
        write.update_mandate(&consumed, read_version);
        Ok(consumed)
    }

    /// Adds to `write` the release of a mandate whose purchase made no commitment, so that it may
    /// be used again. A mandate that is not in use stays unchanged.
    ///
    /// # Errors
    /// Fails with [`MandateError::NotFound`] or [`MandateError::Invalid`], or with the underlying
    /// error.
    pub async fn release_in(
        &self,
        write: &mut UnitOfWork,
        tenant: &Tenant,
        id: &MandateId,
    ) -> Result<(), MandateError> {
        let mandate = self.base.store.mandate(tenant, id).await?;
        let mandate = mandate.ok_or(MandateError::NotFound)?;
        let read_version = mandate.version;
        if let Some(released) = mandate.apply(MandateEvent::Released, self.base.now())? {
            write.update_mandate(&released, read_version);
        }
        Ok(())
    }

    /// Creates a mandate of a user, once for each key.
    ///
    /// # Errors
    /// Fails with [`MandateError::OtherUser`], like [`Self::sign_in`], or if the idempotency key cannot
    /// be used.
    pub async fn issue(
        &self,
        context: &RequestContext,
        owner: &Owner,
        new: NewMandate,
        key: Option<&IdempotentRequest>,
    ) -> Result<Issued, MandateError> {
        if !context.owner.can_act_for(&owner.user) {
            return Err(MandateError::OtherUser);
        }
        for _ in 0..CONFLICT_RETRIES_MAX {
            if let Some(mandate_id) = self.base.find_idempotent_result(key).await? {
                let id = MandateId::parse(&mandate_id).map_err(|_| MandateError::NotFound)?;
                return self.find(owner, &id).await.map(Issued::Existing);
            }
            let mut write = self.base.unit_of_work();
            let payers = [owner, &context.owner];
            let instrument = self.find_instrument(&payers, &new.instrument).await?;
            let mandate = self
                .sign(&mut write, owner, instrument, new.clone())
                .await?;
            claim_in(&mut write, key, mandate.terms.id.as_str());
            audit_in(
                &mut write,
                &self.base,
                &context.actor,
                audited::issued(&mandate),
            );
            // If another call with the same key was committed first, its mandate is returned.
            let conflict = Conflict::IdempotencyKeyExists;
            if self.base.commit_unless(conflict, write).await? {
                return Ok(Issued::New(mandate));
            }
        }
        Err(MandateError::TooManyConflicts)
    }

    /// Revokes a mandate, once for each key.
    ///
    /// # Errors
    /// Fails with [`MandateError::NotFound`] or [`MandateError::Invalid`], if the idempotency key
    /// cannot be used, or with the underlying error.
    pub async fn revoke(
        &self,
        context: &RequestContext,
        id: &MandateId,
        key: Option<&IdempotentRequest>,
    ) -> Result<Mandate, MandateError> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let mandate = self.find(&context.owner, id).await?;
            if self.base.find_idempotent_result(key).await?.is_some() {
                return Ok(mandate);
            }
            let (now, read_version) = (self.base.now(), mandate.version);
            let mut write = UnitOfWork::new(now);
            claim_in(&mut write, key, id.as_str());
            let revoked = match mandate.clone().apply(MandateEvent::Revoked, now)? {
                Some(revoked) => {
                    write.update_mandate(&revoked, read_version);
                    let change = audited::revoked(&mandate, &revoked, now);
                    audit_in(&mut write, &self.base, &context.actor, change);
                    revoked
                }
                None => mandate,
            };
            if self.base.try_commit(write).await? {
                return Ok(revoked);
            }
        }
        Err(MandateError::TooManyConflicts)
    }

    /// Returns a mandate that the caller may see: a user sees their own, the organization sees
    /// those of all users.
    ///
    /// # Errors
    /// Fails with [`MandateError::NotFound`], or with the database's error.
    pub async fn find(&self, context: &Owner, id: &MandateId) -> Result<Mandate, MandateError> {
        let mandate = self.base.store.mandate(&context.tenant, id).await?;
        let mandate = mandate.filter(|mandate| context.can_act_for(&mandate.terms.owner.user));
        mandate.ok_or(MandateError::NotFound)
    }
}
