//! Conversion of a supplier's webhook requests and of the events that the adapter reads from them.

use super::text::operator_message;
use super::{ConvertResult, instant, list, optional, text};
use crate::bindings::exports::stopover::supplier::supplier_events as wire;
use host_domain::supplier_event::{
    BODY_BYTES_MAX, HEADER_BYTES_MAX, HEADERS_MAX, SupplierEvent, SupplierEventKind,
    SupplierWebhookRequest, VerifyError,
};

/// Maximum number of events in one request. Most suppliers send one event, others send batches.
const EVENTS_MAX: usize = 200;

/// Converts a webhook request for the adapter. Anyone may send one, so an oversized request is
/// rejected before it reaches the adapter.
pub(crate) fn webhook_request(
    request: SupplierWebhookRequest,
) -> Result<wire::WebhookRequest, VerifyError> {
    let too_large = |what: &str| Err(VerifyError::Malformed(format!("{what} too large")));
    if request.body.len() > BODY_BYTES_MAX {
        return too_large("the body is");
    }
    let sizes = (request.headers.iter()).map(|(name, value)| name.len() + value.len());
    if sizes.len() > HEADERS_MAX || sizes.sum::<usize>() > HEADER_BYTES_MAX {
        return too_large("the headers are");
    }
    let headers = request.headers.into_iter();
    Ok(wire::WebhookRequest {
        headers: headers
            .map(|(name, value)| wire::Header { name, value })
            .collect(),
        body: request.body,
        received_at: request.received_at.0,
    })
}

pub(crate) fn events(events: Vec<wire::Event>) -> ConvertResult<Vec<SupplierEvent>> {
    list("events", events, EVENTS_MAX, |event| {
        let offer = event.supplier_offer.filter(|offer| !offer.is_empty());
        Ok(SupplierEvent {
            id: text::reference("events.id", event.id)?,
            kind: event_kind(event.kind),
            supplier_reference: text::optional_reference(
                "events.supplier-reference",
                event.supplier_reference,
            )?,
            client_reference: text::optional_reference(
                "events.client-reference",
                event.client_reference,
            )?,
            supplier_offer: optional(offer, |offer| text::opaque("events.supplier-offer", offer))?,
            occurred_at: event
                .occurred_at
                .and_then(|at| instant("events.occurred-at", at).ok()),
        })
    })
}

fn event_kind(kind: wire::EventKind) -> SupplierEventKind {
    match kind {
        wire::EventKind::BookingChanged => SupplierEventKind::BookingChanged,
        wire::EventKind::ItineraryChanged => SupplierEventKind::ItineraryChanged,
        wire::EventKind::CancellationChanged => SupplierEventKind::CancellationChanged,
        wire::EventKind::PaymentChanged => SupplierEventKind::PaymentChanged,
        wire::EventKind::Irrelevant(what) => SupplierEventKind::Irrelevant(operator_message(what)),
    }
}

pub(crate) fn verify_error(error: wire::VerifyError) -> VerifyError {
    match error {
        wire::VerifyError::InvalidSignature(reason) => {
            VerifyError::InvalidSignature(operator_message(reason))
        }
        wire::VerifyError::Malformed(reason) => VerifyError::Malformed(operator_message(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::tests::{InvalidField, assert_rejected, rejected};
    use host_domain::time::Timestamp;

    fn event() -> wire::Event {
        wire::Event {
            id: "e1".to_owned(),
            kind: wire::EventKind::Irrelevant("a\nping".to_owned()),
            supplier_reference: Some(String::new()),
            client_reference: Some("fbk_1".to_owned()),
            supplier_offer: Some(String::new()),
            occurred_at: Some(-1),
        }
    }

    #[test]
    fn event_without_id_is_rejected_and_empty_values_are_none() {
        let read = events(vec![event()]).unwrap().remove(0);
        assert_eq!(
            read,
            SupplierEvent {
                id: "e1".to_owned(),
                kind: SupplierEventKind::Irrelevant("a ping".to_owned()),
                supplier_reference: None,
                client_reference: Some("fbk_1".to_owned()),
                supplier_offer: None,
                occurred_at: None,
            }
        );
        let cases: &[InvalidField<wire::Event>] = &[
            ("events.id", |e| e.id.clear()),
            ("events.supplier-reference", |e| {
                e.supplier_reference = Some("x".repeat(257));
            }),
            ("events.supplier-offer", |e| {
                e.supplier_offer = Some("x".repeat(4_097));
            }),
        ];
        assert_rejected(event, |event| events(vec![event]), cases);
        assert_eq!(rejected(events(vec![event(); EVENTS_MAX + 1])), "events");
    }

    #[test]
    fn webhook_request_within_limits_is_converted() {
        let sent = |headers: usize, value: usize, body: usize| {
            webhook_request(SupplierWebhookRequest {
                headers: vec![("x".to_owned(), "y".repeat(value)); headers],
                body: vec![0; body],
                received_at: Timestamp(1),
            })
        };
        let passed = sent(2, 1, BODY_BYTES_MAX).unwrap();
        assert_eq!((passed.headers.len(), passed.received_at), (2, 1));
        for (headers, value, body) in [
            (0, 0, BODY_BYTES_MAX + 1),
            (HEADERS_MAX + 1, 0, 0),
            (1, HEADER_BYTES_MAX, 0),
        ] {
            assert!(matches!(
                sent(headers, value, body),
                Err(VerifyError::Malformed(_))
            ));
        }
    }
}
