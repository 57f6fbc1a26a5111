//! Prebooking, booking and reading a booking back.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::flight::ChangeType;
use stopover_sdk::types::flight_details::TicketDocumentType;
use stopover_sdk::types::{BookingStatus, Checkout};
use stopover_sdk::{DetailedFlightBooking, FlightBooking, RefusalReason};

use crate::ask::{
    BOOKING_ID, BOOKING_REF, asked, book_request, find_request, gateway, prebook_request,
};
use crate::supplier::{JETBRIDGE, SKYLANE, SUPPLIERS};

/// Requests that read a booking by its id and by its client reference.
const FIND_REQUESTS: [(&str, &str); 2] = [
    (
        "GET /skylane/orders/FLT%201%2F2",
        "GET /skylane/orders?client_ref=bkg_DXB",
    ),
    (
        "GET /jetbridge/v3/bookings/FLT%201%2F2",
        "GET /jetbridge/v3/bookings?clientRef=bkg_DXB",
    ),
];

#[test]
fn skylane_prebook_prices_offer_with_loyalty_accounts() {
    let gateway = gateway().respond_with(200, SKYLANE.edited("prebook", &[]));
    let offer = SKYLANE.offer();
    let prebook = || Skylane::prebook(prebook_request(&offer));
    let detailed = gateway.run(prebook).unwrap();
    let details = detailed.details;
    let segment = &details.journeys[0].segments[0];
    assert!(segment.origin_terminal.is_some() && segment.destination_terminal.is_some());
    // The infant has no bag.
    let passengers = details.services.iter().map(|bag| bag.passengers.clone());
    assert_eq!(passengers.collect::<Vec<_>>(), [[0], [1]]);
    let bound = detailed.prebook;
    assert_eq!(
        asked(&gateway),
        [format!("POST /skylane/offers/{offer}/price")]
    );
    let loyal = json!([{"airline": "TK", "number": "ZZ-10"}]);
    let expected = json!({"travellers": [
        {"type": "adult", "loyalty": loyal}, {"type": "child", "loyalty": []}, {"type": "infant", "loyalty": []},
    ]});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(bound.supplier_prebook, offer);
    assert_eq!(bound.journeys[0].stops, 1);
    assert_eq!(bound.checkout, None);
    assert!(!bound.documents_required && bound.expires_at.is_some());
}

#[test]
fn jetbridge_prebook_has_checkout() {
    let gateway = gateway().respond_with(201, JETBRIDGE.edited("prebook", &[]));
    let prebook = || Jetbridge::prebook(prebook_request("fare/1"));
    let bound = gateway.run(prebook).unwrap();
    assert_eq!(asked(&gateway), ["POST /jetbridge/v3/prebooks"]);
    let expected = json!({
        "fareKey": "fare/1", "clientRef": BOOKING_REF,
        "contact": {"mail": "ann@example.com", "phone": "+441727555010"},
        "pax": [
            {
                "type": "ADT", "title": "DR", "first": "Ann", "last": "Example",
                "birth": "1990-01-01", "sex": "F", "nation": "GB",
                "doc": {"type": "I", "no": "X123", "country": "GB", "expiry": "2031-01-01"},
                "ffp": [{"airline": "TK", "no": "ZZ-10"}],
            },
            {"type": "CHD", "first": "Bob", "last": "Example", "birth": "2020-01-01", "sex": "M", "ffp": []},
            {"type": "INF", "first": "Cy", "last": "Example", "birth": "2026-10-01", "sex": "X", "ffp": []},
        ],
    });
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(bound.supplier_prebook, "JPB-100003");
    assert_eq!(bound.journeys[0].segments[0].passengers.len(), 3);
    assert_eq!(bound.expires_at, Some(1_795_303_547_945));
    let token = "JPB-100003-secret-01a20052ace97029868d3de6ccf7ddd6";
    let checkout = Checkout {
        url: Some(format!(
            "https://jetbridge.example/jetbridge/checkout/{token}"
        )),
        token: token.to_owned(),
    };
    assert_eq!(bound.checkout, Some(checkout));
}

