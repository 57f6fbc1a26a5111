//! Sealing: authenticated encryption of data that nobody outside may read or change. Sealed data is
//! bound to a purpose and a context.

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretSlice};
use std::collections::BTreeMap;

/// Version of the sealed format; the first byte of sealed data.
const FORMAT_VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;
pub const KEY_BYTES: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("a sealing key must have {KEY_BYTES} bytes")]
    InvalidKeyLength,
    #[error("the id of a sealing key must have 1 to 32 characters of [A-Za-z0-9_-]")]
    InvalidKeyId,
    #[error("sealed under the key `{0}`, which is not configured")]
    UnknownKey(String),
    /// The data was changed, truncated, or sealed for another purpose or context.
    #[error("the sealed data was changed or sealed for another use")]
    AuthenticationFailed,
    #[error("the data cannot be sealed: it is too long, or there are no random bytes")]
    SealFailed,
}

/// Seals data with one key, and opens data sealed with this key or an older one.
pub struct Sealer {
    current: String,
    keys: BTreeMap<String, Aes256GcmSiv>,
}

impl Sealer {
    /// Creates a sealer with the id and bytes of the current key, and of older keys that may only
    /// open.
    ///
    /// # Errors
    /// [`SealError::InvalidKeyLength`] or [`SealError::InvalidKeyId`].
    pub fn new(
        id: &str,
        key: &SecretSlice<u8>,
        older: &[(String, SecretSlice<u8>)],
    ) -> Result<Self, SealError> {
        let mut keys = BTreeMap::new();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let older = older.iter().map(|(id, key)| (id.as_str(), key));
        for (id, key) in older.chain([(id, key)]) {
            if !(1..=32).contains(&id.len()) || !id.bytes().all(is_plain) {
                return Err(SealError::InvalidKeyId);
            }
            let cipher = Aes256GcmSiv::new_from_slice(key.expose_secret())
                .map_err(|_| SealError::InvalidKeyLength)?;
            keys.insert(id.to_owned(), cipher);
        }
        Ok(Self {
            current: id.to_owned(),
            keys,
        })
    }

    /// Seals bytes for a purpose and a context, e.g. `webhook_secret` and organization + row.
    /// Opening requires the same two.
    ///
    /// # Errors
    /// [`SealError::SealFailed`].
    pub fn seal(&self, purpose: &str, place: &[&str], bytes: &[u8]) -> Result<Vec<u8>, SealError> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let cipher = self.keys.get(&self.current).ok_or(SealError::SealFailed)?;
        let aad = associated_data(purpose, place);
        let payload = Payload {
            msg: bytes,
            aad: &aad,
        };
        let sealed = cipher.encrypt(&Nonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| SealError::SealFailed)?;
        let id_length = u8::try_from(self.current.len()).map_err(|_| SealError::InvalidKeyId)?;
        let mut out = vec![FORMAT_VERSION, id_length];
        out.extend_from_slice(self.current.as_bytes());
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed);
        Ok(out)
    }

    /// Opens data that was sealed for this purpose and context.
    ///
    /// # Errors
    /// [`SealError::AuthenticationFailed`] or [`SealError::UnknownKey`].
    pub fn open(&self, purpose: &str, place: &[&str], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (id, nonce, sealed) = split_sealed(sealed).ok_or(SealError::AuthenticationFailed)?;
        let printable = id.chars().all(|character| character.is_ascii_graphic());
        let cipher = match self.keys.get(id) {
            Some(cipher) => cipher,
            None if printable => return Err(SealError::UnknownKey(id.to_owned())),
            None => return Err(SealError::AuthenticationFailed),
        };
        let aad = associated_data(purpose, place);
        let payload = Payload {
            msg: sealed,
            aad: &aad,
        };
        let opened = cipher.decrypt(&Nonce::from(*nonce), payload);
        opened.map_err(|_| SealError::AuthenticationFailed)
    }

    /// Returns whether data was sealed with the current key.
    pub fn is_sealed_with_current_key(&self, sealed: &[u8]) -> bool {
        let parts = sealed.split_first_chunk::<2>();
        let id = parts.and_then(|([_, length], rest)| rest.get(..usize::from(*length)));
        id == Some(self.current.as_bytes())
    }

    /// Seals bytes to text that is safe in a URL.
    pub fn seal_text(
        &self,
        purpose: &str,
        place: &[&str],
        bytes: &[u8],
    ) -> Result<String, SealError> {
        let sealed = self.seal(purpose, place, bytes)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens text of [`Sealer::seal_text`]. Another spelling of the same bytes is rejected.
    pub fn open_text(
        &self,
        purpose: &str,
        place: &[&str],
        text: &str,
    ) -> Result<Vec<u8>, SealError> {
        let sealed = URL_SAFE_NO_PAD.decode(text);
        let sealed = sealed.map_err(|_| SealError::AuthenticationFailed)?;
        self.open(purpose, place, &sealed)
    }
}

