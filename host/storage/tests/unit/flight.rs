//! Offer locks of flight bookings, and the lookup by offer.

use super::*;
use host_domain::booking::BookingStatus;
use host_domain::flight::TicketDetails;
use host_domain::flight::booking::{FlightBookedState, FlightBooking, FlightBookingDetails};
use host_domain::flight::itinerary::{FareCondition, FareConditions};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::remote_call::RemoteCall;

on_both_databases!(
    offer_is_locked_by_one_unfinished_booking,
    concurrent_bookings_of_an_offer_store_one,
    flight_booking_is_found_by_offer,
);

pub(super) fn flight(number: u32) -> FlightBooking {
    let condition = FareCondition {
        allowed: Some(true),
        penalty: Some(euros(5_000)),
    };
    let details = FlightBookingDetails {
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
        ticket: TicketDetails::default(),
        journeys: vec![],
        services: vec![],
        purchases: vec![],
        changes: vec![],
        id_sequence: 0,
        cancellation_count: 0,
        cancellation: None,
    };
    booking_of(number, details)
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
                requested_at: NOW,
                cancel: RemoteCall::pending(NOW),
            })
        }
        BookingStatus::PartiallyCanceled => panic!("a flight booking has no parts"),
        BookingStatus::Canceled => BookingState::Booked(FlightBookedState::Canceled),
        BookingStatus::Failed => BookingState::Failed { absence: None },
        BookingStatus::Expired => BookingState::Expired,
    }
}

/// Builds a booking with a lock on its offer.
fn holding(number: u32) -> FlightBooking {
    let mut booking = flight(number);
    booking.details.exclusive_key = Some("offer request".into());
    booking
}

async fn offer_is_locked_by_one_unfinished_booking(db: &TestStore) {
    let first = holding(1);
    assert_eq!(conflict(&db.store, inserting(&first)).await, None);
    for other in [holding(1), holding(2)] {
        let held = conflict(&db.store, inserting(&other)).await;
        assert_eq!(held, Some(Conflict::OfferInUse));
    }
    // These bookings differ in supplier, mode, organization or key, so none is for the same offer.
    let mut elsewhere = [holding(3), holding(4), holding(5), holding(6)];
    elsewhere[0].supplier = other_supplier();
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
        booking = moved(&booking, state(status));
        db.store.commit(updating(&booking)).await.unwrap();
    }
    assert_eq!(conflict(&db.store, inserting(&stranger)).await, None);
}

async fn concurrent_bookings_of_an_offer_store_one(db: &TestStore) {
    let bookings = (0..16).map(|number| inserting(&holding(number)));
    one_is_stored(db, bookings.collect(), Conflict::OfferInUse).await;
}

async fn flight_booking_is_found_by_offer(db: &TestStore) {
    // The maximum length that plugins may use. Without an exclusive key, an offer is not locked.
    let offer = "ö".repeat(2048);
    for number in 1..=3 {
        let mut booking = flight(number);
        if number < 3 {
            booking.supplier_offer.clone_from(&offer);
        }
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    let newest = Some(BookingId::from_bits(2));
    for (mode, supplier, offer, expected) in [
        (Mode::Test, supplier(), &*offer, newest),
        (Mode::Test, supplier(), &offer[2..], None),
        (Mode::Test, other_supplier(), &offer, None),
        (Mode::Live, supplier(), &offer, None),
    ] {
        let found = db
            .store
            .flight_booking_by_offer_unscoped(mode, &supplier, offer);
        let found = found.await.unwrap().map(|booking| booking.id);
        assert_eq!(found, expected, "{mode:?} {supplier}");
    }
}
