//! Computations with secrets that the plugin names but never receives.

pub use crate::bindings::shared::stopover::host::secret::Error;

use crate::host;

/// Returns the HMAC-SHA256 of the message, keyed with the UTF-8 bytes of the named secret.
///
/// # Errors
/// Fails if the operator granted no secret with this name.
pub fn hmac_sha256(name: &str, message: &[u8]) -> Result<Vec<u8>, Error> {
    host::hmac_sha256(name, message)
}

/// Returns the SHA-256 of the prefix, the named secret and the suffix, concatenated.
///
/// # Errors
/// Fails if the operator granted no secret with this name.
pub fn sha256_with_secret(prefix: &[u8], name: &str, suffix: &[u8]) -> Result<Vec<u8>, Error> {
    host::sha256_with_secret(prefix, name, suffix)
}
