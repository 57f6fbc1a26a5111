//! The nonce of a page's scripts.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::sync::Arc;

/// The value that permits the scripts of one page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nonce(Arc<str>);

impl Nonce {
    /// Uses a random token that serves no other purpose.
    pub(crate) fn new(token: &SecretString) -> Self {
        Self(token.expose_secret().into())
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
