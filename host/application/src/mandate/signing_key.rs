//! Keys that sign mandates. The installation has one current key pair, which is created if there is
//! none or the newest is too old. Private parts are stored encrypted. Public parts are published,
//! including those of earlier keys.

use crate::sealer::{SealError, Sealer};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, MandateKey, Store, UnitOfWork};
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde_json::Value;
use std::collections::HashSet;

const PURPOSE: &str = "mandate_signing_key";

#[derive(Debug, thiserror::Error)]
pub enum SigningKeyError {
    #[error("the signing keys could not be read or stored")]
    Storage(#[from] CommitError),
    /// The key was encrypted under another master key, or its data was changed.
    #[error("the signing key cannot be encrypted or decrypted")]
    Seal(#[from] SealError),
    /// No key exists, and none can be created.
    #[error("there is no signing key")]
    Missing,
    #[error("the signing key cannot be used")]
    Unusable(#[from] jsonwebtoken::errors::Error),
    #[error("the signing key's public part cannot be read or written")]
    Json(#[from] serde_json::Error),
}

impl From<DatabaseError> for SigningKeyError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

/// The stored keys, newest first.
pub struct SigningKeyRing(Vec<MandateKey>);

pub struct SigningKey<'a> {
    stored: &'a MandateKey,
    pub jwk: Jwk,
}

/// Stores a key. Returns `false` if another process stored a key of this generation first.
async fn insert_key(
    store: &Store,
    key: &MandateKey,
    now: Timestamp,
) -> Result<bool, SigningKeyError> {
    let mut write = UnitOfWork::new(now);
    write.insert_mandate_key(key);
    match store.commit(write).await {
        Ok(()) => Ok(true),
        Err(CommitError::Conflict(Conflict::MandateKeyExists)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn generate_key(
    sealer: &Sealer,
    generation: i64,
    now: Timestamp,
) -> Result<MandateKey, SigningKeyError> {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
        .map_err(|_| SigningKeyError::Missing)?;
    let private_key = pair.as_ref();
    let mut jwk = Jwk::from_encoding_key(&EncodingKey::from_ec_der(private_key), Algorithm::ES256)?;
    let kid = jwk.thumbprint(ThumbprintHash::SHA256)?;
    jwk.common.key_id = Some(kid.clone());
    jwk.common.public_key_use = Some(PublicKeyUse::Signature);
    Ok(MandateKey {
        generation,
        public_jwk: serde_json::to_string(&jwk)?,
        sealed_private_key: sealer.seal(PURPOSE, &[&kid], private_key)?,
        created_at: now,
        kid,
    })
}

impl SigningKeyRing {
    /// Loads the keys and ensures that one of them is young enough to sign new mandates. If none
    /// is, one of the processes that need one at the same time creates it.
    pub async fn load_or_rotate(
        store: &Store,
        sealer: &Sealer,
        age_max_s: u64,
        now: Timestamp,
    ) -> Result<Self, SigningKeyError> {
        loop {
            let ring = Self::load(store).await?;
            let newest = ring.0.first();
            if newest.is_some_and(|key| now < signs_until(key, age_max_s)) {
                return Ok(ring);
            }
            let generation = newest.map_or(1, |key| key.generation + 1);
            let key = generate_key(sealer, generation, now)?;
            if insert_key(store, &key, now).await? {
                let kid = key.kid;
                tracing::info!(kid, "a new key was created and signs mandates from now on");
            }
        }
    }

    pub async fn load(store: &Store) -> Result<Self, SigningKeyError> {
        Ok(Self(store.mandate_keys().await?))
    }

    /// Returns the public parts, the current signing key first.
    ///
    /// # Errors
    /// A stored key is invalid JSON.
    pub fn jwk_set(&self) -> Result<JwkSet, SigningKeyError> {
        let keys = self.0.iter();
        let keys = keys.map(|key| Ok(serde_json::from_str(&key.public_jwk)?));
        let keys = keys.collect::<Result<Vec<Jwk>, SigningKeyError>>()?;
        Ok(JwkSet { keys })
    }

    pub fn current(&self) -> Result<SigningKey<'_>, SigningKeyError> {
        SigningKey::of(self.0.first())
    }

    /// Returns the key that signed a mandate and its claims, or `None` if no stored key signed it.
    pub fn verify(&self, jws: &str) -> Result<Option<(SigningKey<'_>, Value)>, SigningKeyError> {
        let header = jsonwebtoken::decode_header(jws).ok();
        let kid = header.and_then(|header| header.kid);
        let mut keys = self.0.iter();
        let Some(stored) = keys.find(|key| Some(&key.kid) == kid.as_ref()) else {
            return Ok(None);
        };
        let key = SigningKey::of(Some(stored))?;
        let public = DecodingKey::from_jwk(&key.jwk)?;
        let decoded = jsonwebtoken::decode(jws, &public, &signature_validation()).ok();
        Ok(decoded.map(|decoded| (key, decoded.claims)))
    }
}

/// Returns when a key stops signing new mandates.
fn signs_until(key: &MandateKey, age_max_s: u64) -> Timestamp {
    let age_max_s = i64::try_from(age_max_s).unwrap_or(i64::MAX);
    key.created_at.plus_s(age_max_s)
}

/// Returns the validation of the signature alone. Expiry is checked against the gateway's clock,
/// not the library's.
fn signature_validation() -> Validation {
    let mut validation = Validation::new(Algorithm::ES256);
    validation.required_spec_claims = HashSet::new();
    validation.validate_exp = false;
    validation
}

impl<'a> SigningKey<'a> {
    fn of(stored: Option<&'a MandateKey>) -> Result<Self, SigningKeyError> {
        let stored = stored.ok_or(SigningKeyError::Missing)?;
        let jwk = serde_json::from_str(&stored.public_jwk)?;
        Ok(Self { stored, jwk })
    }

    /// Signs claims and returns a compact JWS.
    pub fn sign(&self, sealer: &Sealer, claims: &Value) -> Result<String, SigningKeyError> {
        let MandateKey {
            kid,
            sealed_private_key,
            ..
        } = self.stored;
        let private_key = sealer.open(PURPOSE, &[kid], sealed_private_key)?;
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some(kid.clone());
        let key = EncodingKey::from_ec_der(&private_key);
        Ok(jsonwebtoken::encode(&header, claims, &key)?)
    }
}
