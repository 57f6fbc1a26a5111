//! Random tokens of cookies, links and nonces. The database has only their digests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// The operating system provides no random bytes.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system provides no random bytes")]
pub struct RandomSourceFailure;

/// Returns a token of 256 random bits: 43 characters of `[A-Za-z0-9_-]`.
///
/// # Errors
/// [`RandomSourceFailure`].
pub fn generate_token() -> Result<SecretString, RandomSourceFailure> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| RandomSourceFailure)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes).into())
}

/// Returns the SHA-256 digest of a token.
pub fn digest_token(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