#[test]
fn prebook_returns_current_price() {
    // The gateway decides whether the price is too high.
    for (written, units) in [("787.00", 78_700), ("699.30", 69_930)] {
        let totals = [
            ("/data/total/value", json!(written)),
            ("/result/price/units", json!(units)),
        ];
        for (supplier, total) in SUPPLIERS.into_iter().zip(totals) {
            let gateway = gateway().respond_with(200, supplier.edited("prebook", &[total]));
            let prebook = || (supplier.prebook)(prebook_request(&supplier.offer()));
            let bound = gateway.run(prebook).unwrap();
            assert_eq!((bound.total, bound.currency.as_str()), (units, "EUR"));
            assert_eq!((bound.fare, bound.fare_tax), (Some(55_944), Some(13_986)));
            assert_eq!(bound.fare_conditions.refund.penalty.unwrap().amount, 5_000);
        }
    }
}

#[test]
fn skylane_booking_sends_all_passengers_and_pays_total() {
    let gateway = gateway().respond_with(201, SKYLANE.edited("booking", &[]));
    let booked = gateway.run(|| Skylane::book(book_request())).unwrap();
    let [ticket, ..] = &booked.details.documents[..] else {
        panic!("the booking has no tickets")
    };
    assert_eq!(ticket.document_type, TicketDocumentType::ElectronicTicket);
    assert_eq!(ticket.passengers, [0]);
    assert_eq!(asked(&gateway), ["POST /skylane/orders"]);
    let expected = json!({
        "offer_id": "prebook/1", "client_ref": BOOKING_REF,
        "pay": {"value": "699.30", "currency": "EUR"},
        "contact": {"email": "ann@example.com", "phone": "+441727555010"},
        "travellers": [
            {
                "type": "adult", "title": "dr", "given": "Ann", "family": "Example",
                "born": "1990-01-01", "gender": "f", "nationality": "GB",
                "document": {"kind": "identity_card", "number": "X123", "country": "GB", "expires": "2031-01-01"},
                "loyalty": [{"airline": "TK", "number": "ZZ-10"}],
            },
            {"type": "child", "given": "Bob", "family": "Example", "born": "2020-01-01", "gender": "m", "loyalty": []},
            {"type": "infant", "given": "Cy", "family": "Example", "born": "2026-10-01", "gender": "x", "loyalty": []},
        ],
    });
    assert_eq!(gateway.request_json(0), expected);
}

#[test]
fn skylane_payment_has_decimals_of_currency() {
    for (currency, total, expected) in [
        ("JPY", 400, "400"),
        ("KWD", 400_125, "400.125"),
        ("EUR", 5, "0.05"),
    ] {
        let gateway = gateway().respond_with(201, SKYLANE.edited("booking", &[]));
        let mut request = book_request();
        request.currency = currency.to_owned();
        request.total = total;
        // The response is in another currency; only the request matters here.
        let _ = gateway.run(|| Skylane::book(request));
        assert_eq!(gateway.request_json(0)["pay"]["value"], expected);
    }
}

#[test]
fn jetbridge_booking_sends_prebook_and_client_reference() {
    let gateway = gateway().respond_with(200, JETBRIDGE.edited("booking", &[]));
    let state = gateway.run(|| Jetbridge::book(book_request())).unwrap();
    assert_eq!(asked(&gateway), ["POST /jetbridge/v3/bookings"]);
    let expected = json!({"prebookId": "prebook/1", "clientRef": BOOKING_REF});
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.journeys[0].segments[1].passengers.len(), 3);
    assert_eq!(state.changes[0].added_segments[0].passengers.len(), 3);
}

