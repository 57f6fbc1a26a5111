//! Prebooking, booking and reading a booking back.

use fake_hotels::FakeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_booking::BookingLookup;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::{HotelBooking, RefusalReason};

use crate::lodge::{
    BOOKING_ID, BOOKING_REF, asked, book_request, edited, error, find_request, fixture, gateway,
    prebook_request,
};

/// Books at Lodge, which returns the fixture with a status and with values replaced.
fn booked(status: u16, edits: &[(&str, Value)]) -> SupplierBooking {
    let gateway = gateway().respond_with(status, edited("booking", edits));
    gateway.run(|| FakeHotels::book(book_request())).unwrap()
}

#[test]
fn prebook_returns_current_price() {
    // The price of these hotels changes between rate and prebook.
    for (hotel, total, expected) in [
        ("OK", "400.00", 40_000),
        ("PRICE_UP", "440.00", 44_000),
        ("PRICE_DOWN", "360.00", 36_000),
    ] {
        let edits = [("/total", json!(total)), ("/hotel/id", json!(hotel))];
        let gateway = gateway().respond_with(201, edited("prebook", &edits));
        let bound = gateway.run(|| FakeHotels::prebook(prebook_request()));
        let bound = bound.unwrap();
        assert_eq!(bound.total, expected, "{hotel}");
        assert_eq!(bound.hotel.supplier_hotel_id, hotel);
    }
}

#[test]
fn prebook_is_fully_converted() {
    let gateway = gateway().respond_with(201, fixture("prebook").to_string());
    let bound = gateway.run(|| FakeHotels::prebook(prebook_request()));
    let bound = bound.unwrap();
    assert_eq!(asked(&gateway), ["POST /lodge/v1/prebooks"]);
    let expected = json!({"rate_id": "rate-ok-ro", "client_ref": BOOKING_REF});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(bound.supplier_prebook, "LPB-100057");
    assert_eq!(bound.currency, "EUR");
    assert_eq!(bound.rooms.len(), 2);
    assert_eq!(bound.rooms[1].total, 20_000);
    assert_eq!(bound.policy.penalties[0].amount, 40_000);
    assert_eq!(bound.expires_at, Some(1_795_259_781_828));
    assert_eq!(bound.checkout, None);
}

#[test]
fn booking_sends_all_guests_and_expected_total() {
    let gateway = gateway().respond_with(201, fixture("booking").to_string());
    gateway.run(|| FakeHotels::book(book_request())).unwrap();
    assert_eq!(asked(&gateway), ["POST /lodge/v1/bookings"]);
    assert_eq!(
        gateway.request_json(0),
        json!({
            "prebook_id": "LPB-100057", "client_ref": BOOKING_REF, "expected_total": "400.00",
            "holder": {"first": "Ann", "last": "Example", "email": "ann@example.com", "phone": "+441727555010"},
            "rooms": [
                {"guests": [
                    {"first": "Ann", "last": "Example", "kind": "adult", "lead": true},
                    {"first": "Bob", "last": "Example", "kind": "child", "age": 7, "lead": false},
                ]},
                {"guests": [{"first": "Cy", "last": "Example", "kind": "adult", "lead": true}]},
            ],
        })
    );
}

#[test]
fn expected_total_has_decimals_of_currency() {
    for (currency, total, expected) in [
        ("JPY", 400, "400"),
        ("KWD", 400_125, "400.125"),
        ("EUR", 5, "0.05"),
    ] {
        let gateway = gateway().respond_with(201, fixture("booking").to_string());
        let mut request = book_request();
        request.currency = currency.to_owned();
        request.total = total;
        // The response is in another currency; only the request matters here.
        let _ = gateway.run(|| FakeHotels::book(request));
        assert_eq!(gateway.request_json(0)["expected_total"], expected);
    }
}

#[test]
fn booking_is_fully_converted() {
    let state = booked(201, &[]);
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, BOOKING_ID);
    assert_eq!(state.client_reference.as_deref(), Some(BOOKING_REF));
    assert_eq!((state.total, state.currency.as_str()), (40_000, "EUR"));
    assert_eq!(state.hotel_confirmation_code.as_deref(), Some("TV100058"));
    assert_eq!(
        state.remarks.as_deref(),
        Some("Check-in from 14:00. Please bring an identity card.")
    );
    let room = &state.rooms[1];
    assert_eq!((room.position, room.canceled), (1, false));
    assert_eq!(room.hotel_confirmation_code.as_deref(), Some("TV10005802"));
    assert!(!state.policy.unwrap().refundable);
    assert_eq!(state.cancellation, None);
}

