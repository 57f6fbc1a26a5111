//! Cancellation quotes and cancellations.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_cancellation::{Quote, RoomReference};
use stopover_sdk::http::Error;
use stopover_sdk::testing::Outcome::{
    Failed, InvalidResponse, NotFound, RateLimited, Refused, Rejected, Unknown,
};
use stopover_sdk::testing::{MockGateway, outcome, refusal};
use stopover_sdk::types::BookingStatus;
use stopover_sdk::{HotelCancellation, RefusalReason};

use crate::ask;

fn canceled_booking() -> String {
    ask::fixture("booking.json").replace("\"CONFIRMED\"", "\"CANCELED\"")
}

#[test]
fn quote_returns_newly_read_policy() {
    let quote = ask::quote(&ask::fixtures(&["booking.json"]));
    let Ok(Quote::Policy(Some(policy))) = quote else {
        panic!("{quote:?}");
    };
    assert_eq!(policy.penalties.len(), 2);
}

#[test]
fn quote_with_unreadable_policy_has_no_policy() {
    let document = ask::fixture("booking.json").replace("RFN", "???");
    let quote = ask::quote(&MockGateway::new().respond_with(200, document));
    assert_eq!(quote, Ok(Quote::Policy(None)));
}

#[test]
fn quote_without_booking_is_not_found_and_failed_read_is_error() {
    for (status, expected) in [(204, NotFound), (500, Failed)] {
        let quote = ask::quote(&MockGateway::new().respond_with(status, ""));
        assert_eq!(outcome(&quote), expected, "{quote:?}");
    }
}

#[test]
fn quote_of_canceled_booking_is_rejected() {
    let charged = "CANCELLED_WITH_CHARGES";
    for status in ["CANCELED", "CANCELLED", "cancelled", charged] {
        let document = ask::fixture("booking.json").replace("CONFIRMED", status);
        let quote = ask::quote(&MockGateway::new().respond_with(200, &document));
        let expected = Rejected("not cancellable");
        assert_eq!(outcome(&quote), expected, "{status}: {quote:?}");
        // The booking of another client says nothing about this one.
        let other = document.replace("bkg_own_1", "bkg_own_2");
        let quote = ask::quote(&MockGateway::new().respond_with(200, other));
        assert_eq!(outcome(&quote), InvalidResponse, "{status}: {quote:?}");
    }
}

/// The codes of a prebook or a booking say nothing about a cancellation.
#[test]
fn only_documented_refusals_of_a_cancellation_refuse_it() {
    let cancel = |code: u32, description: &str, status: u16| {
        let error = format!(r#"{{"error": {{"code": {code}, "description": "{description}"}}}}"#);
        outcome(&ask::cancel(&MockGateway::with_responses(&[(
            status, &error,
        )])))
    };
    let not_associated = "prebookId is not associated with the transaction";
    for (code, description) in [
        (2001, ""),
        (2010, ""),
        (2013, ""),
        (2014, "payment not completed"),
        (2014, not_associated),
        (4004, ""),
        (4005, ""),
        (4010, ""),
        (4016, ""),
        (4040, ""),
        (5000, "refund payment failed"),
    ] {
        for status in [200, 400, 401, 404, 408, 409, 422, 500] {
            let found = cancel(code, description, status);
            assert_eq!(found, Unknown, "{code} {description} {status}");
        }
    }
    for (code, status, expected) in [
        (401, 401, Refused("account")),
        (40301, 403, Refused("account")),
        (40302, 403, Refused("account")),
        (4000, 400, Refused("invalid")),
        (4002, 400, Refused("invalid")),
        (4003, 400, Refused("invalid")),
        (4290, 429, RateLimited),
        (4291, 200, RateLimited),
    ] {
        assert_eq!(cancel(code, "", status), expected, "{code}");
        let is_limit = expected == RateLimited;
        let contradicted = if is_limit { RateLimited } else { Unknown };
        assert_eq!(cancel(code, "", 200), contradicted, "{code}");
        assert_eq!(cancel(code, "", 202), Unknown, "{code}");
        assert_eq!(cancel(code, "", 503), Unknown, "{code}");
    }
}

#[test]
fn cancellation_returns_fee_and_refund() {
    let gateway = ask::fixtures(&["cancel.json"]).respond_with(200, canceled_booking());
    let state = ask::cancel(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 46050);
    assert!(state.rooms.iter().all(|room| room.canceled) && state.rooms.len() == 2);
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (5000, Some(41050)));
    let cancel = "PUT book.liteapi.travel/v3.0/bookings/BK-OWN-1";
    assert_eq!(ask::sent(&gateway)[0], cancel);
    assert_eq!(gateway.requests()[0].body, None);
}

