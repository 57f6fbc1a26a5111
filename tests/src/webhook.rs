//! Signatures of supplier webhooks.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Returns `t=<unix seconds>,v1=<hex>`: an HMAC-SHA256 with the secret's bytes over time, a dot and
/// the body, signed `ahead_s` seconds from now.
#[must_use]
pub fn sign_supplier_webhook(secret: &str, body: &[u8], ahead_s: i64) -> String {
    let time = jiff::Timestamp::now().as_second() + ahead_s;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    format!("t={time},v1={}", hex::encode(mac.finalize().into_bytes()))
}
