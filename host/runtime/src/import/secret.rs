//! Computations with secrets: the guest names one and gets a digest, never the
//! secret.

use crate::bindings::stopover::host::secret;
use crate::provision::Provision;
use crate::state::GuestState;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

impl secret::Host for GuestState {
    fn hmac_sha256(
        &mut self,
        name: String,
        message: Vec<u8>,
    ) -> wasmtime::Result<Result<Vec<u8>, secret::Error>> {
        Ok(hmac_sha256(&self.provision, name, &message))
    }

    fn sha256_with(
        &mut self,
        prefix: Vec<u8>,
        name: String,
        suffix: Vec<u8>,
    ) -> wasmtime::Result<Result<Vec<u8>, secret::Error>> {
        Ok(sha256_with(&self.provision, &prefix, name, &suffix))
    }
}

fn hmac_sha256(
    provision: &Provision,
    name: String,
    message: &[u8],
) -> Result<Vec<u8>, secret::Error> {
    let mut mac = Hmac::<Sha256>::new_from_slice(named(provision, &name)?)
        .map_err(|_| secret::Error::Unknown(name))?;
    mac.update(message);
    Ok(mac.finalize().into_bytes().to_vec())
}

fn sha256_with(
    provision: &Provision,
    prefix: &[u8],
    name: String,
    suffix: &[u8],
) -> Result<Vec<u8>, secret::Error> {
    let mut hash = Sha256::new();
    hash.update(prefix);
    hash.update(named(provision, &name)?);
    hash.update(suffix);
    Ok(hash.finalize().to_vec())
}

fn named<'a>(provision: &'a Provision, name: &str) -> Result<&'a [u8], secret::Error> {
    let found = provision.secrets.get(name);
    found
        .map(|secret| secret.expose_secret().as_bytes())
        .ok_or_else(|| secret::Error::Unknown(name.chars().take(64).collect()))
}
