//! Tests of what is left out of a response, and of the rules of offers and policies.

use super::*;
use crate::convert::tests::{
    NOW, booked, euros, expected, offer, rejected, request, response, terms,
};

#[test]
fn invalid_offer_is_dropped_and_the_others_are_kept() {
    let with_total = |total| hotel_pricing::Offer { total, ..offer() };
    let mut expired = offer();
    expired.expires_at = Some(1);
    let mut dropped = DroppedItems::default();
    let read = |offers, dropped: &mut DroppedItems| {
        let mut request = request();
        request.max_offers_per_hotel = 5;
        price_response(response(offers), request, NOW, dropped)
    };
    let offers = vec![with_total(0), offer(), expired.clone(), with_total(-1)];
    let read_offers = read(offers, &mut dropped).unwrap().hotels.remove(0).offers;
    assert_eq!(read_offers.len(), 1);
    let counts = dropped.count_by_field();
    assert_eq!(counts, [("offers.total", 2), ("offers.expires-at", 1)]);
    assert_eq!(
        dropped.first_reasons(),
        "offers.total: a price of zero; offers.expires-at: not in the future; \
         offers.total: a negative amount"
    );
    // If nothing is left, the response did not find nothing: it cannot be used.
    let nothing_left = read(vec![expired], &mut DroppedItems::default());
    assert_eq!(rejected(nothing_left), "offers.expires-at");
    let nothing_sent = read(Vec::new(), &mut DroppedItems::default());
    assert!(nothing_sent.unwrap().hotels[0].offers.is_empty());
}

#[test]
fn amounts_of_rooms_may_differ_from_the_total_by_their_rounding() {
    let mut rounded = offer();
    rounded.rooms[0].total = 12_001;
    rounded.policy.penalties[0].amount = 12_001;
    rounded.rooms[0].policy.penalties[0].amount = 12_002;
    let read = |offer| {
        let dropped = &mut DroppedItems::default();
        price_response(response(vec![offer]), request(), NOW, dropped)
    };
    assert!(read(rounded.clone()).is_ok());
    // A free period that is over does not contradict a policy that is not refundable.
    rounded.policy.refundable = false;
    rounded.policy.free_until = Some(NOW.0);
    assert!(read(rounded).is_ok());
}

/// While a booking is being booked, a lookup must find what the response to `book` would contain.
#[test]
fn found_booking_has_the_requested_rooms_and_currency() {
    let request = FindRequest {
        client_reference: "hbk_1".to_owned(),
        supplier_reference: None,
        supplier_prebook: None,
        since: NOW,
    };
    let read = |state, currency, rooms| {
        let expected = HotelFindExpectation { currency, rooms };
        let expected = HotelBookingExpectation::for_find(&request, expected);
        let found = hotel_booking::BookingLookup::Found(state);
        booking_lookup(found, &expected, NOW, &mut DroppedItems::default())
    };
    let in_part = |positions, is_first_canceled| {
        let mut state = booked(positions);
        state.status = types::BookingStatus::PartiallyCanceled;
        state.rooms[0].canceled = is_first_canceled;
        state
    };
    let asked = |state| read(state, Some(euros()), Some(2));
    assert!(asked(booked(&[0, 1])).is_ok());
    assert!(asked(in_part(&[0, 1], true)).is_ok());
    for (state, field) in [
        (booked(&[]), "rooms"),
        (booked(&[1]), "rooms"),
        (booked(&[0, 2]), "rooms.position"),
        (in_part(&[0], true), "rooms"),
        (in_part(&[0, 1], false), "rooms.canceled"),
    ] {
        assert_eq!(rejected(asked(state)), field);
    }
    let other_currency = read(booked(&[0, 1]), Some(Currency::USD), Some(2));
    assert_eq!(rejected(other_currency), "currency");
    // A booking that is read again later may have fewer rooms, but a cancelled one is named.
    assert!(read(booked(&[]), None, None).is_ok());
    assert!(read(in_part(&[0], true), None, None).is_ok());
    assert_eq!(
        rejected(read(in_part(&[0], false), None, None)),
        "rooms.canceled"
    );
}

