//! Bookings of both kinds, their lists, their history and their events.

use super::flight::flight;
use super::*;
use crate::DatabaseError;
use host_domain::booking::BookingStatus;
use host_domain::event::Product;
use host_domain::hotel::booking::HotelBookedState;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::EventId;

on_both_databases!(
    hotel_booking_is_stored_for_its_owner_at_its_version,
    flight_booking_is_stored_for_its_owner_at_its_version,
    hotel_booking_is_found_by_supplier_reference,
    flight_booking_is_found_by_supplier_reference,
    list_is_ordered_by_id_at_equal_times,
    history_and_events_are_stored_atomically_with_booking,
    invalid_document_returns_error,
);

/// Stores a booking and then `changed`, which was read at the first version and made several
/// transitions.
async fn is_stored_at_its_version<K: BookingTable>(
    store: &Store,
    new: &Booking<K>,
    changed: &Booking<K>,
) {
    assert_eq!(conflict(store, inserting(new)).await, None);
    let again = conflict(store, inserting(new)).await;
    assert_eq!(again, Some(Conflict::BookingExists));
    let read = store.booking(&owner(), &new.id).await.unwrap();
    assert_eq!(read.as_ref(), Some(new));
    for stranger in other_owners() {
        let read = store.booking::<K>(&stranger, &new.id).await.unwrap();
        assert_eq!(read, None, "{stranger:?}");
    }
    let change = unit(|write| write.update_booking(changed, &ReadBooking::of(new)));
    assert_eq!(conflict(store, change).await, None);
    for read_version in new.version..changed.version {
        let late = unit(|write| write.update_booking(new, &read_at(read_version)));
        let late = conflict(store, late).await;
        assert_eq!(late, Some(Conflict::BookingVersion));
    }
    let read = stored_booking(store, &new.id).await;
    assert_eq!(read.as_ref(), Some(changed));
}

async fn hotel_booking_is_stored_for_its_owner_at_its_version(db: &TestStore) {
    let mut new = booking(1);
    new.reference_id = Some("Ref ' % _ ü".into());
    let started = moved(&new, BookingState::PrebookInProgress { started_at: NOW });
    let changed = moved(&started, BookingState::ReadyForComplete);
    is_stored_at_its_version(&db.store, &new, &changed).await;
}

async fn flight_booking_is_stored_for_its_owner_at_its_version(db: &TestStore) {
    let new = flight(1);
    let started = moved(&new, BookingState::PrebookInProgress { started_at: NOW });
    let mut changed = moved(&started, BookingState::ReadyForComplete);
    changed.details.ticket_total = Some(euros(12_345));
    changed.supplier_reference = Some("Ref ' % _ ü".into());
    is_stored_at_its_version(&db.store, &new, &changed).await;
}

/// SQLite writes each index of a column that an update names, even if the value stays.
#[test]
fn update_names_only_columns_that_changed() {
    let new = flight(1);
    let started = moved(&new, BookingState::PrebookInProgress { started_at: NOW });
    let mut priced = moved(&started, BookingState::ReadyForComplete);
    priced.details.ticket_total = Some(euros(12_345));
    for (read, changed, expected) in [
        (&started, &started, ""),
        (&started, &priced, ", status = $8, price_sort_key = $9"),
    ] {
        let write = unit(|write| write.update_booking(changed, &ReadBooking::of(read)));
        let sql = &write.statements[0].statement.sql;
        let (_, assignments) = sql.split_once("document = $7").unwrap();
        let (assignments, _) = assignments.split_once(" WHERE").unwrap();
        assert_eq!(assignments, expected);
    }
}

/// Checks that a reference finds the newest of the bookings that have it. The third has none.
async fn newest_is_found_by_supplier_reference<K: BookingTable>(
    store: &Store,
    mut bookings: [Booking<K>; 3],
) {
    for booking in &mut bookings[..2] {
        booking.supplier_reference = Some("ord_1".into());
    }
    for booking in &bookings {
        store.commit(inserting(booking)).await.unwrap();
    }
    for (mode, supplier, reference, expected) in [
        (Mode::Test, supplier(), "ord_1", Some(&bookings[1])),
        (Mode::Test, supplier(), "ord_2", None),
        (Mode::Test, other_supplier(), "ord_1", None),
        (Mode::Live, supplier(), "ord_1", None),
    ] {
        let found = store.booking_by_supplier_reference_unscoped(mode, &supplier, reference);
        let found = found.await.unwrap();
        assert_eq!(found.as_ref(), expected, "{mode:?} {supplier} {reference}");
    }
}

