//! Hotel bookings, their history and their subscriber events.

use super::*;
use crate::{BookingHistoryEntry, OutboxEvent};
use host_domain::booking::{BookingState, BookingStatus};
use host_domain::event::Product;
use host_domain::hotel::booking::{HotelBookedState, HotelBooking, HotelBookingDetails};
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::EventId;
use host_domain::page::PageRequest;

on_both_databases!(
    booking_is_read_as_stored,
    second_insert_of_booking_fails,
    second_update_of_a_version_fails,
    concurrent_updates_of_a_version_store_one,
    booking_is_hidden_from_other_owners,
    list_is_newest_first_with_has_more_flag,
    list_and_count_apply_filters,
    history_and_events_are_stored_atomically_with_booking,
    invalid_document_returns_error,
);

async fn booking_is_read_as_stored(db: &TestDatabase) {
    let mut booking = booking(1);
    booking.reference_id = Some("Ref ' % _ ü".into());
    assert_eq!(conflict(&db.store, inserting(&booking)).await, None);
    let read = db
        .store
        .booking::<HotelBookingDetails>(&owner(), &booking.id)
        .await
        .unwrap();
    assert_eq!(read.as_ref(), Some(&booking));
    let moved = moved(
        &booking,
        BookingState::PrebookInProgress { started_at: NOW },
    );
    assert_eq!(conflict(&db.store, updating(&moved)).await, None);
    let read = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&booking.id)
        .await
        .unwrap();
    assert_eq!(read.as_ref(), Some(&moved));
}

async fn second_insert_of_booking_fails(db: &TestDatabase) {
    let booking = booking(1);
    assert_eq!(conflict(&db.store, inserting(&booking)).await, None);
    let again = conflict(&db.store, inserting(&booking)).await;
    assert_eq!(again, Some(Conflict::BookingExists));
}

async fn second_update_of_a_version_fails(db: &TestDatabase) {
    let booking = booking(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let first = moved(&booking, BookingState::ReadyForComplete);
    let second = moved(&booking, BookingState::Failed);
    assert_eq!(conflict(&db.store, updating(&first)).await, None);
    let late = conflict(&db.store, updating(&second)).await;
    assert_eq!(late, Some(Conflict::BookingVersion));
    let read = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&booking.id)
        .await
        .unwrap();
    assert_eq!(read, Some(first));
}

