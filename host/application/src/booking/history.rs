//! Statements that store the transitions of a booking, its history and the events for subscribers.

use crate::base::Base;
use crate::booking::aggregate::BookingAggregate;
use host_domain::booking::{Booking, Transition};
use host_domain::id::EventId;
use host_storage::{BookingHistoryEntry, OutboxEvent, ReadBooking, UnitOfWork};

/// Stores the transitions of a booking that was read as `read`. `reason` is the reason of the first transition.
pub fn transition_statements<K: BookingAggregate>(
    base: &Base,
    read: &ReadBooking,
    transitions: &[Transition<Booking<K>>],
    reason: Option<&str>,
    request_id: &str,
) -> UnitOfWork {
    let mut write = base.unit_of_work();
    if let Some(last) = transitions.last() {
        write.update_booking(&last.booking, read);
    }
    append_history_and_events(base, &mut write, transitions, reason, request_id);
    write
}

/// Adds history entries and events for subscribers. `reason` is that of the first transition.
pub fn append_history_and_events<K: BookingAggregate>(
    base: &Base,
    write: &mut UnitOfWork,
    transitions: &[Transition<Booking<K>>],
    reason: Option<&str>,
    request_id: &str,
) {
    let mut reason = reason;
    for transition in transitions {
        let booking = &transition.booking;
        let tenant = &booking.owner.tenant;
        write.append_booking_history(
            tenant,
            &BookingHistoryEntry {
                booking_id: booking.id.clone(),
                sequence: booking.version,
                event: transition.event.to_owned(),
                from_status: Some(transition.from_status.to_owned()),
                to_status: booking.status().as_str().to_owned(),
                reason: reason.take().map(str::to_owned),
                request_id: Some(request_id.to_owned()),
                occurred_at: booking.updated_at,
            },
        );
        for notification in &transition.notifications {
            let id = EventId::from_bits(base.ids.generate());
            let payload = K::event_payload(booking, &id, notification);
            write.publish(
                tenant,
                &OutboxEvent {
                    id,
                    event_type: notification.event_type.as_str().to_owned(),
                    product: K::PRODUCT,
                    booking_id: Some(booking.id.clone()),
                    payload,
                    created_at: booking.updated_at,
                },
            );
        }
    }
}
