//! Computations with secrets that the plugin names but never holds.

pub use crate::bindings::shared::stopover::host::secret::Error;

use crate::host;

/// HMAC-SHA256 of the message, keyed with the named secret's UTF-8 bytes.
///
/// # Errors
/// The operator granted no secret of that name.
pub fn hmac_sha256(name: &str, message: &[u8]) -> Result<Vec<u8>, Error> {
    host::hmac_sha256(name, message)
}

/// SHA-256 of the prefix, the named secret and the suffix, in that order.
///
/// # Errors
/// The operator granted no secret of that name.
pub fn sha256_with(prefix: &[u8], name: &str, suffix: &[u8]) -> Result<Vec<u8>, Error> {
    host::sha256_with(prefix, name, suffix)
}
