//! Nuitee's webhooks, which hotels and flights share. They are not signed, so a body is only a hint
//! about which booking to read again. The tests of the adapters that use this crate cover it.

mod booking_ids;

use sha2::{Digest, Sha256};
use stopover_sdk::lenient::LenientText;
use stopover_sdk::secret::to_hex;
use stopover_sdk::supplier_events::{Event, EventKind, VerifyError, WebhookRequest};
use stopover_sdk::{json, lenient_struct};

use crate::booking_ids::BookingIds;

lenient_struct! {
    /// The envelope. `request` and `response` are strings that contain JSON.
    struct Envelope<'a> {
        event_id: LenientText<'a> = "event_id",
        event_name: LenientText<'a> = "event_name",
        request: LenientText<'a> = "request",
        response: LenientText<'a> = "response",
    }
}

/// Parses the event of a webhook.
///
/// # Errors
/// The body is not Nuitee's envelope, or the event has no name.
pub fn parse_events(request: &WebhookRequest) -> Result<Vec<Event>, VerifyError> {
    let envelope: Envelope<'_> =
        json::decode(&request.body).map_err(|error| VerifyError::Malformed(error.to_string()))?;
    let name = envelope
        .event_name
        .as_deref()
        .ok_or_else(|| VerifyError::Malformed("the event has no name".to_owned()))?;
    let mut ids = BookingIds::default();
    // Values of Nuitee's response take precedence over those of its request.
    ids.collect_from(envelope.response.as_str());
    ids.collect_from(envelope.request.as_str());
    if ids == BookingIds::default() {
        // `request` or `response` may be an object instead of a string.
        let body = std::str::from_utf8(&request.body);
        ids.collect_from(body.unwrap_or_default());
    }
    let event_id = envelope.event_id.to_owned();
    Ok(vec![Event {
        id: event_id.unwrap_or_else(|| digest(&request.body)),
        kind: event_kind(name, &ids),
        supplier_reference: ids.booking_id,
        client_reference: ids.client_reference,
        supplier_offer: ids.prebook_id,
        occurred_at: None,
    }])
}

/// Returns the kind of an event by words in its name, because Nuitee does not list the names.
fn event_kind(name: &str, ids: &BookingIds) -> EventKind {
    let name = name.to_ascii_lowercase();
    if *ids == BookingIds::default() {
        return EventKind::Irrelevant("the event names no booking".to_owned());
    }
    if name.contains("prebook") {
        return EventKind::Irrelevant("a prebook is not a booking yet".to_owned());
    }
    if name.contains("cancel") {
        EventKind::CancellationChanged
    } else if name.contains("payment") {
        EventKind::PaymentChanged
    } else if name.contains("schedule") || name.contains("itinerary") {
        EventKind::ItineraryChanged
    } else {
        EventKind::BookingChanged
    }
}

/// Returns an id made from the body, so that repeated deliveries of the same body are the same
/// event.
fn digest(body: &[u8]) -> String {
    format!("sha256-{}", to_hex(&Sha256::digest(body)))
}