#[test]
fn every_state_is_converted() {
    for (status, state, expected) in [
        (201, "CONFIRMED", BookingStatus::Confirmed),
        (202, "PENDING", BookingStatus::Pending),
        (200, "PART_CANCELLED", BookingStatus::PartiallyCanceled),
        (200, "CANCELLING", BookingStatus::CancelPending),
        (200, "CANCELLED", BookingStatus::Canceled),
    ] {
        let booked = booked(status, &[("/state", json!(state))]);
        assert_eq!(booked.status, expected, "{state}");
    }
}

#[test]
fn rejected_booking_has_failed_with_any_reason() {
    let other = |text: &str| RefusalReason::Other(text.to_owned());
    for (code, expected) in [
        (Some("BOOKING_REFUSED"), other("booking-refused")),
        (Some("SOLD_OUT"), RefusalReason::Unavailable),
        (Some("NEW_ONE"), other("rejected")),
        (None, other("rejected")),
    ] {
        let reason = code.map(|code| json!({"code": code, "message": "m"}));
        let edits = [
            ("/state", json!("REJECTED")),
            ("/reject_reason", json!(reason)),
        ];
        let gateway = gateway().respond_with(200, edited("booking", &edits));
        let found = gateway.run(|| FakeHotels::find(find_request(Some(BOOKING_ID))));
        let Ok(BookingLookup::Found(state)) = found else {
            panic!("{found:?}");
        };
        let BookingStatus::Failed(refusal) = state.status else {
            panic!("{:?}", state.status);
        };
        assert_eq!(refusal.reason, expected);
        assert_eq!(refusal.supplier_code.as_deref(), code);
    }
}

#[test]
fn only_separable_room_has_reference() {
    for (separable, expected) in [(true, Some("LDG-100058-2")), (false, None)] {
        let state = booked(201, &[("/rooms_separable", json!(separable))]);
        assert_eq!(state.rooms[1].supplier_room_reference.as_deref(), expected);
    }
}

#[test]
fn booking_with_unreadable_terms_is_readable() {
    let charge = |amount: &str| json!([{"from": "2027-01-01T00:00:00Z", "amount": amount}]);
    for (pointer, value) in [
        ("/terms", json!("Please ask at the reception.")),
        ("/terms", Value::Null),
        ("/terms", json!({"refundable": true})),
        ("/terms/charges", charge("a lot")),
        ("/terms/charges", charge("1.005")),
        ("/terms/free_until", json!("soon")),
    ] {
        let state = booked(201, &[(pointer, value.clone())]);
        assert_eq!(state.status, BookingStatus::Confirmed);
        assert_eq!(state.policy, None, "{value}");
    }
}

#[test]
fn booking_is_read_by_id_then_searched_by_client_reference() {
    let booking = fixture("booking");
    let list = |bookings: &[Value]| (200, json!({"bookings": bookings}).to_string());
    let missing = (404, error("NOT_FOUND"));
    let by_id = "GET /lodge/v1/bookings/LDG%201%2F2";
    let search = "GET /lodge/v1/bookings?client_ref=bkg_OK_0";
    let id = Some("LDG 1/2");
    for (id, responses, requests, is_found) in [
        (id, vec![(200, booking.to_string())], vec![by_id], true),
        (id, vec![missing, list(&[])], vec![by_id, search], false),
        (None, vec![list(&[booking])], vec![search], true),
        (None, vec![list(&[])], vec![search], false),
    ] {
        let gateway = gateway().respond_with_each(responses);
        let found = gateway.run(|| FakeHotels::find(find_request(id))).unwrap();
        let found = matches!(found, BookingLookup::Found(_));
        assert_eq!(found, is_found, "{requests:?}");
        assert_eq!(asked(&gateway), requests);
    }
}

#[test]
fn booking_is_not_found_only_by_empty_list() {
    let other = edited("booking", &[("/client_ref", json!("bkg_other"))]);
    let twice = json!({"bookings": [fixture("booking"), fixture("booking")]});
    let others = format!(r#"{{"bookings": [{other}]}}"#);
    for (status, body) in [
        (404, error("NOT_FOUND")),
        (404, String::new()),
        (410, String::new()),
        (200, String::new()),
        (200, "{}".to_owned()),
        (200, "[]".to_owned()),
        (200, twice.to_string()),
        (200, others),
        (500, error("SUPPLIER_FAILURE")),
        (429, error("TOO_MANY_REQUESTS")),
        (401, error("UNAUTHORIZED")),
    ] {
        let gateway = gateway().respond_with(status, &body);
        let response = gateway.run(|| FakeHotels::find(find_request(None)));
        assert!(response.is_err(), "{status} {body}: {response:?}");
    }
    let gateway = gateway().respond_with(200, other);
    let response = gateway.run(|| FakeHotels::find(find_request(Some(BOOKING_ID))));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}
