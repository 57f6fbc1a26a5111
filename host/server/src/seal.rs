//! Sealing: authenticated encryption of what must not be read or changed
//! outside, bound to its purpose and place. Knows nothing of what is sealed.

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretSlice};
use std::collections::BTreeMap;

/// Layout of what is sealed; the first byte.
const FORMAT_VERSION: u8 = 1;
const NONCE_BYTES: usize = 12;
/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// Why something cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// A key has another length.
    #[error("a sealing key has {KEY_BYTES} bytes")]
    InvalidKeyLength,
    /// A key id has another form.
    #[error("the id of a sealing key has 1 to 32 of [A-Za-z0-9_-]")]
    InvalidKeyId,
    /// Sealed under a key that is not configured.
    #[error("sealed under the key `{0}`, which is not configured")]
    UnknownKey(String),
    /// Changed, cut, or sealed for something else.
    #[error("the sealed bytes are not genuine")]
    AuthenticationFailed,
    /// No random bytes, or too much to seal.
    #[error("nothing can be sealed")]
    SealFailed,
}

/// Seals with one key; opens with that one and older ones.
pub struct Sealer {
    current: String,
    keys: BTreeMap<String, Aes256GcmSiv>,
}

impl Sealer {
    /// Takes the id and the bytes of the key that seals, and of older keys that
    /// still open.
    ///
    /// # Errors
    /// When a key has another length or its id another form.
    pub fn new(
        id: &str,
        key: &SecretSlice<u8>,
        older: &[(String, SecretSlice<u8>)],
    ) -> Result<Self, SealError> {
        let mut keys = BTreeMap::new();
        for (id, key) in older
            .iter()
            .map(|(id, key)| (id.as_str(), key))
            .chain([(id, key)])
        {
            let form = (1..=32).contains(&id.len())
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            if !form {
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

    /// Seals bytes for a purpose and a place, e.g. `webhook_secret` and
    /// organization + row; opening needs the same two.
    ///
    /// # Errors
    /// [`SealError::Unsealable`].
    pub fn seal(&self, purpose: &str, place: &[&str], bytes: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0_u8; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| SealError::SealFailed)?;
        let cipher = self.keys.get(&self.current).ok_or(SealError::SealFailed)?;
        let aad = associated_data(purpose, place);
        let sealed = cipher
            .encrypt(
                &Nonce::from(nonce),
                Payload {
                    msg: bytes,
                    aad: &aad,
                },
            )
            .map_err(|_| SealError::SealFailed)?;
        let id_length = u8::try_from(self.current.len()).map_err(|_| SealError::InvalidKeyId)?;
        let mut out = vec![FORMAT_VERSION, id_length];
        out.extend_from_slice(self.current.as_bytes());
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed);
        Ok(out)
    }

    /// Opens what was sealed for this purpose and place.
    ///
    /// # Errors
    /// [`SealError::NotGenuine`] or [`SealError::UnknownKey`].
    pub fn open(&self, purpose: &str, place: &[&str], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (head, rest) = sealed
            .split_first_chunk::<2>()
            .ok_or(SealError::AuthenticationFailed)?;
        let [format, id_length] = *head;
        if format != FORMAT_VERSION {
            return Err(SealError::AuthenticationFailed);
        }
        let (id, rest) = rest
            .split_at_checked(usize::from(id_length))
            .ok_or(SealError::AuthenticationFailed)?;
        let (nonce, sealed) = rest
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(SealError::AuthenticationFailed)?;
        let id = std::str::from_utf8(id).map_err(|_| SealError::AuthenticationFailed)?;
        let printable = id.chars().all(|character| character.is_ascii_graphic());
        let cipher = match self.keys.get(id) {
            Some(cipher) => cipher,
            None if printable => return Err(SealError::UnknownKey(id.to_owned())),
            None => return Err(SealError::AuthenticationFailed),
        };
        let aad = associated_data(purpose, place);
        cipher
            .decrypt(
                &Nonce::from(*nonce),
                Payload {
                    msg: sealed,
                    aad: &aad,
                },
            )
            .map_err(|_| SealError::AuthenticationFailed)
    }

    /// Whether bytes were sealed with the key that seals now.
    #[must_use]
    pub fn is_sealed_with_current_key(&self, sealed: &[u8]) -> bool {
        let id = sealed
            .split_first_chunk::<2>()
            .and_then(|([_, length], rest)| rest.get(..usize::from(*length)));
        id == Some(self.current.as_bytes())
    }

    /// Seals to text that may stand in a URL.
    ///
    /// # Errors
    /// As [`Sealer::seal`].
    pub fn seal_text(
        &self,
        purpose: &str,
        place: &[&str],
        bytes: &[u8],
    ) -> Result<String, SealError> {
        self.seal(purpose, place, bytes)
            .map(|sealed| URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens such text. Only the one spelling that [`Sealer::seal_text`] gives is genuine.
    ///
    /// # Errors
    /// As [`Sealer::open`].
    pub fn open_text(
        &self,
        purpose: &str,
        place: &[&str],
        text: &str,
    ) -> Result<Vec<u8>, SealError> {
        let sealed = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| SealError::AuthenticationFailed)?;
        self.open(purpose, place, &sealed)
    }
}

/// Purpose and place as one unambiguous byte string: each part with its length.
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
    fn what_is_sealed_opens_only_where_it_belongs() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let sealed = sealer.seal("offer", &["acme", "test"], b"secret").unwrap();
        assert_eq!(
            sealer.open("offer", &["acme", "test"], &sealed).unwrap(),
            b"secret"
        );
        for (purpose, place) in [
            ("other", ["acme", "test"]),
            ("offer", ["acmet", "est"]),
            ("offer", ["acme", "live"]),
        ] {
            assert_eq!(
                sealer.open(purpose, &place, &sealed),
                Err(SealError::AuthenticationFailed)
            );
        }
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let sealed = sealer.seal("offer", &[], b"secret").unwrap();
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(sealer.open("offer", &[], &changed).is_err(), "byte {index}");
            assert!(
                sealer.open("offer", &[], &sealed[..index]).is_err(),
                "cut at {index}"
            );
        }
    }

    #[test]
    fn an_older_key_still_opens_and_a_removed_one_is_named() {
        let old = Sealer::new("k1", &key(1), &[]).unwrap();
        let token = old.seal_text("offer", &[], b"secret").unwrap();
        let rotated = Sealer::new("k2", &key(2), &[("k1".to_owned(), key(1))]).unwrap();
        assert_eq!(rotated.open_text("offer", &[], &token).unwrap(), b"secret");
        let bare = Sealer::new("k2", &key(2), &[]).unwrap();
        assert_eq!(
            bare.open_text("offer", &[], &token),
            Err(SealError::UnknownKey("k1".to_owned()))
        );
    }

    #[test]
    fn text_has_one_spelling() {
        let sealer = Sealer::new("k1", &key(1), &[]).unwrap();
        let token = sealer.seal_text("offer", &[], b"secre").unwrap();
        assert!(
            sealer
                .open_text("offer", &[], &format!("{token}="))
                .is_err()
        );
        assert!(
            sealer
                .open_text("offer", &[], &format!(" {token}"))
                .is_err()
        );
    }

    #[test]
    fn keys_of_another_form_are_refused() {
        assert_eq!(
            Sealer::new("k1", &vec![1; 31].into(), &[]).err(),
            Some(SealError::InvalidKeyLength)
        );
        assert_eq!(
            Sealer::new("k 1", &key(1), &[]).err(),
            Some(SealError::InvalidKeyId)
        );
    }
}
