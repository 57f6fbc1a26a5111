//! Prebooking, booking and reading a booking back.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_booking::{BookingLookup, PrebookResponse};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotSent, Refused, Unknown};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, read_failures, refusal,
};
use stopover_sdk::types::{BookingStatus, Money};
use stopover_sdk::{ChangeError, HotelBooking, ReadError, RefusalReason, time};

use crate::ask;

const SDK: &str = r#"{"payment_method": "PAYMENT_SDK"}"#;

fn prebook_with(change: impl FnOnce(&mut Value)) -> Result<PrebookResponse, ChangeError> {
    let mut document: Value = serde_json::from_str(&ask::fixture("prebook.json")).unwrap();
    change(&mut document["data"]);
    let gateway = MockGateway::new()
        .respond_with(200, document.to_string())
        .respond_with(200, ask::fixture("hotel.json"));
    gateway.run(|| NuiteeHotels::prebook(ask::prebook_request()))
}

#[test]
fn prebook_returns_bound_offer_with_hotel_summary() {
    let gateway =
        ask::responding_with("prebook.json").respond_with(200, ask::fixture("hotel.json"));
    let bound = gateway
        .run(|| NuiteeHotels::prebook(ask::prebook_request()))
        .unwrap();
    assert_eq!(bound.total, 46050);
    assert_eq!(bound.supplier_prebook, r#"{"prebook_id":"PB-OWN-1"}"#);
    assert_eq!(bound.rooms[0].name, "Double Sea View");
    assert_eq!(bound.rooms[1].due_at_property.as_ref().unwrap().amount, 350);
    assert_eq!(bound.policy.penalties[0].amount, 46050);
    assert_eq!(bound.hotel.name, "Harbour & Sons");
    assert_eq!(bound.hotel.address, "1 Quay, Port Example, 22000, HR");
    assert!(bound.hotel.location.is_some());
    assert_eq!((bound.checkout, bound.expires_at), (None, None));

    let requests = gateway.requests();
    assert_eq!(
        requests[0].url,
        "https://book.liteapi.travel/v3.0/rates/prebook"
    );
    assert_eq!(
        requests[0].body_json(),
        json!({"offerId": "OFFER-SEA", "usePaymentSdk": false})
    );
    assert_eq!(
        requests[1].url,
        "https://api.liteapi.travel/v3.0/data/hotel?hotelId=lpown1"
    );
}

#[test]
fn prebook_succeeds_without_hotel_content() {
    for content in [
        Ok((500, "")),
        Ok((200, r#"{"data": {}}"#)),
        Err(Error::ConnectionLost("x".into())),
    ] {
        let gateway = ask::responding_with("prebook.json");
        let gateway = match content {
            Ok((status, body)) => gateway.respond_with(status, body),
            Err(error) => gateway.fail_with(error),
        };
        let bound = gateway
            .run(|| NuiteeHotels::prebook(ask::prebook_request()))
            .unwrap();
        assert_eq!(bound.hotel.name, "lpown1");
        assert_eq!(gateway.logs().len(), 1);
    }
}

#[test]
fn prebook_with_changed_terms_is_refused() {
    for field in ["boardChanged", "cancellationChanged"] {
        let result = prebook_with(|data| data[field] = json!(true));
        assert_eq!(outcome(&result), Refused("terms changed"), "{result:?}");
    }
}

#[test]
fn prebook_with_higher_price_is_refused_and_lower_price_accepted() {
    let priced = |price: f64| {
        prebook_with(|data| {
            data["price"] = json!(price);
            data["priceDifferencePercent"] = json!(2);
        })
    };
    let now = RefusalReason::PriceChanged(Money::new(46999, "EUR"));
    assert_eq!(refusal(priced(469.99)).reason, now);
    assert_eq!(priced(440.0).unwrap().total, 44000);
}

#[test]
fn add_ons_and_vouchers_are_excluded_from_total() {
    let bound = prebook_with(|data| {
        data["price"] = json!(510.5);
        data["addonsTotalAmount"] = json!(70);
        data["voucherTotalAmount"] = json!("20");
    });
    assert_eq!(bound.unwrap().total, 46050);
}

#[test]
fn prebook_that_does_not_match_offer_is_unknown() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 5] = [
        ("currency", |data| data["currency"] = json!("USD")),
        ("hotel", |data| data["hotelId"] = json!("lpown2")),
        ("no offer", |data| data["roomTypes"] = json!([])),
        ("one room of two", |data| {
            data["roomTypes"][0]["rates"].as_array_mut().unwrap().pop();
        }),
        ("rate in another currency", |data| {
            data["roomTypes"][0]["rates"][0]["retailRate"]["total"][0]["currency"] = json!("USD");
        }),
    ];
    for (name, change) in cases {
        let result = prebook_with(change);
        assert_eq!(outcome(&result), Unknown, "{name}: {result:?}");
    }
}

#[test]
fn payment_in_browser_returns_token_and_books_with_transaction() {
    let gateway = ask::responding_with("prebook.json")
        .respond_with(200, ask::fixture("hotel.json"))
        .respond_with(200, ask::fixture("booking.json"))
        .settings(SDK);
    let bound = gateway
        .run(|| NuiteeHotels::prebook(ask::prebook_request()))
        .unwrap();
    let checkout = bound.checkout.unwrap();
    assert_eq!(checkout.url, None);
    assert_eq!(checkout.token, "pi_own_secret");
    assert!(!bound.supplier_prebook.contains("pi_own_secret"));

    let mut request = ask::book_request();
    request.supplier_prebook = bound.supplier_prebook;
    gateway.run(|| NuiteeHotels::book(request)).unwrap();
    let requests = gateway.requests();
    assert_eq!(requests[0].body_json()["usePaymentSdk"], true);
    assert_eq!(
        requests[2].body_json()["payment"],
        json!({"method": "TRANSACTION_ID", "transactionId": "tr_ct_own"})
    );
}

#[test]
fn prebook_without_requested_payment_token_is_unknown() {
    let document = ask::fixture("prebook.json").replace("pi_own_secret", "");
    let gateway = MockGateway::new()
        .settings(SDK)
        .respond_with(200, document)
        .respond_with(200, ask::fixture("hotel.json"));
    let result = gateway.run(|| NuiteeHotels::prebook(ask::prebook_request()));
    assert_eq!(outcome(&result), Unknown, "{result:?}");
}

#[test]
fn booking_sends_client_reference_and_lead_guests() {
    let gateway = ask::responding_with("booking.json").settings(r#"{"payment_method": "WALLET"}"#);
    gateway
        .run(|| NuiteeHotels::book(ask::book_request()))
        .unwrap();
    let requests = gateway.requests();
    assert_eq!(
        requests[0].url,
        "https://book.liteapi.travel/v3.0/rates/book"
    );
    let contact = ("ana@guest.example", "+33100000000");
    let lead = |number: u8, name: &str| {
        json!({"occupancyNumber": number, "firstName": name, "lastName": "Guest",
            "email": contact.0, "phone": contact.1})
    };
    assert_eq!(
        requests[0].body_json(),
        json!({
            "prebookId": "PB-OWN-1",
            "clientReference": "bkg_own_1",
            "holder": {"firstName": "Ana", "lastName": "Payer", "email": contact.0, "phone": contact.1},
            "guests": [lead(1, "Cy"), lead(2, "Di")],
            "payment": {"method": "WALLET"},
        })
    );
}

#[test]
fn booking_response_is_fully_converted() {
    let gateway = ask::responding_with("booking.json");
    let state = gateway
        .run(|| NuiteeHotels::book(ask::book_request()))
        .unwrap();
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, "BK-OWN-1");
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!((state.total, state.currency.as_str()), (46050, "EUR"));
    assert_eq!(state.hotel_confirmation_code, None, "empty code is missing");
    assert_eq!(
        state.remarks.as_deref(),
        Some("Reception closes at 22:00.\nFree parking\nNo pets")
    );
    let positions: Vec<_> = state.rooms.iter().map(|room| room.position).collect();
    assert_eq!(positions, [0, 1]);
    assert_eq!(
        state.rooms[0].supplier_room_reference.as_deref(),
        Some("S-4711")
    );
    assert_eq!(
        state.extensions,
        [("sandbox".to_owned(), "true".to_owned())]
    );

    let policy = state.policy.unwrap();
    let at = |text| time::parse_timestamp(text).unwrap();
    assert_eq!(policy.free_until, Some(at("2027-05-24T12:00:00Z")));
    let steps: Vec<_> = policy
        .penalties
        .iter()
        .map(|penalty| (penalty.start, penalty.amount))
        .collect();
    assert_eq!(
        steps,
        [(at("2027-05-25"), 21040), (at("2027-05-26"), 46050)]
    );
    assert_eq!(state.cancellation, None);
}

#[test]
fn booking_with_existing_reference_is_read_back() {
    let duplicate = r#"{"error": {"code": 4005, "message": "duplicate client reference"}}"#;
    let gateway = MockGateway::new()
        .respond_with(400, duplicate)
        .respond_with(200, ask::fixture("bookings.json"));
    let state = gateway
        .run(|| NuiteeHotels::book(ask::book_request()))
        .unwrap();
    assert_eq!(state.supplier_reference, "BK-OWN-1");

    for response in [(200, r#"{"data": []}"#), (500, "{}"), (204, "")] {
        let gateway = MockGateway::new()
            .respond_with(400, duplicate)
            .respond_with(response.0, response.1);
        let result = gateway.run(|| NuiteeHotels::book(ask::book_request()));
        assert_eq!(outcome(&result), Unknown, "{result:?}");
    }
}

#[test]
fn booking_is_unknown_after_sending_and_not_sent_before() {
    let confirmed = ask::fixture("booking.json");
    let responses = [
        (200, "{\"data\": {\"bookingId\": \"BK".to_owned()),
        (200, "{}".to_owned()),
        (200, confirmed.replace("\"CONFIRMED\"", "\"SOMETHING_NEW\"")),
        (
            200,
            confirmed.replace("\"price\": 460.5", "\"price\": \"much\""),
        ),
        (302, String::new()),
        (400, "bad request".to_owned()),
        (429, "slow down".to_owned()),
    ];
    let responses = responses.map(|(status, body)| Ok(Response::new(status, body)));
    let failures = failures_after_sending().into_iter().chain(responses);
    for failure in failures {
        let gateway = MockGateway::new().exchange(failure.clone());
        let result = gateway.run(|| NuiteeHotels::book(ask::book_request()));
        assert_eq!(outcome(&result), Unknown, "{failure:?}");
    }
    for failure in failures_before_sending() {
        let gateway = MockGateway::new().exchange(failure);
        let result = gateway.run(|| NuiteeHotels::book(ask::book_request()));
        assert_eq!(outcome(&result), NotSent);
    }
}

#[test]
fn invalid_booking_is_refused_without_request() {
    let gateway = MockGateway::new();
    let mut request = ask::book_request();
    request.supplier_prebook = "not ours".to_owned();
    let foreign = gateway.run(|| NuiteeHotels::book(request));
    let mut request = ask::book_request();
    request.rooms[1].guests.clear();
    let empty = gateway.run(|| NuiteeHotels::book(request));
    let switched = MockGateway::new().settings(SDK);
    let other_payment = switched.run(|| NuiteeHotels::book(ask::book_request()));
    for (result, reason) in [
        (foreign, "invalid"),
        (empty, "invalid"),
        (other_payment, "expired"),
    ] {
        assert_eq!(outcome(&result), Refused(reason), "{result:?}");
    }
    assert!(gateway.requests().is_empty() && switched.requests().is_empty());
}

#[test]
fn booking_is_found_by_supplier_reference() {
    let gateway = ask::responding_with("booking.json");
    let found = gateway
        .run(|| NuiteeHotels::find(ask::find_request(Some("BK/1"))))
        .unwrap();
    assert!(matches!(found, BookingLookup::Found(state) if state.supplier_reference == "BK-OWN-1"));
    assert_eq!(
        gateway.requests()[0].url,
        "https://book.liteapi.travel/v3.0/bookings/BK%2F1"
    );
}

#[test]
fn booking_is_found_by_client_reference_among_similar_and_canceled_ones() {
    let gateway = ask::responding_with("bookings.json");
    let found = gateway
        .run(|| NuiteeHotels::find(ask::find_request(None)))
        .unwrap();
    let BookingLookup::Found(state) = found else {
        panic!("{found:?}");
    };
    assert_eq!(state.supplier_reference, "BK-OWN-1");
    assert_eq!(state.rooms.len(), 2, "listed rooms are in another field");
    assert_eq!(
        gateway.requests()[0].url,
        "https://book.liteapi.travel/v3.0/bookings?clientReference=bkg_own_1",
        "a slash before the query would request another list"
    );
}

#[test]
fn missing_booking_is_not_found_in_every_response_form() {
    let nothing = [
        (204, ""),
        (200, r#"{"error": {"code": 204, "message": "no content"}}"#),
        (200, r#"{"data": []}"#),
        (200, r#"{"data": null}"#),
        (200, r#"{"data": ""}"#),
    ];
    for (status, body) in nothing {
        let gateway = MockGateway::new()
            .respond_with(204, "")
            .respond_with(status, body);
        let found = gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-X"))));
        assert_eq!(found, Ok(BookingLookup::NotFound), "{status} {body}");
        assert_eq!(gateway.unused_responses(), 0);
    }
}

#[test]
fn failed_find_returns_error_instead_of_not_found() {
    let unreadable = Response::new(200, "{\"data\": [{\"bookingId\": 5}]}");
    let mut failures = read_failures();
    failures.push((Ok(unreadable), InvalidResponse));
    for (failure, expected) in failures {
        let gateway = MockGateway::new().exchange(failure);
        let found = gateway.run(|| NuiteeHotels::find(ask::find_request(None)));
        assert_eq!(outcome(&found), expected, "{found:?}");
    }
}

#[test]
fn every_known_status_is_converted_and_unknown_one_is_unreadable() {
    let cases = [
        ("CONFIRMED", Some(BookingStatus::Confirmed)),
        ("CANCELLED", Some(BookingStatus::Canceled)),
        ("CANCELED", Some(BookingStatus::Canceled)),
        ("CANCELLED_WITH_CHARGES", Some(BookingStatus::Canceled)),
        ("cancelled", Some(BookingStatus::Canceled)),
        ("FAILED", None),
        ("", None),
    ];
    for (status, expected) in cases {
        let document = ask::fixture("booking.json").replace("CONFIRMED", status);
        let gateway = MockGateway::new().respond_with(200, document);
        match (
            gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-OWN-1")))),
            expected,
        ) {
            (Ok(BookingLookup::Found(state)), Some(expected)) => {
                assert_eq!(state.status, expected, "{status}");
                let all_canceled = state.rooms.iter().all(|room| room.canceled);
                assert_eq!(
                    all_canceled,
                    expected == BookingStatus::Canceled,
                    "{status}"
                );
            }
            (Err(ReadError::InvalidResponse(_)), None) => {}
            (found, _) => panic!("{status}: {found:?}"),
        }
    }
}

#[test]
fn sandbox_flag_is_read_in_every_form() {
    for (mark, expected) in [("1", 1), ("true", 1), ("0", 0), ("false", 0), ("null", 0)] {
        let document =
            ask::fixture("booking.json").replace("\"sandbox\": 1", &format!("\"sandbox\": {mark}"));
        let gateway = MockGateway::new().respond_with(200, document);
        let found = gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-OWN-1"))));
        assert!(
            matches!(&found, Ok(BookingLookup::Found(state)) if state.extensions.len() == expected),
            "{mark}: {found:?}"
        );
    }
}

#[test]
fn rooms_without_distinct_numbers_keep_response_order() {
    for number in ["1", "null", "0", "-1"] {
        let document = ask::fixture("booking.json")
            .replace("\"occupancy_number\": 2", "\"occupancy_number\": 1")
            .replace(
                "\"occupancy_number\": 1",
                &format!("\"occupancy_number\": {number}"),
            );
        let gateway = MockGateway::new().respond_with(200, document);
        let state = gateway
            .run(|| NuiteeHotels::book(ask::book_request()))
            .unwrap();
        let positions: Vec<_> = state.rooms.iter().map(|room| room.position).collect();
        assert_eq!(positions, [0, 1], "{number}");
    }
}
