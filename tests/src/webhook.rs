//! Webhooks as suppliers sign them.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 with a secret's bytes over time, point
/// and body, made so many seconds from now.
#[must_use]
pub fn sign_supplier_webhook(secret: &str, body: &[u8], ahead_s: i64) -> String {
    let time = jiff::Timestamp::now().as_second() + ahead_s;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    format!("t={time},v1={}", hex::encode(mac.finalize().into_bytes()))
}
