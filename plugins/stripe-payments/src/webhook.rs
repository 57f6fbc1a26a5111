//! Stripe's webhooks, verified as <https://docs.stripe.com/webhooks/signature> describes.

use stopover_sdk::SupplierEvents;
use stopover_sdk::json::{self, DecodeError};
use stopover_sdk::secret;
use stopover_sdk::supplier_events::{Event, EventKind, VerifyError, WebhookRequest};

use crate::{StripePayments, wire};

/// Name of the secret with the endpoint's signing secret (`whsec_…`).
pub(crate) const SECRET: &str = "webhook";
/// Maximum difference between the signature's time and the gateway's, in milliseconds.
const TOLERANCE_MS: u64 = 300_000;

impl SupplierEvents for StripePayments {
    fn verify(delivery: WebhookRequest) -> Result<Vec<Event>, VerifyError> {
        authenticate(&delivery)?;
        let event = parse_event(&delivery.body);
        let event = event.map_err(|error| VerifyError::Malformed(error.to_string()))?;
        Ok(vec![event])
    }
}

fn authenticate(delivery: &WebhookRequest) -> Result<(), VerifyError> {
    let header = header(delivery).ok_or_else(|| invalid_signature("the signature is missing"))?;
    let time = values(header, "t").next();
    let time = time.ok_or_else(|| invalid_signature("the signature has no time"))?;
    let signed_at_ms = time.parse::<i64>().ok();
    let signed_at_ms = signed_at_ms.and_then(|seconds| seconds.checked_mul(1_000));
    let is_fresh = signed_at_ms.is_some_and(|at| at.abs_diff(delivery.received_at) <= TOLERANCE_MS);
    if !is_fresh {
        return Err(invalid_signature("the signature is too old"));
    }
    let mut message = format!("{time}.").into_bytes();
    message.extend_from_slice(&delivery.body);
    let expected =
        secret::hmac_sha256(SECRET, &message).map_err(|secret::Error::Unknown(name)| {
            invalid_signature(&format!("the secret {name} is not granted"))
        })?;
    // There are two signatures while a secret is being replaced. Each one is compared in full.
    let matching = values(header, "v1").filter(|given| secret::is_hex_digest(given, &expected));
    if matching.count() == 0 {
        return Err(invalid_signature("the signature is wrong"));
    }
    Ok(())
}

/// Returns the only signature header. Two headers would be ambiguous.
fn header(delivery: &WebhookRequest) -> Option<&str> {
    let mut found = (delivery.headers.iter())
        .filter(|header| header.name.eq_ignore_ascii_case("stripe-signature"));
    let first = found.next()?;
    found.next().is_none().then_some(first.value.as_str())
}

/// Returns the values of a name in a header such as `t=1492774577,v1=5257a8…,v1=…,v0=…`.
fn values<'a>(header: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = header.split(',').filter_map(|part| part.split_once('='));
    parts
        .filter(move |(known, _)| known.trim() == name)
        .map(|(_, value)| value.trim())
}

fn invalid_signature(why: &str) -> VerifyError {
    VerifyError::InvalidSignature(why.to_owned())
}

fn parse_event(body: &[u8]) -> Result<Event, DecodeError> {
    let event: wire::Event = json::decode(body)?;
    let id = event.id.required("id")?.as_str().to_owned();
    let kind = event.kind.required("type")?.to_owned();
    let is_event = event.object.required("object")? == "event";
    let data = event.data.optional("data")?;
    let subject = data.map(|data| data.object.optional("data.object"));
    let subject = subject.transpose()?.flatten();
    let subject_kind = subject.map(|subject| subject.object.optional("data.object.object"));
    let subject_kind = subject_kind.transpose()?.flatten().map(String::as_str);
    let (Some(subject), Some("payment_intent" | "charge" | "refund" | "dispute"), true) =
        (subject, subject_kind, is_event)
    else {
        return Ok(irrelevant(id, kind));
    };
    let created = *event.created.required("created")?;
    let metadata = subject.metadata.optional("metadata")?;
    let client_reference = metadata.map(wire::Metadata::client_reference).transpose()?;
    let client_reference = client_reference.flatten().map(str::to_owned);
    let payment = match subject_kind {
        // The account may have payments that were not made by this gateway. All of the gateway's
        // payments have a client reference.
        Some("payment_intent") if client_reference.is_none() => None,
        Some("payment_intent") => Some(subject.id.required("id")?),
        _ => subject.payment_intent.optional("payment_intent")?,
    };
    let Some(payment) = payment else {
        return Ok(irrelevant(id, kind));
    };
    Ok(Event {
        id,
        kind: EventKind::PaymentChanged,
        supplier_reference: Some(payment.as_str().to_owned()),
        client_reference,
        supplier_offer: None,
        occurred_at: created.checked_mul(1_000),
    })
}

fn irrelevant(id: String, kind: String) -> Event {
    Event {
        id,
        kind: EventKind::Irrelevant(kind),
        supplier_reference: None,
        client_reference: None,
        supplier_offer: None,
        occurred_at: None,
    }
}
