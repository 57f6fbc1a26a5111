//! Flight bookings, their offer locks, and the lookups of background work.

use super::*;
use host_domain::booking::{BookingState, BookingStatus};
use host_domain::flight::booking::{FlightBookedState, FlightBooking, FlightBookingDetails};
use host_domain::flight::itinerary::{FareCondition, FareConditions};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::hotel::booking::HotelBookingDetails;
use host_domain::remote_call::RemoteCall;

on_both_databases!(
    flight_booking_is_read_as_stored,
    several_transitions_are_stored_with_the_read_version,
    flight_booking_is_hidden_from_other_owners,
    offer_is_locked_by_one_unfinished_booking,
    concurrent_bookings_of_an_offer_store_one,
    offer_without_exclusive_key_accepts_several_bookings,
    flight_booking_is_found_by_supplier_reference,
    flight_booking_is_found_by_offer,
    hotel_booking_is_found_by_supplier_reference,
);

/// Builds a complete booking. `number` determines its id and its creation time.
pub(super) fn flight(number: u32) -> FlightBooking {
    let at = NOW.plus_ms(i64::from(number));
    let condition = FareCondition {
        allowed: Some(true),
        penalty: Some(euros(5_000)),
    };
    FlightBooking {
        id: BookingId::from_bits(u128::from(number)),
        owner: owner(),
        version: 1,
        supplier: supplier(),
        reference_id: Some("trip".into()),
        supplier_offer: format!("offer {number}"),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: NOW,
        state: BookingState::Created,
        payments: vec![payment()],
        failure: None,
        created_at: at,
        updated_at: at,
        confirmed_at: None,
        canceled_at: None,
        details: FlightBookingDetails {
            exclusive_key: None,
            airline_pnr: None,
            contact: PassengerContact {
                email: "a@example.org".into(),
                phone: "+4912345678".into(),
            },
            travellers: Travellers {
                adults: 1,
                children: vec![7],
                infants: 0,
            },
            passengers: vec![],
            sealed_passenger_data: Some("sealed \u{0} \"ü\"".into()),
            offered_total: euros(10_000),
            ticket_total: None,
            fare: None,
            fare_tax: None,
            fare_conditions: FareConditions {
                refund: condition,
                change: condition,
            },
            journeys: vec![],
            services: vec![],
            purchases: vec![],
            changes: vec![],
            id_sequence: 0,
            cancellation_count: 0,
            cancellation: None,
        },
    }
}

/// Returns a state with the given status.
pub(super) fn state(status: BookingStatus) -> BookingState<FlightBookedState> {
    match status {
        BookingStatus::Created => BookingState::Created,
        BookingStatus::PrebookInProgress => BookingState::PrebookInProgress { started_at: NOW },
        BookingStatus::ReadyForComplete => BookingState::ReadyForComplete,
        BookingStatus::CompleteInProgress => BookingState::CompleteInProgress {
            book: RemoteCall::pending(NOW),
        },
        BookingStatus::Confirmed => {
            BookingState::Booked(FlightBookedState::Confirmed { refresh: None })
        }
        BookingStatus::CancelInProgress => {
            BookingState::Booked(FlightBookedState::CancelInProgress {
                cancel: RemoteCall::pending(NOW),
            })
        }
        BookingStatus::PartiallyCanceled => panic!("a flight booking has no parts"),
        BookingStatus::Canceled => BookingState::Booked(FlightBookedState::Canceled),
        BookingStatus::Failed => BookingState::Failed,
        BookingStatus::Expired => BookingState::Expired,
    }
}

/// Returns the booking after a transition to `status`.
fn moved(booking: &FlightBooking, status: BookingStatus) -> FlightBooking {
    let mut moved = booking.clone();
    moved.version += 1;
    moved.state = state(status);
    moved.updated_at = moved.updated_at.plus_ms(1);
    moved
}

fn inserting(booking: &FlightBooking) -> UnitOfWork {
    let mut write = UnitOfWork::new(NOW);
    write.insert_booking(booking);
    write
}