async fn hotel_booking_is_found_by_supplier_reference(db: &TestStore) {
    newest_is_found_by_supplier_reference(&db.store, [1, 2, 3].map(booking)).await;
}

async fn flight_booking_is_found_by_supplier_reference(db: &TestStore) {
    newest_is_found_by_supplier_reference(&db.store, [1, 2, 3].map(flight)).await;
}

/// `tests/it/http/hotel_booking.rs` covers references, pages and other users.
async fn list_is_ordered_by_id_at_equal_times(db: &TestStore) {
    let confirmed = BookingState::Booked(HotelBookedState::Confirmed { refresh: None });
    for number in [2, 1, 3] {
        let mut booking = booking(number);
        booking.created_at = NOW;
        if number != 2 {
            booking.state = confirmed.clone();
        }
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    let list = async |owner: Owner, status| {
        let filter = HotelBookingFilter {
            status,
            reference_id: None,
        };
        let list = db.store.hotel_bookings(&owner, &filter, ALL).await;
        let items = list.unwrap().items.into_iter();
        items.map(|booking| booking.id).collect::<Vec<_>>()
    };
    for (status, expected) in [
        (None, &[3_u32, 2, 1][..]),
        (Some(BookingStatus::Confirmed), &[3, 1]),
    ] {
        let expected = ids(BookingId::from_bits, expected.iter().copied());
        assert_eq!(list(owner(), status).await, expected, "{status:?}");
    }
    for stranger in other_owners() {
        assert_eq!(list(stranger, None).await, []);
    }
}

fn outbox_event(booking: &HotelBooking) -> OutboxEvent {
    OutboxEvent {
        id: EventId::from_bits(booking.version.unsigned_abs().into()),
        event_type: "hotel.booking.created".into(),
        product: Product::Hotel,
        booking_id: Some(booking.id.clone()),
        payload: "{\"n\": 1.10,  \"x\":\"ü\"}".into(),
        created_at: booking.updated_at,
    }
}

async fn history_and_events_are_stored_atomically_with_booking(db: &TestStore) {
    let first = booking(1);
    let second = moved(&first, BookingState::PrebookInProgress { started_at: NOW });
    let entry = |booking: &HotelBooking| BookingHistoryEntry {
        from_status: (booking.version > 1).then(|| "CREATED".into()),
        ..history_entry(booking, booking.version)
    };
    let with_event = |mut write: UnitOfWork, booking: &HotelBooking, event: &HotelBooking| {
        let write = write.append_booking_history(&tenant(), &entry(booking));
        write.publish(&tenant(), &outbox_event(event)).clone()
    };
    let write = with_event(inserting(&first), &first, &first);
    db.store.commit(write).await.unwrap();

    // The last statement fails, so the statements before it must be rolled back.
    let write = with_event(updating(&second), &second, &first);
    let failed = conflict(&db.store, write).await;
    assert_eq!(failed, Some(Conflict::EventExists));
    assert_eq!(stored(&db.store, &first.id).await.as_ref(), Some(&first));

    let write = with_event(updating(&second), &second, &second);
    db.store.commit(write).await.unwrap();
    let entries = history(&db.store, &first.id).await;
    assert_eq!(entries, [entry(&first), entry(&second)]);
    let events = outbox_events(&db.store, &first.id).await;
    assert_eq!(events, [outbox_event(&first), outbox_event(&second)]);

    let again = unit(|write| write.append_booking_history(&tenant(), &entry(&second)));
    let again = conflict(&db.store, again).await;
    assert_eq!(again, Some(Conflict::BookingHistorySequence));
}

async fn invalid_document_returns_error(db: &TestStore) {
    let booking = booking(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let change = statement!("UPDATE hotel_booking SET document = '{}'");
    commit(&db.store, |write| write.add(change)).await;
    let read = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&booking.id);
    assert!(matches!(
        read.await,
        Err(DatabaseError::Decode {
            column: "document",
            ..
        })
    ));
}
