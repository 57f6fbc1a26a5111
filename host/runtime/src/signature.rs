//! Signatures of components: a detached Ed25519 signature next to the component file, made with a
//! key that the operator trusts. Signatures are optional; if trusted keys are configured, one of
//! them must have signed.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const KEY_BYTES: usize = 32;
const SIGNATURE_BYTES: usize = 64;

/// An Ed25519 public key. Its text form is the base64 encoding of its 32 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrustedKey([u8; KEY_BYTES]);

/// A text that is not a public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a key that signs plugins must have {KEY_BYTES} bytes in base64")]
pub struct InvalidTrustedKey;

/// An error for a component without a trusted signature.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature next to the component.
    #[error("the signature {0} cannot be read")]
    Missing(PathBuf, #[source] std::io::Error),
    /// The file is not a signature, or no trusted key made it for this component.
    #[error("the component is not signed by any key in signed_by")]
    Untrusted,
}

impl FromStr for TrustedKey {
    type Err = InvalidTrustedKey;
    fn from_str(text: &str) -> Result<Self, InvalidTrustedKey> {
        let bytes = STANDARD.decode(text).map_err(|_| InvalidTrustedKey)?;
        bytes.try_into().map(Self).map_err(|_| InvalidTrustedKey)
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl TryFrom<String> for TrustedKey {
    type Error = InvalidTrustedKey;
    fn try_from(text: String) -> Result<Self, InvalidTrustedKey> {
        text.parse()
    }
}

impl From<TrustedKey> for String {
    fn from(key: TrustedKey) -> Self {
        key.to_string()
    }
}

/// Verifies `<component>.sig`, raw or in base64, against the trusted keys. Without trusted keys
/// every component is accepted.
pub(crate) fn verify(
    trusted: &[TrustedKey],
    component: &Path,
    bytes: &[u8],
) -> Result<(), SignatureError> {
    if trusted.is_empty() {
        return Ok(());
    }
    let mut name = component.as_os_str().to_owned();
    name.push(".sig");
    let file = PathBuf::from(name);
    let read = fs::read(&file);
    let stored = read.map_err(|source| SignatureError::Missing(file, source))?;
    let signature = match stored.len() {
        SIGNATURE_BYTES => stored,
        _ => STANDARD
            .decode(stored.trim_ascii())
            .map_err(|_| SignatureError::Untrusted)?,
    };
    let signed_by = |key: &TrustedKey| {
        let key = UnparsedPublicKey::new(&ED25519, key.0);
        key.verify(bytes, &signature).is_ok()
    };
    if trusted.iter().any(signed_by) {
        Ok(())
    } else {
        Err(SignatureError::Untrusted)
    }
}