#[test]
fn booking_is_fully_converted() {
    // Skylane's total includes bags. Jetbridge's bookings do not tell the number of passengers.
    let expected = [(69_930 + 6_000, 1, 3), (69_930, 0, 0)];
    for (supplier, (total, services, passengers)) in SUPPLIERS.into_iter().zip(expected) {
        let state = supplier.found(&[]);
        assert_eq!(state.status, BookingStatus::Confirmed);
        assert!(state.supplier_reference.starts_with("FLT-10000"));
        assert_eq!(state.client_reference.as_deref(), Some(BOOKING_REF));
        assert!(state.airline_pnr.is_some_and(|pnr| pnr.len() == 6));
        assert_eq!((state.total, state.currency.as_str()), (total, "EUR"));
        assert_eq!((state.fare, state.fare_tax), (Some(55_944), Some(13_986)));
        assert_eq!(state.services.len(), services);
        assert_eq!(state.cancellation, None);
        let [journey] = state.journeys.as_slice() else {
            panic!("{:?}", state.journeys);
        };
        assert_eq!(journey.departure_time, "2027-03-01T15:00");
        assert_eq!(journey.arrival_time, "2027-03-02T04:45");
        assert_eq!(journey.duration_minutes, Some(585));
        assert_eq!(journey.segments[0].passengers.len(), passengers);
        assert_eq!(journey.segments[1].marketing_flight, "TK719");
    }
}

#[test]
fn airline_change_is_fully_converted() {
    for supplier in SUPPLIERS {
        let state = supplier.found(&[]);
        let [change] = state.changes.as_slice() else {
            panic!("{:?}", state.changes);
        };
        let id = format!("{}-change-1", state.supplier_reference);
        assert_eq!(change.supplier_change_id, id);
        assert_eq!(change.change_type, ChangeType::ScheduleChange);
        assert!(change.action_required);
        assert_eq!(change.expires_at, Some(change.detected_at + 3 * 86_400_000));
        assert_eq!(change.accepted_at, None);
        let (removed, added) = (&change.removed_segments[0], &change.added_segments[0]);
        assert_eq!(removed.departure_time, "2027-03-01T23:30");
        assert_eq!(added.departure_time, "2027-03-02T00:15");
        assert_eq!(removed.supplier_segment_id, added.supplier_segment_id);
    }
}

#[test]
fn unknown_change_kind_is_derived_from_remaining_flights() {
    let pointers = [
        ("/data/changes/0/kind", "/data/changes/0/added"),
        ("/result/changes/0/type", "/result/changes/0/new"),
    ];
    for (supplier, (kind, added)) in SUPPLIERS.into_iter().zip(pointers) {
        let rerouted = supplier.found(&[(kind, json!("BLOWN_AWAY"))]);
        assert_eq!(rerouted.changes[0].change_type, ChangeType::Reroute);
        let gone = supplier.found(&[(kind, json!("BLOWN_AWAY")), (added, json!([]))]);
        assert_eq!(gone.changes[0].change_type, ChangeType::Cancellation);
    }
}

#[test]
fn every_state_is_converted() {
    use BookingStatus::{CancelPending, Canceled, Confirmed, Pending};
    for (state, status, expected) in [
        ("pending", "PROCESSING", Pending),
        ("ticketed", "TICKETED", Confirmed),
        ("cancelling", "CANCEL_REQUESTED", CancelPending),
        ("cancelled", "CANCELLED", Canceled),
    ] {
        let order = SKYLANE.found(&[("/data/state", json!(state))]);
        assert_eq!(order.status, expected);
        let booking = JETBRIDGE.found(&[("/result/status", json!(status))]);
        assert_eq!(booking.status, expected);
    }
}

#[test]
fn booking_without_ticket_is_pending_without_locator() {
    let order = [
        ("/data/state", json!("pending")),
        ("/data/locator", Value::Null),
    ];
    let booking = [
        ("/result/status", json!("PROCESSING")),
        ("/result/pnr", json!("")),
    ];
    for (supplier, edits) in SUPPLIERS.into_iter().zip([order, booking]) {
        let gateway = gateway().respond_with(202, supplier.edited("booking", &edits));
        let booking = gateway.run(|| (supplier.book)(book_request())).unwrap();
        assert_eq!(booking.status, BookingStatus::Pending);
        assert_eq!(booking.airline_pnr, None);
    }
}