async fn concurrent_updates_of_a_version_store_one(db: &TestDatabase) {
    let booking = booking(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let moved = moved(&booking, BookingState::ReadyForComplete);
    let results =
        futures::future::join_all((0..32).map(|_| conflict(&db.store, updating(&moved)))).await;
    let written = results.iter().filter(|result| result.is_none()).count();
    assert_eq!(written, 1);
}

async fn booking_is_hidden_from_other_owners(db: &TestDatabase) {
    let booking = booking(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let mut strangers = [owner(), owner(), owner()];
    strangers[0].user = "another".into();
    strangers[1].tenant.mode = Mode::Live;
    strangers[2].tenant.organization = "another".into();
    for stranger in strangers {
        let seen = db
            .store
            .booking::<HotelBookingDetails>(&stranger, &booking.id)
            .await;
        assert_eq!(seen.unwrap(), None, "{stranger:?}");
        let page = PageRequest {
            limit: 10,
            offset: 0,
        };
        let filter = HotelBookingFilter::default();
        let list = db.store.hotel_bookings(&stranger, &filter, page).await;
        assert_eq!(list.unwrap().items, []);
    }
}

async fn list_is_newest_first_with_has_more_flag(db: &TestDatabase) {
    // Two bookings have the same creation time, so their ids determine the order.
    let mut bookings: Vec<HotelBooking> = (1..=5).map(booking).collect();
    bookings[3].created_at = bookings[4].created_at;
    for booking in &bookings {
        db.store.commit(inserting(booking)).await.unwrap();
    }
    let filter = HotelBookingFilter::default();
    for (limit, offset, expected, more) in [
        (2, 0, &[5, 4][..], true),
        (2, 2, &[3, 2], true),
        (2, 4, &[1], false),
        (3, 2, &[3, 2, 1], false),
        (5, 0, &[5, 4, 3, 2, 1], false),
        (2, 5, &[], false),
    ] {
        let page = PageRequest { limit, offset };
        let list = db.store.hotel_bookings(&owner(), &filter, page).await;
        let list = list.unwrap();
        let ids: Vec<_> = list.items.into_iter().map(|booking| booking.id).collect();
        let expected: Vec<_> = expected.iter().map(|n| BookingId::from_bits(*n)).collect();
        assert_eq!((ids, list.has_more), (expected, more), "{page:?}");
    }
}

async fn list_and_count_apply_filters(db: &TestDatabase) {
    for number in 1..=6 {
        let mut booking = booking(number);
        if number % 2 == 0 {
            booking.state = BookingState::Booked(HotelBookedState::Confirmed { refresh: None });
        }
        if number > 3 {
            booking.reference_id = Some("trip".into());
        }
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    for (status, reference, expected) in [
        (None, None, &[6, 5, 4, 3, 2, 1][..]),
        (Some(BookingStatus::Confirmed), None, &[6, 4, 2]),
        (None, Some("trip"), &[6, 5, 4]),
        (None, Some("Trip"), &[]),
        (Some(BookingStatus::Confirmed), Some("trip"), &[6, 4]),
        (Some(BookingStatus::Failed), None, &[]),
    ] {
        let filter = HotelBookingFilter {
            status,
            reference_id: reference.map(str::to_owned),
        };
        let page = PageRequest {
            limit: 100,
            offset: 0,
        };
        let list = db.store.hotel_bookings(&owner(), &filter, page).await;
        let ids = list.unwrap().items.into_iter().map(|booking| booking.id);
        let expected: Vec<_> = expected.iter().map(|n| BookingId::from_bits(*n)).collect();
        assert_eq!(ids.collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

fn history(booking: &HotelBooking) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id.clone(),
        sequence: booking.version,
        event: "prebook_started".into(),
        from_status: (booking.version > 1).then(|| "CREATED".into()),
        to_status: booking.status().as_str().into(),
        reason: None,
        request_id: Some("req".into()),
        occurred_at: booking.updated_at,
    }
}

fn outbox(booking: &HotelBooking) -> OutboxEvent {
    let version = u128::try_from(booking.version).unwrap();
    OutboxEvent {
        id: EventId::from_bits(version),
        event_type: "hotel.booking.created".into(),
        product: Product::Hotel,
        booking_id: Some(booking.id.clone()),
        payload: "{\"n\": 1.10,  \"x\":\"ü\"}".into(),
        created_at: booking.updated_at,
    }
}

async fn history_and_events_are_stored_atomically_with_booking(db: &TestDatabase) {
    let first = booking(1);
    let second = moved(&first, BookingState::PrebookInProgress { started_at: NOW });
    let mut write = inserting(&first);
    write
        .append_booking_history(&tenant(), &history(&first))
        .publish(&tenant(), &outbox(&first));
    db.store.commit(write).await.unwrap();

    // The last statement fails, so the statements before it must be rolled back.
    let mut write = updating(&second);
    write
        .append_booking_history(&tenant(), &history(&second))
        .publish(&tenant(), &outbox(&first));
    let failed = conflict(&db.store, write).await;
    assert_eq!(failed, Some(Conflict::EventExists));
    let stored = db
        .store
        .booking_unscoped::<HotelBookingDetails>(&first.id)
        .await
        .unwrap();
    assert_eq!(stored.as_ref(), Some(&first));

    let mut write = updating(&second);
    write
        .append_booking_history(&tenant(), &history(&second))
        .publish(&tenant(), &outbox(&second));
    db.store.commit(write).await.unwrap();
    let events = db
        .store
        .booking_history(&tenant(), &first.id)
        .await
        .unwrap();
    assert_eq!(events, [history(&first), history(&second)]);
    let told = db.store.outbox_events(&tenant(), &first.id).await.unwrap();
    assert_eq!(told, [outbox(&first), outbox(&second)]);

    let mut write = UnitOfWork::new(NOW);
    write.append_booking_history(&tenant(), &history(&second));
    let again = conflict(&db.store, write).await;
    assert_eq!(again, Some(Conflict::BookingHistorySequence));
}

async fn invalid_document_returns_error(db: &TestDatabase) {
    let booking = booking(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let mut write = UnitOfWork::new(NOW);
    write.add(crate::statement::statement!(
        "UPDATE hotel_booking SET document = '{}'"
    ));
    db.store.commit(write).await.unwrap();
    let read = db
        .store
        .booking::<HotelBookingDetails>(&owner(), &booking.id)
        .await;
    assert!(matches!(
        read,
        Err(crate::DatabaseError::Decode {
            column: "document",
            ..
        })
    ));
}