#[test]
fn invalid_room_reference_never_rejects_a_booking() {
    let asked = expected(Some("b1"), Some(euros()), Some(2));
    for reference in ["R1\nR2", "R1\0", &"x".repeat(257)] {
        let mut state = booked(&[0, 1]);
        state.rooms[0].supplier_room_reference = Some(reference.to_owned());
        state.rooms[1].supplier_room_reference = Some("R2".to_owned());
        let mut dropped = DroppedItems::default();
        let read = supplier_booking(state, &asked, NOW, &mut dropped).unwrap();
        assert_eq!(read.status, SupplierBookingStatus::Confirmed);
        let references = read.rooms.iter();
        let references: Vec<Option<&str>> = references
            .map(|room| room.supplier_room_reference.as_deref())
            .collect();
        assert_eq!(references, [None, Some("R2")], "{reference}");
        let counts = dropped.count_by_field();
        assert_eq!(counts, [("rooms.supplier-room-reference", 1)]);
    }
}

#[test]
fn invalid_policy_or_amounts_never_reject_a_booking() {
    let asked = expected(Some("b1"), Some(euros()), Some(1));
    let terms = |amount| {
        let mut terms = terms();
        terms.penalties[0].amount = amount;
        terms
    };
    let state = |amount, fee| wire::SupplierBooking {
        policy: Some(terms(amount)),
        cancellation: Some(wire::CancellationAmounts {
            fee,
            refund: None,
            currency: "EUR".to_owned(),
            supplier_reference: None,
        }),
        total: 600,
        ..booked(&[0])
    };
    for (amount, fee, fields) in [
        (600, 1, &[][..]),
        (602, 1, &[("policy.penalties.amount", 1)]),
        (600, -1, &[("cancellation.fee", 1)]),
    ] {
        let mut dropped = DroppedItems::default();
        let read = supplier_booking(state(amount, fee), &asked, NOW, &mut dropped).unwrap();
        assert_eq!(dropped.count_by_field(), fields);
        assert_eq!(read.status, SupplierBookingStatus::Confirmed);
        assert_eq!(
            (read.policy.is_some(), read.cancellation.is_some()),
            (amount == 600, fee == 1)
        );
        assert_eq!(read.has_unreadable_amounts, fee != 1);
    }
    // The total of a booking that is cancelled in part may be smaller than its penalties.
    let mut in_part = wire::SupplierBooking {
        status: types::BookingStatus::PartiallyCanceled,
        ..state(602, 1)
    };
    in_part.rooms[0].canceled = true;
    let mut dropped = DroppedItems::default();
    let read = supplier_booking(in_part, &asked, NOW, &mut dropped).unwrap();
    assert!(read.policy.is_some() && dropped.len() == 0);
    let mut contradictory = terms(600);
    contradictory.refundable = false;
    let policy = hotel_cancellation::Quote::Policy(Some(contradictory));
    let booked = (Money::new(600, euros()), 1);
    let read = quote(policy, booked, NOW, &mut dropped).unwrap();
    assert_eq!((read, dropped.len()), (HotelSupplierQuote::Policy(None), 1));
}

/// A penalty in another unit than the total would be stored, and charged by a cancellation.
#[test]
fn quoted_policy_with_penalty_above_the_total_is_left_out() {
    let mut terms = terms();
    terms.penalties[0].amount = 600;
    for (total, rooms, is_kept) in [
        (600, 1, true),
        (599, 1, true),
        (598, 2, true),
        (598, 1, false),
    ] {
        let mut dropped = DroppedItems::default();
        let policy = hotel_cancellation::Quote::Policy(Some(terms.clone()));
        let booked = (Money::new(total, euros()), rooms);
        let read = quote(policy, booked, NOW, &mut dropped).unwrap();
        let HotelSupplierQuote::Policy(policy) = read else {
            panic!("{read:?}")
        };
        assert_eq!(policy.is_some(), is_kept, "{total} for {rooms}");
        let fields: &[(&str, u64)] = match is_kept {
            true => &[],
            false => &[("policy.penalties.amount", 1)],
        };
        assert_eq!(dropped.count_by_field(), fields, "{total} for {rooms}");
    }
}
