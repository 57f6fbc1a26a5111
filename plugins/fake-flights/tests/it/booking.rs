//! Prebooking, booking and reading a booking back.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::flight_booking::{BookingLookup, FindRequest};
use stopover_sdk::http::Error;
use stopover_sdk::testing::Outcome::{InvalidResponse, TimedOut};
use stopover_sdk::testing::outcome;
use stopover_sdk::types::flight::{ChangeType, SupplierBooking};
use stopover_sdk::types::{BookingStatus, Checkout};
use stopover_sdk::{FlightBooking, ReadError, RefusalReason};

use crate::ask::{
    BOOKING_ID, BOOKING_REF, asked, book_request, edited, find_request, gateway, prebook_request,
};
use crate::{jetbridge, skylane};

type Find = fn(FindRequest) -> Result<BookingLookup, ReadError>;

/// The `find` function of a supplier, with its responses.
struct Reader {
    find: Find,
    booking: Value,
    /// JSON pointer of the object that contains the booking's fields.
    root: &'static str,
    list: fn(&[Value]) -> String,
    by_id: &'static str,
    by_reference: &'static str,
    not_found: String,
    client_reference: &'static str,
}

fn readers() -> [Reader; 2] {
    [
        Reader {
            find: Skylane::find,
            booking: skylane::fixture("order"),
            root: "/data",
            list: skylane::list,
            by_id: "GET /skylane/orders/FLT-100001",
            by_reference: "GET /skylane/orders?client_ref=bkg_DXB",
            not_found: skylane::error("not_found"),
            client_reference: "/data/client_ref",
        },
        Reader {
            find: Jetbridge::find,
            booking: jetbridge::fixture("booking"),
            root: "/result",
            list: jetbridge::list,
            by_id: "GET /jetbridge/v3/bookings/FLT-100001",
            by_reference: "GET /jetbridge/v3/bookings?clientRef=bkg_DXB",
            not_found: jetbridge::error("40400"),
            client_reference: "/result/clientRef",
        },
    ]
}

impl Reader {
    /// Reads back the booking after some fields were replaced.
    fn found(&self, edits: &[(&str, Value)]) -> SupplierBooking {
        let edits: Vec<_> = (edits.iter())
            .map(|(field, value)| (format!("{}{field}", self.root), value.clone()))
            .collect();
        let edits: Vec<_> = (edits.iter())
            .map(|(pointer, value)| (pointer.as_str(), value.clone()))
            .collect();
        let gateway = gateway().respond_with(200, edited(self.booking.clone(), &edits));
        match gateway.run(|| (self.find)(find_request(Some(BOOKING_ID)))) {
            Ok(BookingLookup::Found(state)) => state,
            other => panic!("{edits:?}: {other:?}"),
        }
    }
}

#[test]
fn skylane_prebook_prices_offer_with_loyalty_accounts() {
    let gateway = gateway().respond_with(200, skylane::fixture("price").to_string());
    let offer = skylane::offer_id();
    let bound = gateway
        .run(|| Skylane::prebook(prebook_request(&offer)))
        .unwrap();
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
    assert_eq!((bound.total, bound.currency.as_str()), (69_930, "EUR"));
    assert_eq!((bound.fare, bound.fare_tax), (Some(55_944), Some(13_986)));
    assert_eq!(bound.fare_conditions.refund.penalty.unwrap().amount, 5_000);
    assert_eq!(bound.journeys[0].stops, 1);
    assert_eq!(bound.checkout, None);
    assert!(!bound.documents_required && bound.expires_at.is_some());
}

#[test]
fn jetbridge_prebook_has_checkout() {
    let gateway = gateway().respond_with(201, jetbridge::fixture("prebook").to_string());
    let bound = gateway
        .run(|| Jetbridge::prebook(prebook_request("fare/1")))
        .unwrap();
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
    assert_eq!((bound.total, bound.currency.as_str()), (69_930, "EUR"));
    assert_eq!((bound.fare, bound.fare_tax), (Some(55_944), Some(13_986)));
    assert_eq!(bound.fare_conditions.refund.penalty.unwrap().amount, 5_000);
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
    for (written, units, expected) in [("787.00", 78_700, 78_700), ("699.30", 69_930, 69_930)] {
        let price = edited(
            skylane::fixture("price"),
            &[("/data/total/value", json!(written))],
        );
        let prebook = edited(
            jetbridge::fixture("prebook"),
            &[("/result/price/units", json!(units))],
        );
        let gateway = gateway()
            .respond_with(200, price)
            .respond_with(201, prebook);
        let offer = skylane::offer_id();
        let bound = gateway.run(|| Skylane::prebook(prebook_request(&offer)));
        assert_eq!(bound.unwrap().total, expected);
        let bound = gateway.run(|| Jetbridge::prebook(prebook_request("fare/1")));
        assert_eq!(bound.unwrap().total, expected);
    }
}

