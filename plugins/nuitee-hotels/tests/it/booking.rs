//! Prebooking, booking and reading a booking back.

use serde_json::{Value, json};
use stopover_sdk::hotel_booking::{BookingLookup, PrebookResponse};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotSent, Refused, Unknown};
use stopover_sdk::testing::{MockGateway, check_failed_change, outcome, read_failures, refusal};
use stopover_sdk::types::{BookingStatus, Money};
use stopover_sdk::{ChangeError, RefusalReason, time};

use crate::ask;

const SDK: &str = r#"{"payment_method": "PAYMENT_SDK"}"#;

fn prebook_with(change: impl FnOnce(&mut Value)) -> Result<PrebookResponse, ChangeError> {
    let mut document: Value = serde_json::from_str(&ask::fixture("prebook.json")).unwrap();
    change(&mut document["data"]);
    let gateway = MockGateway::new()
        .respond_with(200, document.to_string())
        .respond_with(200, ask::fixture("hotel.json"));
    ask::prebook(&gateway)
}

#[test]
fn prebook_returns_bound_offer_with_hotel_summary() {
    let gateway = ask::fixtures(&["prebook.json", "hotel.json"]);
    let bound = ask::prebook(&gateway).unwrap();
    assert_eq!(bound.total, 46050);
    assert_eq!(
        bound.supplier_prebook,
        r#"{"prebook_id":"PB-OWN-1","total":[46050,"EUR"]}"#
    );
    assert_eq!(bound.rooms[0].name, "Double Sea View");
    assert_eq!(bound.rooms[1].due_at_property.as_ref().unwrap().amount, 350);
    assert_eq!(bound.policy.penalties[0].amount, 46050);
    assert_eq!(bound.hotel.name, "Harbour & Sons");
    assert_eq!(bound.hotel.address, "1 Quay, Port Example, 22000, HR");
    assert!(bound.hotel.location.is_some());
    assert_eq!((bound.checkout, bound.expires_at), (None, None));

    let sent = [
        "POST book.liteapi.travel/v3.0/rates/prebook",
        "GET api.liteapi.travel/v3.0/data/hotel?hotelId=lpown1",
    ];
    assert_eq!(ask::sent(&gateway), sent);
    let prebook = json!({"offerId": "OFFER-SEA", "usePaymentSdk": false});
    assert_eq!(gateway.request_json(0), prebook);
}