fn updating(booking: &FlightBooking, read_version: i64) -> UnitOfWork {
    let mut write = UnitOfWork::new(NOW);
    write.update_booking(booking, read_version);
    write
}

async fn flight_booking_is_read_as_stored(db: &TestDatabase) {
    let booking = flight(1);
    assert_eq!(conflict(&db.store, inserting(&booking)).await, None);
    let read = db
        .store
        .booking::<FlightBookingDetails>(&owner(), &booking.id)
        .await;
    assert_eq!(read.unwrap().as_ref(), Some(&booking));
    let mut bound = moved(&booking, BookingStatus::ReadyForComplete);
    bound.details.ticket_total = Some(euros(12_345));
    bound.supplier_reference = Some("Ref ' % _ ü".into());
    assert_eq!(conflict(&db.store, updating(&bound, 1)).await, None);
    let read = db
        .store
        .booking_unscoped::<FlightBookingDetails>(&booking.id)
        .await
        .unwrap();
    assert_eq!(read, Some(bound));
}

async fn several_transitions_are_stored_with_the_read_version(db: &TestDatabase) {
    let booking = flight(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let asked = moved(&booking, BookingStatus::PrebookInProgress);
    let bound = moved(&asked, BookingStatus::ReadyForComplete);
    assert_eq!(conflict(&db.store, updating(&bound, 1)).await, None);
    for read_version in [1, 2] {
        let late = conflict(&db.store, updating(&asked, read_version)).await;
        assert_eq!(late, Some(Conflict::BookingVersion));
    }
    let read = db
        .store
        .booking_unscoped::<FlightBookingDetails>(&booking.id)
        .await
        .unwrap();
    assert_eq!(read, Some(bound));
}

async fn flight_booking_is_hidden_from_other_owners(db: &TestDatabase) {
    let booking = flight(1);
    db.store.commit(inserting(&booking)).await.unwrap();
    let mut strangers = [owner(), owner(), owner()];
    strangers[0].user = "another".into();
    strangers[1].tenant.mode = Mode::Live;
    strangers[2].tenant.organization = "another".into();
    for stranger in strangers {
        let seen = db
            .store
            .booking::<FlightBookingDetails>(&stranger, &booking.id)
            .await;
        assert_eq!(seen.unwrap(), None, "{stranger:?}");
    }
}

/// Builds a booking with a lock on its offer.
fn holding(number: u32) -> FlightBooking {
    let mut booking = flight(number);
    booking.details.exclusive_key = Some("offer request".into());
    booking
}

async fn offer_is_locked_by_one_unfinished_booking(db: &TestDatabase) {
    let first = holding(1);
    assert_eq!(conflict(&db.store, inserting(&first)).await, None);
    for other in [holding(1), holding(2)] {
        let held = conflict(&db.store, inserting(&other)).await;
        assert_eq!(held, Some(Conflict::OfferInUse));
    }
    // These bookings differ in supplier, mode, organization or key, so none is for the same offer.
    let mut elsewhere = [holding(3), holding(4), holding(5), holding(6)];
    elsewhere[0].supplier = SupplierId::parse("SUPPLIER_B").unwrap();
    elsewhere[1].owner.tenant.mode = Mode::Live;
    elsewhere[2].owner.tenant.organization = "another".into();
    elsewhere[3].details.exclusive_key = Some("another".into());
    for other in elsewhere {
        let held = conflict(&db.store, inserting(&other)).await;
        assert_eq!(held, None, "{other:?}");
    }
    // The offer stays locked, for other users too, until the booking is finished.
    let mut stranger = holding(7);
    stranger.owner.user = "another".into();
    let mut booking = first;
    for status in [
        BookingStatus::PrebookInProgress,
        BookingStatus::ReadyForComplete,
        BookingStatus::CompleteInProgress,
        BookingStatus::Failed,
    ] {
        let held = conflict(&db.store, inserting(&stranger)).await;
        assert_eq!(held, Some(Conflict::OfferInUse), "before {status:?}");
        let next = moved(&booking, status);
        let write = updating(&next, booking.version);
        db.store.commit(write).await.unwrap();
        booking = next;
    }
    assert_eq!(conflict(&db.store, inserting(&stranger)).await, None);
}

async fn concurrent_bookings_of_an_offer_store_one(db: &TestDatabase) {
    let takers = (0..16).map(|number| conflict(&db.store, inserting(&holding(number))));
    let mut results = futures::future::join_all(takers).await;
    results.sort_by_key(Option::is_some);
    assert_eq!(results[0], None);
    let lost = |result: &Option<Conflict>| *result == Some(Conflict::OfferInUse);
    assert!(results[1..].iter().all(lost), "{results:?}");
}

async fn offer_without_exclusive_key_accepts_several_bookings(db: &TestDatabase) {
    let mut second = flight(2);
    second.supplier_offer = flight(1).supplier_offer;
    assert_eq!(conflict(&db.store, inserting(&flight(1))).await, None);
    assert_eq!(conflict(&db.store, inserting(&second)).await, None);
    let again = conflict(&db.store, inserting(&second)).await;
    assert_eq!(again, Some(Conflict::BookingExists));
}

async fn flight_booking_is_found_by_supplier_reference(db: &TestDatabase) {
    let find = async |mode, supplier: &SupplierId, reference| {
        let found = db
            .store
            .booking_by_supplier_reference_unscoped::<FlightBookingDetails>(
                mode, supplier, reference,
            )
            .await;
        found.unwrap().map(|booking| booking.id)
    };
    let other = SupplierId::parse("SUPPLIER_B").unwrap();
    for number in 1..=3 {
        let mut booking = flight(number);
        booking.supplier_reference = (number < 3).then(|| "ord_1".into());
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    let newest = Some(BookingId::from_bits(2));
    assert_eq!(find(Mode::Test, &supplier(), "ord_1").await, newest);
    assert_eq!(find(Mode::Test, &supplier(), "ord_2").await, None);
    assert_eq!(find(Mode::Test, &other, "ord_1").await, None);
    assert_eq!(find(Mode::Live, &supplier(), "ord_1").await, None);
}

async fn flight_booking_is_found_by_offer(db: &TestDatabase) {
    let find = async |mode, supplier: &SupplierId, offer: &str| {
        let found = db
            .store
            .flight_booking_by_offer_unscoped(mode, supplier, offer)
            .await;
        found.unwrap().map(|booking| booking.id)
    };
    let other = SupplierId::parse("SUPPLIER_B").unwrap();
    // The maximum length that plugins may use.
    let offer = "ö".repeat(2048);
    for number in 1..=3 {
        let mut booking = flight(number);
        if number < 3 {
            booking.supplier_offer.clone_from(&offer);
        }
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    let newest = Some(BookingId::from_bits(2));
    assert_eq!(find(Mode::Test, &supplier(), &offer).await, newest);
    assert_eq!(find(Mode::Test, &supplier(), &offer[2..]).await, None);
    assert_eq!(find(Mode::Test, &other, &offer).await, None);
    assert_eq!(find(Mode::Live, &supplier(), &offer).await, None);
}

async fn hotel_booking_is_found_by_supplier_reference(db: &TestDatabase) {
    let mut hotel = booking(1);
    hotel.supplier_reference = Some("H-1".into());
    db.store.commit(super::inserting(&hotel)).await.unwrap();
    for (mode, reference, expected) in [
        (Mode::Test, "H-1", Some(hotel.clone())),
        (Mode::Test, "H-2", None),
        (Mode::Live, "H-1", None),
    ] {
        let found = db
            .store
            .booking_by_supplier_reference_unscoped::<HotelBookingDetails>(
                mode,
                &supplier(),
                reference,
            )
            .await;
        assert_eq!(found.unwrap(), expected, "{mode:?} {reference}");
    }
}
