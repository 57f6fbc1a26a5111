//! The keys that sign mandates: one pair for the installation, made when there is none.
//! Private parts are sealed; public parts are published, also those of earlier keys.

use crate::mandate::MandateError;
use crate::seal::Sealer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use host_domain::mandate::MandateRefusal;
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, MandateKey, Store, Write};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde_json::Value;
use std::collections::HashSet;

const PURPOSE: &str = "mandate_signing_key";

/// The keys as they are stored, newest first.
pub(crate) struct KeyRing(Vec<MandateKey>);

/// A key of the ring, and its public part.
pub(super) struct Key<'a> {
    stored: &'a MandateKey,
    pub(super) jwk: Jwk,
}

/// Makes the first key, unless there is one. Of hosts that start at once, one makes it.
pub(crate) async fn prepare(
    store: &Store,
    sealer: &Sealer,
    now: Timestamp,
) -> Result<(), MandateError> {
    if store.mandate_keys().await?.is_empty() {
        add(store, &make(sealer, 1, now)?, now).await?;
    }
    Ok(())
}

/// Makes a key that signs from now on, on every host; returns its `kid`.
pub(crate) async fn rotate(
    store: &Store,
    sealer: &Sealer,
    now: Timestamp,
) -> Result<String, MandateError> {
    loop {
        let generation = store.mandate_keys().await?.first().map_or(0, |key| key.generation);
        let key = make(sealer, generation + 1, now)?;
        if add(store, &key, now).await? {
            return Ok(key.kid);
        }
    }
}

/// False: another host was faster with this generation.
async fn add(store: &Store, key: &MandateKey, now: Timestamp) -> Result<bool, MandateError> {
    let mut write = Write::new(now);
    write.insert_mandate_key(key);
    match store.commit(write).await {
        Ok(()) => Ok(true),
        Err(CommitError::Conflict(Conflict::MandateKeyExists)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn make(sealer: &Sealer, generation: i64, now: Timestamp) -> Result<MandateKey, MandateError> {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
        .map_err(|_| MandateError::NoKey)?;
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

impl KeyRing {
    /// As every host sees them now.
    pub(crate) async fn load(store: &Store) -> Result<Self, MandateError> {
        Ok(Self(store.mandate_keys().await?))
    }

    /// The public parts, as a JSON Web Key Set.
    pub(crate) fn public_keys(&self) -> Result<Vec<Jwk>, MandateError> {
        let keys = self.0.iter();
        keys.map(|key| Ok(serde_json::from_str(&key.public_jwk)?)).collect()
    }

    /// The key that signs new mandates.
    pub(super) fn newest(&self) -> Result<Key<'_>, MandateError> {
        Key::of(self.0.first())
    }

    /// The key that signed a mandate, and what it signed.
    pub(super) fn verify(&self, jws: &str) -> Result<(Key<'_>, Value), MandateError> {
        const FORGED: MandateError = MandateError::Invalid(MandateRefusal::BadSignature);
        let kid = jsonwebtoken::decode_header(jws).map_err(|_| FORGED)?.kid;
        let mut keys = self.0.iter();
        let stored = keys.find(|key| Some(&key.kid) == kid.as_ref()).ok_or(FORGED)?;
        let key = Key::of(Some(stored))?;
        let decoded = jsonwebtoken::decode(jws, &DecodingKey::from_jwk(&key.jwk)?, &signature());
        Ok((key, decoded.map_err(|_| FORGED)?.claims))
    }
}

/// Nothing but the signature: our clock, not the library's, decides what has expired.
fn signature() -> Validation {
    let mut validation = Validation::new(Algorithm::ES256);
    validation.required_spec_claims = HashSet::new();
    validation.validate_exp = false;
    validation
}

impl<'a> Key<'a> {
    fn of(stored: Option<&'a MandateKey>) -> Result<Self, MandateError> {
        let stored = stored.ok_or(MandateError::NoKey)?;
        let jwk = serde_json::from_str(&stored.public_jwk)?;
        Ok(Self { stored, jwk })
    }

    /// Signs claims: a compact JWS.
    pub(super) fn sign(&self, sealer: &Sealer, claims: &Value) -> Result<String, MandateError> {
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
