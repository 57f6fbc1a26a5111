//! Cancellation quotes and cancellations.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_booking::BookingLookup;
use stopover_sdk::hotel_cancellation::{Quote, RoomReference};
use stopover_sdk::http::{Error, Method};
use stopover_sdk::testing::Outcome::{Failed, NotFound, Refused, Unknown};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::types::hotel::SupplierBooking;
use stopover_sdk::{ChangeError, HotelBooking, HotelCancellation, RefusalReason};

use crate::ask;

fn cancel(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    gateway.run(|| NuiteeHotels::cancel(ask::cancel_request()))
}

fn canceled_booking() -> String {
    ask::fixture("booking.json").replace("\"CONFIRMED\"", "\"CANCELED\"")
}

#[test]
fn quote_returns_newly_read_policy() {
    let gateway = ask::responding_with("booking.json");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    let Ok(Quote::Policy(Some(policy))) = quote else {
        panic!("{quote:?}");
    };
    assert_eq!(policy.penalties.len(), 2);
}

#[test]
fn quote_with_unreadable_policy_has_no_policy() {
    let document = ask::fixture("booking.json").replace("RFN", "???");
    let gateway = MockGateway::new().respond_with(200, document);
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert_eq!(quote, Ok(Quote::Policy(None)));
}

#[test]
fn quote_without_booking_is_not_found_and_failed_read_is_error() {
    let gateway = MockGateway::new().respond_with(204, "");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert_eq!(outcome(&quote), NotFound, "{quote:?}");
    let gateway = MockGateway::new().respond_with(500, "");
    let quote = gateway.run(|| NuiteeHotels::quote_cancellation(ask::quote_request()));
    assert_eq!(outcome(&quote), Failed, "{quote:?}");
}

#[test]
fn cancellation_returns_fee_and_refund() {
    let gateway = ask::responding_with("cancel.json").respond_with(200, canceled_booking());
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
fn cancellation_succeeds_when_booking_is_unreadable_or_outdated() {
    let gateway = ask::responding_with("cancel.json").fail_with(Error::TimedOut("late".into()));
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 46050);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));

    let gateway =
        ask::responding_with("cancel.json").respond_with(200, ask::fixture("booking.json"));
    let state = cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert!(state.rooms.iter().all(|room| room.canceled));
}

#[test]
fn not_modified_is_refusal_unless_booking_is_canceled() {
    let gateway = MockGateway::new()
        .respond_with(304, "")
        .respond_with(200, ask::fixture("booking.json"));
    match cancel(&gateway) {
        Err(ChangeError::Refused(refusal)) => {
            assert_eq!(refusal.reason, RefusalReason::NotCancellable);
            assert_eq!(refusal.supplier_code.as_deref(), Some("304"));
        }
        other => panic!("{other:?}"),
    }
    let gateway = MockGateway::new()
        .respond_with(304, "")
        .respond_with(200, canceled_booking());
    assert_eq!(cancel(&gateway).unwrap().status, BookingStatus::Canceled);
    let gateway = MockGateway::new()
        .respond_with(304, "")
        .respond_with(500, "");
    assert_eq!(outcome(&cancel(&gateway)), Unknown);
}

#[test]
fn cancellation_of_missing_booking_is_refused() {
    let result = cancel(&MockGateway::new().respond_with(204, ""));
    assert_eq!(outcome(&result), Refused("not cancellable"), "{result:?}");
}

#[test]
fn cancellation_without_canceled_status_is_unknown() {
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
        let gateway = MockGateway::new()
            .respond_with(status, body)
            .respond_with(200, ask::fixture("booking.json"));
        let result = cancel(&gateway);
        assert_eq!(outcome(&result), Unknown, "{status} {body}: {result:?}");
    }
}

#[test]
fn cancellation_of_single_room_is_refused_without_request() {
    let gateway = MockGateway::new();
    let mut request = ask::cancel_request();
    request.rooms = vec![RoomReference {
        position: 1,
        supplier_room_reference: None,
    }];
    let result = gateway.run(|| NuiteeHotels::cancel(request));
    assert_eq!(outcome(&result), Refused("not cancellable"), "{result:?}");
    assert!(gateway.requests().is_empty());
}

#[test]
fn canceled_booking_has_amounts_from_refund_or_policy() {
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
        let gateway = MockGateway::new().respond_with(200, document);
        let found = gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-OWN-1"))));
        let Ok(BookingLookup::Found(state)) = found else {
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
