//! Signatures by which a receiver authenticates deliveries. There are two schemes over the same
//! bytes: the gateway's own, and that of Standard Webhooks, for which receivers can use existing
//! libraries.

use crate::webhook::signing_secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signatures {
    /// The value of `svc-signature`: `t=<unix seconds>,v1=<hex>`, with a `v1` for each secret, over
    /// `<t>.<body>`. The key is the whole text of the secret.
    pub svc: String,
    /// The value of `webhook-signature`: `v1,<base64>` for each secret, over `<event
    /// id>.<t>.<body>`. The key is the decoded base64 part of the secret.
    pub standard: String,
}

/// Signs a body with each of the secrets. `unix_s` is the time of signing in seconds since 1970.
pub fn sign<'a>(
    secrets: impl IntoIterator<Item = &'a SecretString>,
    unix_s: i64,
    event_id: &str,
    body: &[u8],
) -> Signatures {
    let time = unix_s.to_string();
    let mut own = format!("t={time}");
    let mut standard = Vec::new();
    for secret in secrets {
        let text = secret.expose_secret();
        let digest = mac(text.as_bytes(), &[time.as_bytes(), b".", body]);
        own.push_str(&format!(",v1={}", hex::encode(digest)));
        let secret = text.strip_prefix(signing_secret::PREFIX).unwrap_or(text);
        let secret = STANDARD.decode(secret).unwrap_or_default();
        let digest = mac(
            &secret,
            &[event_id.as_bytes(), b".", time.as_bytes(), b".", body],
        );
        standard.push(format!("v1,{}", STANDARD.encode(digest)));
    }
    Signatures {
        svc: own,
        standard: standard.join(" "),
    }
}

/// Returns the headers that sign a delivery of an event, by name.
pub fn signed_headers<'a>(
    secrets: impl IntoIterator<Item = &'a SecretString>,
    unix_s: i64,
    event_id: &str,
    delivery_id: &str,
    payload: &str,
) -> [(&'static str, String); 6] {
    let signed = sign(secrets, unix_s, event_id, payload.as_bytes());
    [
        ("svc-signature", signed.svc),
        ("svc-event-id", event_id.to_owned()),
        ("svc-delivery-id", delivery_id.to_owned()),
        ("webhook-id", event_id.to_owned()),
        ("webhook-timestamp", unix_s.to_string()),
        ("webhook-signature", signed.standard),
    ]
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC accepts keys of any length, so this never fails.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"id":"evt_1","type":"ping"}"#;

    /// Secrets with the digests that another implementation computes for both schemes.
    const VECTORS: [(&str, &str, &str); 2] = [
        (
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "dfe3819df94e2c05dd1707c52ab8f7e2157be5fc6e984d947fec3ee8c80a9b34",
            "uI/idsWWwvbicph2YdbYDmUjsCc33ornQp0SBEXyVQM=",
        ),
        (
            "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
            "57e5b159419f8328fcab4c15e7e8ae4ad84517983a4ca049101f69c606b268f5",
            "jopU4j1Hl3nedjagnf5XtXn5ZQ2ZVwoJCZ0KqHpc6A8=",
        ),
    ];

    #[test]
    fn signatures_match_another_implementation() {
        for (secret, own, standard) in VECTORS {
            let signed = sign(&[secret.into()], 1_800_000_000, "evt_1", BODY);
            assert_eq!(signed.svc, format!("t=1800000000,v1={own}"));
            assert_eq!(signed.standard, format!("v1,{standard}"));
        }
    }

    #[test]
    fn each_secret_adds_a_signature() {
        let secrets: [SecretString; 2] = VECTORS.map(|(text, ..)| text.into());
        let signed = sign(&secrets, 1_800_000_000, "evt_1", BODY);
        let [(_, own_1, standard_1), (_, own_2, standard_2)] = VECTORS;
        assert_eq!(signed.svc, format!("t=1800000000,v1={own_1},v1={own_2}"));
        assert_eq!(signed.standard, format!("v1,{standard_1} v1,{standard_2}"));
    }
}