#[test]
fn booking_given_up_has_failed_with_any_reason() {
    let other = |text: &str| RefusalReason::Other(text.to_owned());
    let skylane = |code: &str| json!({"code": code, "detail": "d"});
    let jetbridge = |number: u32| json!({"no": number, "text": "t"});
    let cases = [
        (
            skylane("airline_refused"),
            jetbridge(45_001),
            other("airline-refused"),
            Some(["airline_refused", "45001"]),
        ),
        (
            skylane("offer_gone"),
            jetbridge(42_200),
            RefusalReason::Unavailable,
            Some(["offer_gone", "42200"]),
        ),
        (
            skylane("new_one"),
            jetbridge(45_999),
            other("failed"),
            Some(["new_one", "45999"]),
        ),
        (Value::Null, Value::Null, other("failed"), None),
    ];
    for (order_failure, booking_failure, reason, codes) in cases {
        let order = SKYLANE.found(&[
            ("/data/state", json!("failed")),
            ("/data/failure", order_failure),
        ]);
        let booking = JETBRIDGE.found(&[
            ("/result/status", json!("FAILED")),
            ("/result/failure", booking_failure),
        ]);
        for (number, booking) in [order, booking].into_iter().enumerate() {
            let BookingStatus::Failed(refusal) = booking.status else {
                panic!("{:?}", booking.status);
            };
            assert_eq!(refusal.reason, reason);
            let code = codes.map(|codes| codes[number]);
            assert_eq!(refusal.supplier_code.as_deref(), code);
        }
    }
}

#[test]
fn booking_is_read_by_id_then_searched_by_client_reference() {
    for (supplier, (by_id, search)) in SUPPLIERS.into_iter().zip(FIND_REQUESTS) {
        let booking = supplier.fixture("booking");
        let missing = (404, (supplier.error)(supplier.not_found));
        let list = |bookings: &[Value]| (200, (supplier.list)(bookings));
        let id = Some("FLT 1/2");
        for (id, responses, requests, is_found) in [
            (id, vec![(200, booking.to_string())], vec![by_id], true),
            (id, vec![missing, list(&[])], vec![by_id, search], false),
            (None, vec![list(&[booking])], vec![search], true),
            (None, vec![list(&[])], vec![search], false),
        ] {
            let gateway = gateway().respond_with_each(responses);
            let found = gateway.run(|| (supplier.find)(find_request(id))).unwrap();
            let found = matches!(found, BookingLookup::Found(_));
            assert_eq!(found, is_found, "{requests:?}");
            assert_eq!(asked(&gateway), requests);
        }
    }
}

#[test]
fn booking_is_not_found_only_by_empty_list() {
    let references = ["/data/client_ref", "/result/clientRef"];
    for (supplier, reference) in SUPPLIERS.into_iter().zip(references) {
        let other = supplier.edited("booking", &[(reference, json!("bkg_other"))]);
        let others = [serde_json::from_str(&other).unwrap()];
        let twice = [supplier.fixture("booking"), supplier.fixture("booking")];
        for (status, body) in [
            (404, (supplier.error)(supplier.not_found)),
            (404, String::new()),
            (410, String::new()),
            (200, String::new()),
            (200, "{}".to_owned()),
            (200, "[]".to_owned()),
            (200, (supplier.list)(&twice)),
            (200, (supplier.list)(&others)),
            (500, String::new()),
        ] {
            let gateway = gateway().respond_with(status, &body);
            let response = gateway.run(|| (supplier.find)(find_request(None)));
            assert!(response.is_err(), "{status} {body}: {response:?}");
        }
        let gateway = gateway().respond_with(200, other);
        let response = gateway.run(|| (supplier.find)(find_request(Some(BOOKING_ID))));
        assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
    }
}
