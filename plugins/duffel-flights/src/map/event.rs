//! Meaning of webhook deliveries.

use stopover_sdk::json::non_empty;
use stopover_sdk::supplier_events::{Event, EventKind};
use stopover_sdk::time;

use crate::wire;

/// Converts an event. Returns `None` if it has no id, because repeated deliveries could then not be
/// recognized.
pub(crate) fn event(written: wire::event::Event) -> Option<Event> {
    let object = written.data.object;
    let is_order = |id: &String| id.starts_with("ord_");
    Some(Event {
        id: non_empty(written.id)?,
        kind: kind(&written.kind),
        supplier_reference: object
            .order_id
            .or(Some(object.id))
            .filter(is_order)
            .or(Some(written.about).filter(is_order)),
        client_reference: object.metadata.gateway_booking_id,
        supplier_offer: object.offer_id.and_then(non_empty),
        occurred_at: time::parse_timestamp(&written.created_at),
    })
}

/// Returns the kind of an event by its type. A created cancellation quote changes no booking;
/// neither do airline credits, hotel events and pings.
fn kind(name: &str) -> EventKind {
    match name {
        "order.created" | "order.creation_failed" | "order.updated" => EventKind::BookingChanged,
        "order.airline_initiated_change_detected" | "air.order.changed" => {
            EventKind::ItineraryChanged
        }
        "order_cancellation.confirmed" => EventKind::CancellationChanged,
        "payment.created" => EventKind::PaymentChanged,
        name if name.starts_with("air.payment.") => EventKind::PaymentChanged,
        name => EventKind::Irrelevant(name.to_owned()),
    }
}
