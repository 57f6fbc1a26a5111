//! Duffel's webhooks: signature verification and the meaning of events.

use stopover_sdk::supplier_events::{Event, VerifyError, WebhookRequest};
use stopover_sdk::{SupplierEvents, json, secret};

use crate::{DuffelFlights, map, wire};

/// Name of the secret that Duffel issues when the webhook is created.
pub(crate) const SECRET: &str = "webhook_secret";
const HEADER: &str = "x-duffel-signature";
/// Maximum age of a signature, and maximum distance into the future, in seconds.
const TOLERANCE_S: i64 = 300;

impl SupplierEvents for DuffelFlights {
    fn verify(request: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        let header = request
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(HEADER))
            .ok_or_else(|| invalid_signature("there is no signature"))?;
        let signature = Signature::parse(&header.value)
            .ok_or_else(|| invalid_signature("the signature is not in Duffel's format"))?;
        let sent_s: i64 = signature
            .time
            .parse()
            .map_err(|_| invalid_signature("the signature has no time"))?;
        let age_s = sent_s.abs_diff(request.received_at.div_euclid(1000));
        if age_s > TOLERANCE_S.unsigned_abs() {
            return Err(invalid_signature(
                "the signature is too old or in the future",
            ));
        }
        let mut message = format!("{}.", signature.time).into_bytes();
        message.extend_from_slice(&request.body);
        let expected = secret::hmac_sha256(SECRET, &message)
            .map_err(|_| invalid_signature("the webhook's secret is not granted"))?;
        if !secret::is_hex_digest(signature.digest, &expected) {
            return Err(invalid_signature("the signature is wrong"));
        }
        let event: wire::event::Event = json::decode(&request.body)
            .map_err(|error| VerifyError::Malformed(error.to_string()))?;
        let event = map::event::event(event)
            .ok_or_else(|| VerifyError::Malformed("the event has no id".to_owned()))?;
        Ok(vec![event])
    }
}

/// A signature header: `t=<unix seconds>,v1=<lower-case hex>`.
struct Signature<'a> {
    time: &'a str,
    digest: &'a str,
}

impl<'a> Signature<'a> {
    fn parse(header: &'a str) -> Option<Self> {
        let part = |name: &str| {
            let mut parts = header.trim().split(',');
            parts.find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
        };
        Some(Self {
            time: part("t")?,
            digest: part("v1")?,
        })
    }
}

fn invalid_signature(message: &str) -> VerifyError {
    VerifyError::InvalidSignature(message.to_owned())
}