#[test]
fn skylane_booking_sends_all_passengers_and_pays_total() {
    let gateway = gateway().respond_with(201, skylane::fixture("order").to_string());
    gateway.run(|| Skylane::book(book_request())).unwrap();
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
        let gateway = gateway().respond_with(201, skylane::fixture("order").to_string());
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
    let gateway = gateway().respond_with(200, jetbridge::fixture("booking").to_string());
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
    for reader in readers() {
        let state = reader.found(&[]);
        assert_eq!(state.status, BookingStatus::Confirmed);
        assert!(state.supplier_reference.starts_with("FLT-10000"));
        assert_eq!(state.client_reference.as_deref(), Some(BOOKING_REF));
        assert!(state.airline_pnr.is_some_and(|pnr| pnr.len() == 6));
        assert_eq!(state.currency, "EUR");
        assert_eq!((state.fare, state.fare_tax), (Some(55_944), Some(13_986)));
        assert_eq!(state.cancellation, None);
        let [journey] = state.journeys.as_slice() else {
            panic!("{:?}", state.journeys);
        };
        assert_eq!(journey.departure_time, "2027-03-01T15:00");
        assert_eq!(journey.arrival_time, "2027-03-02T04:45");
        assert_eq!(journey.duration_minutes, Some(585));
        assert_eq!(journey.segments[1].marketing_flight, "TK719");
    }
}

#[test]
fn order_total_includes_bags() {
    let [skylane, jetbridge] = readers().map(|reader| reader.found(&[]));
    assert_eq!(skylane.total, 69_930 + 6_000);
    assert_eq!(jetbridge.total, 69_930);
    assert!(jetbridge.services.is_empty());
}

#[test]
fn jetbridge_find_returns_no_passengers() {
    let [skylane, jetbridge] = readers().map(|reader| reader.found(&[]));
    assert_eq!(skylane.journeys[0].segments[0].passengers.len(), 3);
    assert!(jetbridge.journeys[0].segments[0].passengers.is_empty());
}

#[test]
fn airline_change_is_fully_converted() {
    for reader in readers() {
        let state = reader.found(&[]);
        let [change] = state.changes.as_slice() else {
            panic!("{:?}", state.changes);
        };
        assert_eq!(
            change.supplier_change_id,
            format!("{}-change-1", state.supplier_reference)
        );
        assert_eq!(change.change_type, ChangeType::ScheduleChange);
        assert!(change.action_required);
        assert_eq!(change.expires_at, Some(change.detected_at + 3 * 86_400_000));
        assert_eq!(change.accepted_at, None);
        assert_eq!(
            change.removed_segments[0].departure_time,
            "2027-03-01T23:30"
        );
        assert_eq!(change.added_segments[0].departure_time, "2027-03-02T00:15");
        assert_eq!(
            change.removed_segments[0].supplier_segment_id,
            change.added_segments[0].supplier_segment_id
        );
    }
}

#[test]
fn unknown_change_kind_is_derived_from_remaining_flights() {
    let pointers = [
        ("/changes/0/kind", "/changes/0/added"),
        ("/changes/0/type", "/changes/0/new"),
    ];
    for (reader, (kind, added)) in readers().into_iter().zip(pointers) {
        let rerouted = reader.found(&[(kind, json!("BLOWN_AWAY"))]);
        assert_eq!(rerouted.changes[0].change_type, ChangeType::Reroute);
        let gone = reader.found(&[(kind, json!("BLOWN_AWAY")), (added, json!([]))]);
        assert_eq!(gone.changes[0].change_type, ChangeType::Cancellation);
    }
}

#[test]
fn every_state_is_converted() {
    let [skylane, jetbridge] = readers();
    let cases = [
        ("pending", "PROCESSING", BookingStatus::Pending),
        ("ticketed", "TICKETED", BookingStatus::Confirmed),
        (
            "cancelling",
            "CANCEL_REQUESTED",
            BookingStatus::CancelPending,
        ),
        ("cancelled", "CANCELLED", BookingStatus::Canceled),
    ];
    for (state, status, expected) in cases {
        assert_eq!(skylane.found(&[("/state", json!(state))]).status, expected);
        assert_eq!(
            jetbridge.found(&[("/status", json!(status))]).status,
            expected
        );
    }
}

#[test]
fn booking_without_ticket_is_pending_without_locator() {
    let edits = [
        ("/data/state", json!("pending")),
        ("/data/locator", Value::Null),
    ];
    let order = edited(skylane::fixture("order"), &edits);
    let edits = [
        ("/result/status", json!("PROCESSING")),
        ("/result/pnr", json!("")),
    ];
    let booking = edited(jetbridge::fixture("booking"), &edits);
    let gateway = gateway()
        .respond_with(202, order)
        .respond_with(202, booking);
    for booking in [
        gateway.run(|| Skylane::book(book_request())).unwrap(),
        gateway.run(|| Jetbridge::book(book_request())).unwrap(),
    ] {
        assert_eq!(booking.status, BookingStatus::Pending);
        assert_eq!(booking.airline_pnr, None);
    }
}

