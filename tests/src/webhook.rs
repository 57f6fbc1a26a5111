//! Signatures of supplier webhooks.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Returns `t=<unix seconds>,v1=<hex>`: an HMAC-SHA256 with the secret's bytes over time, a dot and
/// the body, signed `ahead_s` seconds from now.
pub fn sign_supplier_webhook(secret: &str, body: &[u8], ahead_s: i64) -> String {
    let time = jiff::Timestamp::now().as_second() + ahead_s;
    let message = [format!("{time}.").as_bytes(), body].concat();
    let signature = hmac_sha256(secret.as_bytes(), &message);
    format!("t={time},v1={}", hex::encode(signature))
}