#[test]
fn cancellation_succeeds_when_booking_is_unreadable_or_outdated() {
    let late = Error::TimedOut("late".into());
    let state = ask::cancel(&ask::fixtures(&["cancel.json"]).fail_with(late)).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(state.total, 46050);
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));

    let state = ask::cancel(&ask::fixtures(&["cancel.json", "booking.json"])).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert!(state.rooms.iter().all(|room| room.canceled));
}

#[test]
fn not_modified_is_refusal_unless_booking_is_canceled() {
    let cancel =
        |response: (u16, &str)| ask::cancel(&MockGateway::with_responses(&[(304, ""), response]));
    let refusal = refusal(cancel((200, &ask::fixture("booking.json"))));
    assert_eq!(refusal.reason, RefusalReason::NotCancellable);
    assert_eq!(refusal.supplier_code.as_deref(), Some("304"));
    let state = cancel((200, &canceled_booking())).unwrap();
    assert_eq!(state.status, BookingStatus::Canceled);
    assert_eq!(outcome(&cancel((500, ""))), Unknown);
}

/// The hotel may have cancelled the booking, so that the policy for a guest who cancels does not decide.
#[test]
fn not_modified_leaves_amounts_that_are_not_stated_undecided() {
    for (refunded, expected) in [
        (json!(null), UNDECIDED),
        (json!(0), UNDECIDED),
        (json!(410.5), (5000, Some(41050))),
    ] {
        let mut booking: Value = serde_json::from_str(&canceled_booking()).unwrap();
        booking["data"]["amountRefunded"] = refunded.clone();
        let booking = booking.to_string();
        let gateway = MockGateway::with_responses(&[(304, ""), (200, &booking)]);
        let amounts = ask::cancel(&gateway).unwrap().cancellation.unwrap();
        assert_eq!((amounts.fee, amounts.refund), expected, "{refunded}");
    }
}

#[test]
fn cancellation_of_missing_booking_is_refused() {
    let result = ask::cancel(&MockGateway::new().respond_with(204, ""));
    assert_eq!(outcome(&result), Refused("not cancellable"), "{result:?}");
}

