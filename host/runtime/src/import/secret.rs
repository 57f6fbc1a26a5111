//! Host import `secret`: computations with secrets. The guest names a secret and receives a digest,
//! never the secret itself.

use crate::bindings::stopover::host::secret;
use crate::call_state::GuestState;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

type Secrets = BTreeMap<String, SecretString>;

impl secret::Host for GuestState {
    fn hmac_sha256(
        &mut self,
        name: String,
        message: Vec<u8>,
    ) -> wasmtime::Result<Result<Vec<u8>, secret::Error>> {
        Ok(hmac_sha256(&self.provision.secrets, name, &message))
    }

    fn sha256_with_secret(
        &mut self,
        prefix: Vec<u8>,
        name: String,
        suffix: Vec<u8>,
    ) -> wasmtime::Result<Result<Vec<u8>, secret::Error>> {
        Ok(sha256_with_secret(
            &self.provision.secrets,
            &prefix,
            &name,
            &suffix,
        ))
    }
}

fn hmac_sha256(secrets: &Secrets, name: String, message: &[u8]) -> Result<Vec<u8>, secret::Error> {
    let mut mac = Hmac::<Sha256>::new_from_slice(named(secrets, &name)?)
        .map_err(|_| secret::Error::Unknown(name))?;
    mac.update(message);
    Ok(mac.finalize().into_bytes().to_vec())
}

fn sha256_with_secret(
    secrets: &Secrets,
    prefix: &[u8],
    name: &str,
    suffix: &[u8],
) -> Result<Vec<u8>, secret::Error> {
    let mut hash = Sha256::new();
    hash.update(prefix);
    hash.update(named(secrets, name)?);
    hash.update(suffix);
    Ok(hash.finalize().to_vec())
}

fn named<'a>(secrets: &'a Secrets, name: &str) -> Result<&'a [u8], secret::Error> {
    let found = secrets
        .get(name)
        .map(|secret| secret.expose_secret().as_bytes());
    found.ok_or_else(|| secret::Error::Unknown(name.chars().take(64).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        [("shared", "Jefe"), ("letter", "b")]
            .map(|(name, secret)| (name.to_owned(), secret.to_owned().into()))
            .into()
    }

    #[test]
    fn digests_match_published_test_vectors() {
        let mac = hmac_sha256(
            &secrets(),
            "shared".to_owned(),
            b"what do ya want for nothing?",
        )
        .unwrap();
        assert_eq!(
            hex::encode(mac),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let hash = sha256_with_secret(&secrets(), b"a", "letter", b"c").unwrap();
        assert_eq!(
            hex::encode(hash),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn ungranted_secret_is_unknown() {
        assert!(
            matches!(hmac_sha256(&secrets(), "other".to_owned(), b""), Err(secret::Error::Unknown(name)) if name == "other")
        );
        assert!(matches!(
            sha256_with_secret(&secrets(), b"", "other", b""),
            Err(secret::Error::Unknown(_))
        ));
    }
}
