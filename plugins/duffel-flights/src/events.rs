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
    fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        let header = delivery
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(HEADER))
            .ok_or_else(|| unauthentic("there is no signature"))?;
        let signature = Signature::read(&header.value)
            .ok_or_else(|| unauthentic("the signature is not in Duffel's format"))?;
        let sent_s: i64 = signature
            .time
            .parse()
            .map_err(|_| unauthentic("the signature has no time"))?;
        let age_s = sent_s.abs_diff(delivery.received_at.div_euclid(1000));
        if age_s > TOLERANCE_S.unsigned_abs() {
            return Err(unauthentic("the signature is too old or in the future"));
        }
        let mut message = format!("{}.", signature.time).into_bytes();
        message.extend_from_slice(&delivery.body);
        let expected = secret::hmac_sha256(SECRET, &message)
            .map_err(|_| unauthentic("the webhook's secret is not granted"))?;
        if !is_same(&hex(&expected), signature.digest) {
            return Err(unauthentic("the signature is wrong"));
        }
        let event: wire::event::Event = json::decode(&delivery.body)
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
    fn read(header: &'a str) -> Option<Self> {
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

/// Compares two digests in constant time.
fn is_same(expected: &str, given: &str) -> bool {
    let pairs = expected.bytes().zip(given.bytes());
    let difference = pairs.fold(0, |all, (left, right)| all | (left ^ right));
    expected.len() == given.len() && std::hint::black_box(difference) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unauthentic(message: &str) -> VerifyError {
    VerifyError::InvalidSignature(message.to_owned())
}
