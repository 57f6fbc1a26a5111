//! Nuitee's webhooks. The tests of `nuitee-flights` cover their possible content.

use nuitee_hotels::NuiteeHotels;
use serde_json::json;
use stopover_sdk::SupplierEvents;
use stopover_sdk::supplier_events::{EventKind, WebhookRequest};
use stopover_sdk::testing::MockGateway;

#[test]
fn webhook_event_has_both_booking_references() {
    let request = json!({"prebookId": "P-1", "clientReference": "bkg_own_1"});
    let response = json!({"data": {"bookingId": "B-1", "status": "CONFIRMED"}});
    let body = json!({"event_name": "booking.book", "request": request.to_string(),
        "response": response.to_string()});
    let delivery = WebhookRequest {
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
        received_at: 0,
    };
    let events = MockGateway::new().run(|| NuiteeHotels::verify(delivery));
    let [event] = events.as_deref().unwrap() else {
        panic!("{events:?}");
    };
    assert_eq!(event.kind, EventKind::BookingChanged);
    assert_eq!(event.supplier_reference.as_deref(), Some("B-1"));
    assert_eq!(event.client_reference.as_deref(), Some("bkg_own_1"));
}
