//! Values of an offer that its prebook does not state again.

use super::*;
use crate::hotel::supplier_api::HotelPrebookResponse;
use crate::hotel::types::{HotelSummary, Location, Loyalty, Promotion};

/// Returns the booking of an offer with a hotel, promotions and a loyalty programme, after this
/// prebook.
fn prebooked(change: impl FnOnce(&mut HotelPrebookResponse)) -> HotelBookingDetails {
    let mut booking = Hotel::created();
    let expires_at = booking.offer_expires_at;
    let details = &mut booking.details;
    details.hotel.time_zone = Some("Europe/Rome".into());
    details.promotions = vec![promotion("Early bird")];
    details.loyalty = Some(loyalty("GENIUS"));
    let mut prebook = Hotel::prebook();
    change(&mut prebook);
    let confirmed = BookingEvent::PrebookConfirmed {
        prebook: Box::new(prebook),
        expires_at,
        payment: None,
    };
    after(booking, [BookingEvent::PrebookStarted, confirmed]).details
}

fn promotion(name: &str) -> Promotion {
    Promotion {
        name: name.into(),
        description: None,
        amount: Some(euros(1_500)),
        room_positions: vec![0],
    }
}

fn loyalty(program: &str) -> Loyalty {
    Loyalty {
        program: program.into(),
        membership_number: None,
        points_estimate: None,
    }
}

#[test]
fn hotel_of_the_offer_is_kept_if_the_prebook_states_only_its_id() {
    let offered = Hotel::created().details.hotel;
    let expected = HotelSummary {
        time_zone: Some("Europe/Rome".into()),
        ..offered.clone()
    };
    for name in ["OK", ""] {
        let unread = HotelSummary {
            name: name.into(),
            address: String::new(),
            location: None,
            ..offered.clone()
        };
        let details = prebooked(|prebook| prebook.hotel = unread);
        assert_eq!(details.hotel, expected, "{name}");
    }
    let moved = HotelSummary {
        name: "Grand Hotel".into(),
        address: "2 Road".into(),
        location: Some(Location {
            latitude: 3.0,
            longitude: 4.0,
        }),
        ..expected
    };
    let details = prebooked(|prebook| prebook.hotel = moved.clone());
    assert_eq!(details.hotel, moved, "what the prebook states counts");
}

#[test]
fn promotions_and_loyalty_of_the_offer_are_kept_if_not_stated_again() {
    let details = prebooked(|_| {});
    assert_eq!(details.promotions, [promotion("Early bird")]);
    assert_eq!(details.loyalty, Some(loyalty("GENIUS")));
    let details = prebooked(|prebook| {
        prebook.promotions = vec![promotion("Last minute")];
        prebook.loyalty = Some(loyalty("REWARDS"));
    });
    assert_eq!(details.promotions, [promotion("Last minute")]);
    assert_eq!(details.loyalty, Some(loyalty("REWARDS")));
}

#[test]
fn name_of_an_offered_room_is_kept_if_not_stated_again() {
    let details = prebooked(|prebook| {
        prebook.rooms[0].name = String::new();
        prebook.rooms[1].name = "Suite".into();
    });
    let names = details.rooms.iter().map(|room| &*room.name);
    assert!(names.eq(["Double", "Suite"]));
}