#[test]
fn booking_given_up_has_failed_with_any_reason() {
    let other = |text: &str| RefusalReason::Other(text.to_owned());
    let [skylane, jetbridge] = readers();
    let refused = json!({"code": "airline_refused", "detail": "d"});
    let new_one = json!({"code": "new_one", "detail": "d"});
    let at_skylane = [
        (refused, other("airline-refused"), Some("airline_refused")),
        (new_one, other("failed"), Some("new_one")),
        (Value::Null, other("failed"), None),
    ];
    let gone = json!({"no": 42200, "text": "t"});
    let new_one = json!({"no": 45999, "text": "t"});
    let at_jetbridge = [
        (gone, RefusalReason::Unavailable, Some("42200")),
        (new_one, other("failed"), Some("45999")),
        (Value::Null, other("failed"), None),
    ];
    for (reader, status, cases) in [
        (skylane, ("/state", json!("failed")), at_skylane),
        (jetbridge, ("/status", json!("FAILED")), at_jetbridge),
    ] {
        for (failure, reason, code) in cases {
            let edits = [status.clone(), ("/failure", failure)];
            let BookingStatus::Failed(refusal) = reader.found(&edits).status else {
                panic!("{edits:?}");
            };
            assert_eq!(refusal.reason, reason);
            assert_eq!(refusal.supplier_code.as_deref(), code);
        }
    }
}

#[test]
fn booking_is_read_by_id() {
    for reader in readers() {
        for (id, path) in [
            (BOOKING_ID, reader.by_id.to_owned()),
            ("FLT 1/2", escaped(&reader)),
        ] {
            let gateway = gateway().respond_with(200, reader.booking.to_string());
            let found = gateway.run(|| (reader.find)(find_request(Some(id))));
            assert!(matches!(found, Ok(BookingLookup::Found(_))), "{found:?}");
            assert_eq!(asked(&gateway), [path]);
        }
    }
}

fn escaped(reader: &Reader) -> String {
    reader.by_id.replace(BOOKING_ID, "FLT%201%2F2")
}

#[test]
fn booking_without_id_is_searched_by_client_reference() {
    for reader in readers() {
        for (bookings, expected) in [(vec![reader.booking.clone()], true), (Vec::new(), false)] {
            let gateway = gateway().respond_with(200, (reader.list)(&bookings));
            let response = gateway.run(|| (reader.find)(find_request(None))).unwrap();
            assert_eq!(matches!(response, BookingLookup::Found(_)), expected);
            assert_eq!(asked(&gateway), [reader.by_reference]);
        }
    }
}

#[test]
fn booking_with_unknown_id_is_searched_by_client_reference() {
    for reader in readers() {
        let gateway = gateway()
            .respond_with(404, &reader.not_found)
            .respond_with(200, (reader.list)(&[]));
        let response = gateway.run(|| (reader.find)(find_request(Some(BOOKING_ID))));
        assert_eq!(response, Ok(BookingLookup::NotFound));
        assert_eq!(asked(&gateway), [reader.by_id, reader.by_reference]);
    }
}

#[test]
fn booking_is_not_found_only_by_empty_list() {
    for reader in readers() {
        let edits = [(reader.client_reference, json!("bkg_other"))];
        let other = edited(reader.booking.clone(), &edits);
        let others = [serde_json::from_str(&other).unwrap()];
        let twice = [reader.booking.clone(), reader.booking.clone()];
        for (status, body) in [
            (404, reader.not_found.clone()),
            (404, String::new()),
            (410, String::new()),
            (200, String::new()),
            (200, "{}".to_owned()),
            (200, "[]".to_owned()),
            (200, (reader.list)(&twice)),
            (200, (reader.list)(&others)),
            (500, String::new()),
        ] {
            let gateway = gateway().respond_with(status, &body);
            let response = gateway.run(|| (reader.find)(find_request(None)));
            assert!(response.is_err(), "{status} {body}: {response:?}");
        }
        let gateway = gateway().respond_with(200, other);
        let response = gateway.run(|| (reader.find)(find_request(Some(BOOKING_ID))));
        assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
    }
}

#[test]
fn hanging_find_times_out() {
    for reader in readers() {
        for reference in [None, Some(BOOKING_ID)] {
            let gateway = gateway().fail_with(Error::TimedOut("no response".to_owned()));
            let response = gateway.run(|| (reader.find)(find_request(reference)));
            assert_eq!(outcome(&response), TimedOut, "{response:?}");
            assert_eq!(gateway.requests().len(), 1);
        }
    }
}