#[test]
fn cancellation_without_canceled_status_is_unknown() {
    let confirmed =
        r#"{"data": {"bookingId": "BK-OWN-1", "status": "CONFIRMED", "currency": "EUR"}}"#;
    let without_status = r#"{"data": {"bookingId": "BK-OWN-1", "currency": "EUR"}}"#;
    let booking = ask::fixture("booking.json");
    for response in [
        (200, confirmed),
        (200, without_status),
        (200, "half a docu"),
        (200, ""),
        (200, "{}"),
        (200, r#"{"data": null}"#),
        (202, ""),
        (202, r#"{"data": {}}"#),
        (200, r#"{"error": {"code": 204}}"#),
        (500, ""),
        (503, "<html>"),
    ] {
        let result = ask::cancel(&MockGateway::with_responses(&[response, (200, &booking)]));
        assert_eq!(outcome(&result), Unknown, "{response:?}: {result:?}");
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

/// Amounts that do not add up to the price of 460.50 are left to an operator by the gateway.
const UNDECIDED: (i64, Option<i64>) = (0, Some(0));

#[test]
fn stated_amounts_are_never_replaced_by_the_policy() {
    let both = (5000, Some(41050));
    let charged = "CANCELLED_WITH_CHARGES";
    for (status, fee, refund, currency, expected) in [
        (charged, "50.0", "410.5", "EUR", Some(both)),
        (charged, "50.0", "null", "EUR", Some((5000, None))),
        (charged, "50.0", "\"?\"", "EUR", Some((5000, None))),
        (charged, "null", "410.5", "EUR", Some(both)),
        (charged, "\"?\"", "410.5", "EUR", Some(both)),
        (charged, "null", "460.51", "EUR", Some((0, Some(46051)))),
        (charged, "null", "410.5", "USD", Some((0, Some(41050)))),
        (charged, "-5", "410.5", "EUR", Some(UNDECIDED)),
        (charged, "-5", "460.51", "EUR", Some(UNDECIDED)),
        (charged, "50.0", "-5", "EUR", Some(UNDECIDED)),
        (charged, "null", "-5", "EUR", Some(UNDECIDED)),
        (charged, "\"?\"", "null", "EUR", Some(UNDECIDED)),
        (charged, "null", "null", "EUR", Some(UNDECIDED)),
        ("CANCELLED", "null", "\"?\"", "EUR", Some(UNDECIDED)),
        ("CANCELLED", "null", "null", "EUR", None),
    ] {
        let answer = ask::fixture("cancel.json")
            .replace("50.0", fee)
            .replace("410.5", refund)
            .replace("EUR", currency)
            .replace(charged, status);
        let booking = canceled_booking();
        let responses = [(200, answer.as_str()), (200, booking.as_str())];
        let state = ask::cancel(&MockGateway::with_responses(&responses)).unwrap();
        let amounts = state.cancellation;
        let amounts = amounts.map(|amounts| (amounts.fee, amounts.refund));
        assert_eq!(amounts, expected, "{status} {fee} {refund} {currency}");
    }
}

#[test]
fn cancellation_without_usable_amounts_has_those_of_the_booking() {
    let answer = ask::fixture("cancel.json")
        .replace("50.0", "null")
        .replace("410.5", "null");
    let booking = canceled_booking().replace("\"amountRefunded\": 0", "\"amountRefunded\": 400.5");
    let responses = [(200, answer.as_str()), (200, booking.as_str())];
    let state = ask::cancel(&MockGateway::with_responses(&responses)).unwrap();
    let amounts = state.cancellation.unwrap();
    assert_eq!((amounts.fee, amounts.refund), (6000, Some(40050)));
}

#[test]
fn booking_with_another_client_reference_is_not_read_after_a_cancellation() {
    for (reference, rooms, dropped) in [
        ("\"bkg_own_1\"", 2, 0),
        ("null", 2, 0),
        ("true", 2, 0),
        ("\"bkg_own_2\"", 0, 1),
    ] {
        let booking = canceled_booking().replace("\"bkg_own_1\"", reference);
        let gateway = ask::fixtures(&["cancel.json"]).respond_with(200, booking);
        let state = ask::cancel(&gateway).unwrap();
        assert_eq!(state.status, BookingStatus::Canceled, "{reference}");
        assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
        assert_eq!((state.total, state.rooms.len()), (46050, rooms));
        let counts = gateway.dropped_items();
        let count: u32 = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(count, dropped, "{reference}");
    }
}

#[test]
fn room_numbers_that_are_read_after_a_cancellation_do_not_cost_it() {
    let booking =
        canceled_booking().replace("\"occupancy_number\": 2", "\"occupancy_number\": 300");
    let gateway = ask::fixtures(&["cancel.json"]).respond_with(200, booking);
    let state = ask::cancel(&gateway).unwrap();
    let positions = state.rooms.iter().map(|room| room.position);
    assert!(positions.eq([0, 1]));
}

/// The gateway computes a fee that Nuitee does not state, because it knows who cancelled and when.
#[test]
fn canceled_booking_has_amounts_only_if_refund_or_charges_are_stated() {
    let charged = "CANCELLED_WITH_CHARGES";
    for (status, refunded, expected) in [
        ("CANCELED", "0", None),
        ("CANCELED", "null", None),
        ("CANCELED", "400.5", Some((6000, Some(40050)))),
        ("CANCELED", "460.5", Some((0, Some(46050)))),
        ("CANCELED", "460.51", Some((0, Some(46051)))),
        ("CANCELED", "-1", Some(UNDECIDED)),
        ("CANCELED", "\"?\"", Some(UNDECIDED)),
        // Nuitee states charges, and not how much they are.
        (charged, "0", Some(UNDECIDED)),
        (charged, "null", Some(UNDECIDED)),
        (charged, "400.5", Some((6000, Some(40050)))),
    ] {
        let refunded = format!("\"amountRefunded\": {refunded}");
        let document = canceled_booking()
            .replace(
                "\"cancelledAt\": null",
                "\"cancelledAt\": \"2027-05-25 12:00:00\"",
            )
            .replace("\"amountRefunded\": 0", &refunded)
            .replace("\"CANCELED\"", &format!("\"{status}\""));
        let amounts = ask::found(&document).cancellation;
        let amounts = amounts.map(|amounts| (amounts.fee, amounts.refund));
        assert_eq!(amounts, expected, "{status} {refunded}");
    }
}
