//! Quotes and cancellations.

use fake_hotels::FakeHotels;
use serde_json::{Value, json};
use stopover_sdk::HotelCancellation;
use stopover_sdk::hotel_cancellation::Quote;
use stopover_sdk::testing::{Outcome::Failed, outcome};
use stopover_sdk::types::BookingStatus;

use crate::lodge::{
    BOOKING_REF, asked, cancel_request, edited, error, fixture, gateway, quote_request,
};

/// End of free cancellation: 2027-02-27T14:00:00Z.
const FREE_UNTIL: i64 = 1_803_736_800_000;

#[test]
fn quote_returns_preview() {
    let gateway = gateway().respond_with(200, fixture("preview").to_string());
    let quote = gateway.run(|| FakeHotels::quote_cancellation(quote_request()));
    let Ok(Quote::Preview(preview)) = quote else {
        panic!("{quote:?}");
    };
    let request = "GET /lodge/v1/bookings/LDG-100058/cancel-preview";
    assert_eq!(asked(&gateway), [request]);
    assert_eq!((preview.fee, preview.refund), (2_500, Some(23_500)));
    assert_eq!(preview.currency, "EUR");
    assert_eq!(preview.free_until, Some(FREE_UNTIL));
}

#[test]
fn quote_without_preview_returns_newly_read_terms() {
    let edits = [("/client_ref", json!(BOOKING_REF))];
    let gateway = gateway()
        .respond_with(404, error("PREVIEW_NOT_OFFERED"))
        .respond_with(200, edited("booking-restricted", &edits));
    let quote = gateway.run(|| FakeHotels::quote_cancellation(quote_request()));
    let Ok(Quote::Policy(Some(policy))) = quote else {
        panic!("{quote:?}");
    };
    assert_eq!(asked(&gateway)[1], "GET /lodge/v1/bookings/LDG-100058");
    assert!(policy.refundable);
    assert_eq!(policy.free_until, Some(FREE_UNTIL));
    assert_eq!(policy.penalties[0].amount, 26_000);
    let [restriction] = policy.restrictions.as_slice() else {
        panic!("{:?}", policy.restrictions);
    };
    assert_eq!(restriction.code, "NO_CANCELLATION");
    assert_eq!(restriction.active_from, Some(1_795_257_981_105));
    assert_eq!(restriction.active_until, None);
}

#[test]
fn quote_with_unreadable_terms_has_no_policy() {
    for terms in [
        json!("Please ask."),
        Value::Null,
        json!({"refundable": "no"}),
    ] {
        let gateway = gateway()
            .respond_with(404, error("PREVIEW_NOT_OFFERED"))
            .respond_with(200, edited("booking", &[("/terms", terms.clone())]));
        let quote = gateway.run(|| FakeHotels::quote_cancellation(quote_request()));
        assert_eq!(quote, Ok(Quote::Policy(None)), "{terms}");
    }
}

#[test]
fn failed_reading_of_terms_is_error() {
    let gateway = gateway()
        .respond_with(404, error("PREVIEW_NOT_OFFERED"))
        .respond_with(500, error("SUPPLIER_FAILURE"));
    let quote = gateway.run(|| FakeHotels::quote_cancellation(quote_request()));
    assert_eq!(outcome(&quote), Failed, "{quote:?}");
}

#[test]
fn cancellation_sends_room_numbers_or_none_for_all() {
    let reference = format!("{BOOKING_REF}-cancel-1");
    let request = "POST /lodge/v1/bookings/LDG-100058/cancel";
    let all = json!({"client_ref": reference});
    let second = json!({"client_ref": reference, "rooms": [2]});
    let two = json!({"client_ref": reference, "rooms": [1, 9]});
    for (positions, expected) in [(vec![], all), (vec![1], second), (vec![0, 8], two)] {
        let gateway = gateway().respond_with(200, edited("booking", &[]));
        let state = gateway.run(|| FakeHotels::cancel(cancel_request(&positions)));
        assert!(state.is_ok(), "{state:?}");
        assert_eq!(asked(&gateway), [request]);
        assert_eq!(gateway.request_json(0), expected);
    }
}

#[test]
fn cancellation_returns_fee_and_refund() {
    let done = json!({"ref": "LCX-100059", "fee": "25.00", "refund": "175.00", "at": "2026-11-21T10:46:21.829Z"});
    let edits = [
        ("/state", json!("PART_CANCELLED")),
        ("/rooms/1/cancelled", json!(true)),
        ("/cancellation", done),
    ];
    let gateway = gateway().respond_with(200, edited("booking", &edits));
    let state = gateway.run(|| FakeHotels::cancel(cancel_request(&[1])));
    let state = state.unwrap();
    assert_eq!(state.status, BookingStatus::PartiallyCanceled);
    let canceled: Vec<_> = state.rooms.iter().map(|room| room.canceled).collect();
    assert_eq!(canceled, [false, true]);
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (2_500, Some(17_500)));
    assert_eq!(amounts.currency, "EUR");
    assert_eq!(amounts.supplier_reference.as_deref(), Some("LCX-100059"));
}
