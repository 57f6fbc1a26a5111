//! Meaning of webhook deliveries.

use stopover_sdk::supplier_events::{Event, EventKind};
use stopover_sdk::time;

use crate::map::order::ORDER_ID;
use crate::wire::{self, OptionalText};

/// Converts an event. Returns `None` if it has no id, because repeated deliveries could then not be
/// recognized.
pub(crate) fn event(written: wire::event::Event) -> Option<Event> {
    let data = written.data.decoded().unwrap_or_default();
    let object = data.object.decoded().unwrap_or_default();
    let metadata = object.metadata.decoded().unwrap_or_default();
    let is_order = |id: &String| id.starts_with(ORDER_ID);
    let about = [object.order_id, object.id, written.about];
    Some(Event {
        id: written.id.into_option()?,
        kind: kind(written.kind.as_str()),
        supplier_reference: about
            .into_iter()
            .filter_map(OptionalText::into_option)
            .find(is_order),
        client_reference: metadata.gateway_booking_id.into_option(),
        supplier_offer: object.offer_id.into_option(),
        occurred_at: written
            .created_at
            .as_deref()
            .and_then(time::parse_timestamp),
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
