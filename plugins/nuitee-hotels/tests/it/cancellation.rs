//! Quote and cancel.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_booking::FindAnswer;
use stopover_sdk::hotel_cancellation::{Quote, RoomReference};
use stopover_sdk::http::{Error, Method};
use stopover_sdk::testing::Gateway;
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::hotel::HotelBookingState;
use stopover_sdk::{ChangeError, HotelBooking, HotelCancellation, ReadError, RefusalReason};

use crate::ask;

fn cancel(gateway: &Gateway) -> Result<HotelBookingState, ChangeError> {
    gateway.run(|| NuiteeHotels::cancel(ask::cancel_request()))
}

fn canceled_booking() -> String {
    ask::fixture("booking.json").replace("\"CONFIRMED\"", "\"CANCELED\"")
}

#[test]
fn a_quote_is_the_freshly_read_policy() {
    let gateway = ask::answering("booking.json");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    let Ok(Quote::Policy(Some(policy))) = quote else {
        panic!("{quote:?}");
    };
    assert_eq!(policy.penalties.len(), 2);
}

#[test]
fn a_policy_that_cannot_be_read_is_said_to_be_missing() {
    let document = ask::fixture("booking.json").replace("RFN", "???");
    let gateway = Gateway::new().answer(200, document);
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert_eq!(quote, Ok(Quote::Policy(None)));
}

#[test]
fn a_quote_of_no_booking_is_not_found_and_a_failed_read_is_no_quote() {
    let gateway = Gateway::new().answer(204, "");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert!(matches!(quote, Err(ReadError::NotFound(_))), "{quote:?}");
    let gateway = Gateway::new().answer(500, "");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert!(matches!(quote, Err(ReadError::Failed(_))), "{quote:?}");
}

#[test]
fn a_cancellation_tells_what_was_kept_and_given_back() {
    let gateway = ask::answering("cancel.json").answer(200, canceled_booking());
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 46050);
    assert!(state.rooms.iter().all(|room| room.canceled) && state.rooms.len() == 2);
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (5000, Some(41050)));
    let requests = gateway.requests();
    assert_eq!(requests[0].method, Method::Put);
    assert_eq!(
        requests[0].url,
        "https://book.liteapi.travel/v3.0/bookings/BK-OWN-1"
    );
    assert_eq!(requests[0].body, None);
}

#[test]
fn the_cancellation_counts_even_when_the_booking_cannot_be_read_or_lags_behind() {
    let gateway = ask::answering("cancel.json").fail(Error::TimedOut("late".into()));
    let state = cancel(&gateway).unwrap();
    assert_eq!(
        (state.status, state.total),
        (BookingStatus::Canceled, 46050)
    );
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));

    let gateway = ask::answering("cancel.json").answer(200, ask::fixture("booking.json"));
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert!(state.rooms.iter().all(|room| room.canceled));
}

#[test]
fn not_modified_is_a_no_unless_the_booking_is_canceled_already() {
    let gateway = Gateway::new()
        .answer(304, "")
        .answer(200, ask::fixture("booking.json"));
    match cancel(&gateway) {
        Err(ChangeError::Refused(refusal)) => {
            assert_eq!(refusal.reason, RefusalReason::NotCancellable);
            assert_eq!(refusal.supplier_code.as_deref(), Some("304"));
        }
        other => panic!("{other:?}"),
    }
    let gateway = Gateway::new()
        .answer(304, "")
        .answer(200, canceled_booking());
    assert_eq!(cancel(&gateway).unwrap().status, BookingStatus::Canceled);
    let gateway = Gateway::new().answer(304, "").answer(500, "");
    assert!(matches!(cancel(&gateway), Err(ChangeError::Unknown(_))));
}

#[test]
fn a_booking_that_does_not_exist_cannot_be_cancelled() {
    let result = cancel(&Gateway::new().answer(204, ""));
    assert!(
        matches!(&result, Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::NotCancellable),
        "{result:?}"
    );
}

#[test]
fn an_answer_that_does_not_say_canceled_is_unknown() {
    let cases = [
        (
            200,
            r#"{"data": {"bookingId": "BK-OWN-1", "status": "CONFIRMED", "currency": "EUR"}}"#,
        ),
        (
            200,
            r#"{"data": {"bookingId": "BK-OWN-1", "currency": "EUR"}}"#,
        ),
        (200, "half a docu"),
        (500, ""),
        (503, "<html>"),
    ];
    for (status, body) in cases {
        let gateway = Gateway::new()
            .answer(status, body)
            .answer(200, ask::fixture("booking.json"));
        let result = cancel(&gateway);
        assert!(
            matches!(result, Err(ChangeError::Unknown(_))),
            "{status} {body}: {result:?}"
        );
    }
}

#[test]
fn single_rooms_are_refused_before_anything_is_sent() {
    let gateway = Gateway::new();
    let mut request = ask::cancel_request();
    request.rooms = vec![RoomReference {
        position: 1,
        supplier_room_reference: None,
    }];
    let result = gateway.run(|| NuiteeHotels::cancel(request));
    assert!(matches!(result, Err(ChangeError::Refused(_))), "{result:?}");
    assert!(gateway.requests().is_empty());
}

#[test]
fn a_canceled_booking_tells_what_it_cost_by_refund_or_by_policy() {
    let at = |cancelled_at: &str, refunded: &str| {
        let document = canceled_booking()
            .replace(
                "\"cancelledAt\": null",
                &format!("\"cancelledAt\": {cancelled_at}"),
            )
            .replace(
                "\"amountRefunded\": 0",
                &format!("\"amountRefunded\": {refunded}"),
            );
        let gateway = Gateway::new().answer(200, document);
        let found = gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-OWN-1"))));
        let Ok(FindAnswer::Found(state)) = found else {
            panic!("{found:?}");
        };
        state
            .cancellation
            .map(|amounts| (amounts.fee, amounts.refund))
    };
    assert_eq!(at("\"2027-05-20T08:00:00\"", "0"), Some((0, None)));
    assert_eq!(at("\"2027-05-25 12:00:00\"", "0"), Some((21040, None)));
    assert_eq!(
        at("\"2027-05-25 12:00:00\"", "400.5"),
        Some((6000, Some(40050)))
    );
    assert_eq!(at("null", "0"), None);
}