/// Splits sealed data into the id of its key, its nonce and its ciphertext. Returns `None` if it has
/// another format.
fn split_sealed(sealed: &[u8]) -> Option<(&str, &[u8; NONCE_BYTES], &[u8])> {
    let ([format, id_length], rest) = sealed.split_first_chunk::<2>()?;
    let (id, rest) = rest.split_at_checked(usize::from(*id_length))?;
    let (nonce, ciphertext) = rest.split_first_chunk()?;
    let id = std::str::from_utf8(id).ok()?;
    (*format == FORMAT_VERSION).then_some((id, nonce, ciphertext))
}

/// Returns the associated data: purpose and context, each part preceded by its length.
fn associated_data(purpose: &str, place: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in std::iter::once(&purpose).chain(place) {
        out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        out.extend_from_slice(part.as_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SecretSlice<u8> {
        vec![byte; KEY_BYTES].into()
    }

    #[test]
    fn sealed_data_opens_only_for_its_purpose_and_context() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let sealed = sealer.seal("offer", &["acme", "test"], b"secret").unwrap();
        let opened = sealer.open("offer", &["acme", "test"], &sealed);
        assert_eq!(opened.unwrap(), b"secret");
        for (purpose, place) in [
            ("other", ["acme", "test"]),
            ("offer", ["acmet", "est"]),
            ("offer", ["acme", "live"]),
        ] {
            let opened = sealer.open(purpose, &place, &sealed);
            assert_eq!(opened, Err(SealError::AuthenticationFailed));
        }
    }

    #[test]
    fn open_fails_for_each_changed_byte() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let sealed = sealer.seal("offer", &[], b"secret").unwrap();
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(sealer.open("offer", &[], &changed).is_err(), "byte {index}");
            let cut = &sealed[..index];
            assert!(sealer.open("offer", &[], cut).is_err(), "cut at {index}");
        }
    }

    #[test]
    fn older_key_opens_and_removed_key_is_named_in_the_error() {
        let old = Sealer::new("k1", &key(1), &[]).unwrap();
        let token = old.seal_text("offer", &[], b"secret").unwrap();
        let rotated = Sealer::new("k2", &key(2), &[("k1".to_owned(), key(1))]).unwrap();
        assert_eq!(rotated.open_text("offer", &[], &token).unwrap(), b"secret");
        let bare = Sealer::new("k2", &key(2), &[]).unwrap();
        let unknown = SealError::UnknownKey("k1".to_owned());
        assert_eq!(bare.open_text("offer", &[], &token), Err(unknown));
    }

    #[test]
    fn open_text_accepts_only_the_canonical_encoding() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let token = sealer.seal_text("offer", &[], b"secre").unwrap();
        for spelling in [format!("{token}="), format!(" {token}")] {
            assert!(sealer.open_text("offer", &[], &spelling).is_err());
        }
    }

    #[test]
    fn invalid_keys_are_rejected() {
        let short = Sealer::new("k1", &vec![1; 31].into(), &[]);
        assert_eq!(short.err(), Some(SealError::InvalidKeyLength));
        let spaced = Sealer::new("k 1", &key(1), &[]);
        assert_eq!(spaced.err(), Some(SealError::InvalidKeyId));
    }
}
