//! Nuitee's webhooks. The tests of `nuitee-flights` cover their possible content.

use nuitee_hotels::NuiteeHotels;
use serde_json::json;
use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{Event, EventKind, VerifyError, WebhookRequest};
use stopover_sdk::testing::Outcome::Malformed;
use stopover_sdk::testing::{MockGateway, outcome};

fn verify(body: &str) -> Result<Vec<Event>, VerifyError> {
    let delivery = WebhookRequest {
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
        received_at: 0,
    };
    MockGateway::new().run(|| NuiteeHotels::verify(delivery))
}

#[test]
fn webhook_event_has_both_booking_references() {
    let request = json!({"prebookId": "P-1", "clientReference": "bkg_own_1"});
    let response = json!({"data": {"bookingId": "B-1", "status": "CONFIRMED"}});
    let body = json!({"event_name": "booking.book", "request": request.to_string(),
        "response": response.to_string()});
    let events = verify(&body.to_string()).unwrap();
    let [event] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(event.kind, EventKind::BookingChanged);
    assert_eq!(event.supplier_reference.as_deref(), Some("B-1"));
    assert_eq!(event.client_reference.as_deref(), Some("bkg_own_1"));
}

#[test]
fn cancellation_event_changes_booking_and_prebook_event_is_irrelevant() {
    let about = |name: &str| {
        let body = json!({"event_name": name, "response": "{\"bookingId\": \"B-1\"}"});
        let events = verify(&body.to_string()).unwrap();
        events.first().unwrap().kind.clone()
    };
    assert_eq!(about("booking.cancel"), EventKind::CancellationChanged);
    assert_eq!(about("booking.amend"), EventKind::BookingChanged);
    assert!(matches!(about("booking.prebook"), EventKind::Irrelevant(_)));
}

#[test]
fn body_without_event_is_unreadable() {
    for body in ["", "<html>", "[]", "{}"] {
        let result = verify(body);
        assert_eq!(outcome(&result), Malformed, "{body}: {result:?}");
    }
}
