//! Computations with secrets that the plugin names but never receives.

pub use crate::bindings::shared::stopover::host::secret::Error;

use std::fmt::Write as _;

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

/// Returns whether a text is the digest in lower-case hexadecimal digits. The comparison takes the
/// same time for every text of the same length.
pub fn is_hex_digest(given: &str, digest: &[u8]) -> bool {
    let expected = to_hex(digest);
    let pairs = given.bytes().zip(expected.bytes());
    let difference = pairs.fold(0, |all, (left, right)| all | (left ^ right));
    given.len() == expected.len() && std::hint::black_box(difference) == 0
}

/// Returns the bytes in lower-case hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