#[test]
fn prebook_succeeds_without_hotel_content() {
    for content in [
        Ok(Response::new(500, "")),
        Ok(Response::new(200, r#"{"data": {}}"#)),
        Err(Error::ConnectionLost("x".into())),
    ] {
        let gateway = ask::fixtures(&["prebook.json"]).exchange(content);
        assert_eq!(ask::prebook(&gateway).unwrap().hotel.name, "lpown1");
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
    let cases: [fn(&mut Value); 5] = [
        |data| data["currency"] = json!("USD"),
        |data| data["hotelId"] = json!("lpown2"),
        |data| data["roomTypes"] = json!([]),
        // One of the two rooms is missing.
        |data| drop(data["roomTypes"][0]["rates"].as_array_mut().unwrap().pop()),
        |data| {
            data["roomTypes"][0]["rates"][0]["retailRate"]["total"][0]["currency"] = json!("USD");
        },
    ];
    for (index, change) in cases.into_iter().enumerate() {
        let result = prebook_with(change);
        assert_eq!(outcome(&result), Unknown, "{index}: {result:?}");
    }
}

#[test]
fn payment_in_browser_returns_token_and_books_with_transaction() {
    let gateway = ask::fixtures(&["prebook.json", "hotel.json", "booking.json"]).settings(SDK);
    let bound = ask::prebook(&gateway).unwrap();
    let checkout = bound.checkout.unwrap();
    assert_eq!(
        (checkout.url, checkout.token.as_str()),
        (None, "pi_own_secret")
    );
    assert!(!bound.supplier_prebook.contains("pi_own_secret"));

    let mut request = ask::book_request();
    request.supplier_prebook = bound.supplier_prebook;
    ask::book_of(&gateway, request).unwrap();
    assert_eq!(gateway.request_json(0)["usePaymentSdk"], true);
    let payment = json!({"method": "TRANSACTION_ID", "transactionId": "tr_ct_own"});
    assert_eq!(gateway.request_json(2)["payment"], payment);
}

#[test]
fn prebook_without_requested_payment_token_is_unknown() {
    let document = ask::fixture("prebook.json").replace("pi_own_secret", "");
    let hotel = ask::fixture("hotel.json");
    let gateway = MockGateway::with_responses(&[(200, &document), (200, &hotel)]);
    let result = ask::prebook(&gateway.settings(SDK));
    assert_eq!(outcome(&result), Unknown, "{result:?}");
}

#[test]
fn booking_sends_client_reference_and_lead_guests() {
    let wallet = r#"{"payment_method": "WALLET"}"#;
    let gateway = ask::fixtures(&["booking.json"]).settings(wallet);
    ask::book(&gateway).unwrap();
    let sent = ["POST book.liteapi.travel/v3.0/rates/book"];
    assert_eq!(ask::sent(&gateway), sent);
    let contact = ("ana@guest.example", "+33100000000");
    let lead = |number: u8, name: &str| {
        json!({"occupancyNumber": number, "firstName": name, "lastName": "Guest",
            "email": contact.0, "phone": contact.1})
    };
    assert_eq!(
        gateway.request_json(0),
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
    let state = ask::book(&ask::fixtures(&["booking.json"])).unwrap();
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, "BK-OWN-1");
    assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
    assert_eq!((state.total, state.currency.as_str()), (46050, "EUR"));
    assert_eq!(state.hotel_confirmation_code, None, "empty code is missing");
    let remarks = "Reception closes at 22:00.\nFree parking\nNo pets";
    assert_eq!(state.remarks.as_deref(), Some(remarks));
    assert!(state.rooms.iter().map(|room| room.position).eq([0, 1]));
    let room_reference = state.rooms[0].supplier_room_reference.as_deref();
    assert_eq!(room_reference, Some("S-4711"));
    let sandbox = ("sandbox".to_owned(), "true".to_owned());
    assert_eq!(state.extensions, [sandbox]);

    let policy = state.policy.unwrap();
    let at = |text| time::parse_timestamp(text).unwrap();
    // Nuitee's last date of free cancellation is before the first penalty.
    let last_free = at("2027-05-24T12:00:00Z");
    assert_eq!(policy.free_until, Some(last_free));
    let penalties = policy.penalties.iter();
    let steps: Vec<_> = penalties
        .map(|penalty| (penalty.start, penalty.amount))
        .collect();
    let expected = [(last_free + 1, 21040), (at("2027-05-26"), 46050)];
    assert_eq!(steps, expected);
    assert_eq!(state.cancellation, None);
}

#[test]
fn booking_with_existing_reference_is_read_back() {
    let duplicate = r#"{"error": {"code": 4005, "message": "duplicate client reference"}}"#;
    let book = |response: (u16, &str)| {
        ask::book(&MockGateway::with_responses(&[(400, duplicate), response]))
    };
    let state = book((200, &ask::fixture("bookings.json"))).unwrap();
    assert_eq!(state.supplier_reference, "BK-OWN-1");
    for response in [(200, r#"{"data": []}"#), (500, "{}"), (204, "")] {
        let result = book(response);
        assert_eq!(outcome(&result), Unknown, "{result:?}");
    }
}

#[test]
fn booking_is_unknown_after_sending_and_not_sent_before() {
    let confirmed = ask::fixture("booking.json");
    let responses = [
        Response::new(200, "{\"data\": {\"bookingId\": \"BK"),
        Response::new(200, "{}"),
        Response::new(200, confirmed.replace("CONFIRMED", "SOMETHING_NEW")),
        Response::new(200, confirmed.replace("\"BK-OWN-1\"", "true")),
        Response::new(200, confirmed.replace("\"BK-OWN-1\"", "null")),
        Response::new(200, confirmed.replace("\"bkg_own_1\"", "[]")),
        Response::new(302, ""),
        Response::new(400, "bad request"),
        Response::new(503, "slow down"),
    ];
    check_failed_change(responses, |failure| {
        ask::book(&MockGateway::new().exchange(failure))
    });
}

/// Only Nuitee can refuse a booking. An earlier call with the same prebook may have booked.
#[test]
fn booking_that_the_adapter_cannot_request_is_not_sent() {
    let mut foreign = ask::book_request();
    foreign.supplier_prebook = "not ours".to_owned();
    let mut empty = ask::book_request();
    empty.rooms[1].guests.clear();
    for (request, settings) in [(foreign, "{}"), (empty, "{}"), (ask::book_request(), SDK)] {
        let gateway = MockGateway::new().settings(settings);
        let result = ask::book_of(&gateway, request);
        assert_eq!(outcome(&result), NotSent, "{result:?}");
        assert!(gateway.requests().is_empty());
    }
}

#[test]
fn booking_is_found_by_supplier_reference() {
    let document = ask::fixture("booking.json").replace("BK-OWN-1", "BK/1");
    let gateway = MockGateway::new().respond_with(200, &document);
    let found = ask::find(&gateway, Some("BK/1")).unwrap();
    assert!(matches!(found, BookingLookup::Found(state) if state.supplier_reference == "BK/1"));
    let sent = ["GET book.liteapi.travel/v3.0/bookings/BK%2F1"];
    assert_eq!(ask::sent(&gateway), sent);
}

#[test]
fn booking_is_found_by_client_reference_among_similar_and_canceled_ones() {
    let gateway = ask::fixtures(&["bookings.json"]);
    let found = ask::find(&gateway, None).unwrap();
    let BookingLookup::Found(state) = found else {
        panic!("{found:?}");
    };
    assert_eq!(state.supplier_reference, "BK-OWN-1");
    assert_eq!(state.rooms.len(), 2, "listed rooms are in another field");
    // A slash before the query would request another list.
    let sent = ["GET book.liteapi.travel/v3.0/bookings?clientReference=bkg_own_1"];
    assert_eq!(ask::sent(&gateway), sent);
}

#[test]
fn missing_booking_is_not_found_by_id_in_every_response_form_and_by_reference_in_a_list() {
    let no_content = r#"{"error": {"code": 204, "message": "no content"}}"#;
    let unknown = r#"{"error": {"code": 4004, "message": "not found"}}"#;
    let other_case = ask::fixture("bookings.json").replace("bkg_own_1", "BKG_OWN_1");
    let other_case = other_case.replace("BKG_OWN_11", "BKG_OWN_1");
    for by_id in [(204, ""), (200, no_content), (404, unknown)] {
        for list in [r#"{"data": []}"#, &other_case] {
            let gateway = MockGateway::with_responses(&[by_id, (200, list)]);
            let found = ask::find(&gateway, Some("BK-X"));
            assert_eq!(found, Ok(BookingLookup::NotFound), "{by_id:?} {list}");
            assert_eq!(gateway.unused_responses(), 0);
        }
    }
}

/// Nuitee documents no other answer to a search of bookings than a list of the matching ones.
#[test]
fn search_by_reference_proves_absence_only_with_a_filtered_list() {
    let others = ask::fixture("bookings.json").replace("\"bkg_own_1\"", "\"bkg_own_12\"");
    for response in [
        (204, ""),
        (200, r#"{"error": {"code": 204, "message": "no content"}}"#),
        (404, r#"{"error": {"code": 4004, "message": "not found"}}"#),
        (200, &others),
    ] {
        for id in [Some("BK-X"), None] {
            let gateway = match id {
                Some(_) => MockGateway::with_responses(&[(204, ""), response]),
                None => MockGateway::with_responses(&[response]),
            };
            let found = ask::find(&gateway, id);
            assert_eq!(outcome(&found), InvalidResponse, "{response:?} {id:?}");
        }
    }
}

#[test]
fn response_without_nuitees_statement_is_never_not_found() {
    let responses = [
        (200, ""),
        (200, "{}"),
        (200, r#"{"data": null}"#),
        (200, r#"{"data": ""}"#),
        (200, r#"{"data": {}}"#),
        (200, r#"{"data": [null]}"#),
        (200, r#"{"data": [{"clientReference": ["bkg_own_1"]}]}"#),
        (404, ""),
        (404, "<html>Not Found</html>"),
        (404, "{}"),
        (410, "<html>"),
        // Nuitee documents neither code.
        (404, r#"{"error": {"code": 404, "message": "Not Found"}}"#),
        (410, r#"{"error": {"code": 410, "message": "Gone"}}"#),
        (200, r#"{"error": {"code": 404, "message": "Not Found"}}"#),
    ];
    for response in responses {
        for id in [Some("BK-X"), None] {
            let found = ask::find(&MockGateway::with_responses(&[response]), id);
            assert_eq!(outcome(&found), InvalidResponse, "{response:?} {id:?}");
        }
    }
}

#[test]
fn failed_find_returns_error_instead_of_not_found() {
    let unreadable = Response::new(200, "{\"data\": [{\"bookingId\": 5}]}");
    let mut failures = read_failures();
    failures.push((Ok(unreadable), InvalidResponse));
    for (failure, expected) in failures {
        let found = ask::find(&MockGateway::new().exchange(failure), None);
        assert_eq!(outcome(&found), expected, "{found:?}");
    }
}

#[test]
fn every_known_status_is_converted_and_unknown_one_is_unreadable() {
    let cases = [
        ("CONFIRMED", BookingStatus::Confirmed),
        ("CANCELLED", BookingStatus::Canceled),
        ("CANCELED", BookingStatus::Canceled),
        ("CANCELLED_WITH_CHARGES", BookingStatus::Canceled),
        ("cancelled", BookingStatus::Canceled),
    ];
    let with = |status: &str| ask::fixture("booking.json").replace("CONFIRMED", status);
    for (status, expected) in cases {
        let state = ask::found(&with(status));
        assert_eq!(state.status, expected, "{status}");
        let all_canceled = state.rooms.iter().all(|room| room.canceled);
        assert_eq!(
            all_canceled,
            expected == BookingStatus::Canceled,
            "{status}"
        );
    }
    for status in ["FAILED", ""] {
        let gateway = MockGateway::new().respond_with(200, with(status));
        let found = ask::find(&gateway, Some("BK-OWN-1"));
        assert_eq!(outcome(&found), InvalidResponse, "{status}");
    }
}

#[test]
fn sandbox_flag_is_read_in_every_form() {
    for (mark, expected) in [("1", 1), ("true", 1), ("0", 0), ("false", 0), ("null", 0)] {
        let mark = format!("\"sandbox\": {mark}");
        let document = ask::fixture("booking.json").replace("\"sandbox\": 1", &mark);
        assert_eq!(ask::found(&document).extensions.len(), expected, "{mark}");
    }
}

#[test]
fn rooms_without_distinct_numbers_keep_response_order() {
    let document = ask::fixture("booking.json");
    let document = document.replace("\"occupancy_number\": 2", "\"occupancy_number\": 1");
    for number in ["1", "null", "0", "-1", "1.5", "\"?\""] {
        let number = format!("\"occupancy_number\": {number}");
        let state = ask::found(&document.replace("\"occupancy_number\": 1", &number));
        let positions = state.rooms.iter().map(|room| room.position);
        assert!(positions.eq([0, 1]), "{number}");
    }
}

/// The gateway rejects the position of a room that was not requested.
#[test]
fn room_number_above_number_of_rooms_is_kept() {
    for (number, expected) in [("3", vec![0, 2]), ("1000", vec![0, 255])] {
        let number = format!("\"occupancy_number\": {number}");
        let document = ask::fixture("booking.json").replace("\"occupancy_number\": 2", &number);
        let state = ask::found(&document);
        let positions: Vec<u8> = state.rooms.iter().map(|room| room.position).collect();
        assert_eq!(positions, expected, "{number}");
    }
}
