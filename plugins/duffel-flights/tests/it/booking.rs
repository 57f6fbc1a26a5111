//! Prebooking, booking and reading a booking back.

use serde_json::json;
use stopover_sdk::RefusalReason;
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, PrebookRequest};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{
    Done, InvalidResponse, NotSent, Refused, Rejected, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, check_failed_change, outcome, refusal};
use stopover_sdk::types::flight::{DocumentType, Gender, PassengerType};
use stopover_sdk::types::{BookingStatus, Money};

use crate::ask;

#[test]
fn prebook_rereads_offer() {
    let gateway = ask::fixtures(&["offer.json"]);
    let bound = ask::prebook(&gateway).unwrap();
    assert_eq!(bound.supplier_prebook, ask::PREBOOK);
    assert_eq!((bound.total, bound.currency.as_str()), (36_040, "EUR"));
    assert_eq!((bound.fare, bound.fare_tax), (Some(30_000), Some(6_040)));
    assert!(bound.documents_required && bound.checkout.is_none());
    assert_eq!(bound.journeys.len(), 2);
    assert_eq!(bound.expires_at, Some(1_809_167_400_500));
    assert_eq!(ask::sent(&gateway), ["GET /air/offers/off_flex"]);
}

#[test]
fn prebook_sets_loyalty_programmes_before_reading_price() {
    let cheaper = ask::changed("offer.json", &[("/total_amount", json!("324.36"))]);
    let gateway = ask::fixtures(&["offer.json"])
        .respond_with(200, r#"{"data": {"id": "pas_adult", "type": "adult"}}"#)
        .respond_with(200, cheaper);
    assert_eq!(ask::loyal_prebook(&gateway).unwrap().total, 32_436);
    assert_eq!(
        ask::sent(&gateway)[1],
        "PATCH /air/offers/off_flex/passengers/pas_adult"
    );
    assert_eq!(
        gateway.request_json(1)["data"],
        json!({
            "given_name": "Ana",
            "family_name": "Guest",
            "loyalty_programme_accounts": [{ "airline_iata_code": "OW", "account_number": "OW-10" }],
        })
    );
}

#[test]
fn prebook_with_higher_price_or_other_currency_is_refused() {
    let prebook = |pointer: &str, value: &str| {
        let document = ask::changed("offer.json", &[(pointer, json!(value))]);
        ask::prebook(&MockGateway::new().respond_with(200, document))
    };
    let current = RefusalReason::PriceChanged(Money::new(36_041, "EUR"));
    assert_eq!(refusal(prebook("/total_amount", "360.41")).reason, current);
    assert_eq!(prebook("/total_amount", "350.00").unwrap().total, 35_000);
    let dollars = prebook("/total_currency", "USD");
    assert_eq!(outcome(&dollars), Refused("terms changed"));
    assert_eq!(outcome(&prebook("/id", "off_other")), NotSent);
}

#[test]
fn prebook_with_invalid_passengers_is_refused_before_any_change() {
    let cases: [fn(&mut PrebookRequest); 6] = [
        |request| request.passengers.truncate(2),
        |request| request.passengers[1].passenger_type = PassengerType::Adult,
        |request| request.passengers[1].passenger_type = PassengerType::Infant,
        |request| request.passengers[0].gender = Gender::Unspecified,
        |request| request.passengers[1].document = None,
        |request| {
            let document = request.passengers[1].document.as_mut().unwrap();
            document.document_type = DocumentType::IdentityCard;
        },
    ];
    for change in cases {
        let mut request = ask::loyal_prebook_request();
        change(&mut request);
        let gateway = ask::fixtures(&["offer.json"]);
        let result = ask::prebook_of(&gateway, request);
        assert_eq!(outcome(&result), Refused("invalid"));
        assert_eq!(gateway.requests().len(), 1);
    }
}

#[test]
fn failed_prebook_is_not_sent_before_first_change_and_unknown_after() {
    let broken = || Error::TimedOut("slow".to_owned());
    let result = ask::prebook(&MockGateway::new().fail_with(broken()));
    assert_eq!(outcome(&result), NotSent);

    let gateway = ask::fixtures(&["offer.json"])
        .respond_with(200, r#"{"data": {"id": "pas_adult"}}"#)
        .fail_with(broken());
    assert_eq!(outcome(&ask::loyal_prebook(&gateway)), Unknown);
}

#[test]
fn booking_sends_exact_price_and_all_passengers() {
    let gateway = MockGateway::new().respond_with(201, ask::fixture("order.json"));
    let state = ask::book(&gateway).unwrap();
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(ask::sent(&gateway), ["POST /air/orders"]);
    assert_eq!(gateway.requests()[0].timeout_ms, Some(120_000));
    let passport = |name: &str| {
        json!([{ "type": "passport", "unique_identifier": format!("P-{name}"), "issuing_country_code": "FR",
            "expires_on": "2030-01-01" }])
    };
    let (email, phone) = ("ana@guest.example", "+33100000000");
    assert_eq!(
        gateway.request_json(0)["data"],
        json!({
            "type": "instant",
            "selected_offers": ["off_flex"],
            "payments": [{ "type": "balance", "amount": "360.40", "currency": "EUR" }],
            "metadata": {
                "gateway_booking_id": "bkg_own_1",
                "gateway_passengers": "pas_adult,pas_child,pas_infant",
            },
            "passengers": [
                { "id": "pas_adult", "title": "dr", "given_name": "Ana", "family_name": "Guest", "gender": "f",
                  "born_on": "1990-01-01", "email": email, "phone_number": phone,
                  "infant_passenger_id": "pas_infant", "identity_documents": passport("Ana") },
                { "id": "pas_child", "title": "ms", "given_name": "Di", "family_name": "Guest", "gender": "f",
                  "born_on": "2019-01-01", "email": email, "phone_number": phone,
                  "identity_documents": passport("Di") },
                { "id": "pas_infant", "title": "mr", "given_name": "Ed", "family_name": "Guest", "gender": "m",
                  "born_on": "2026-09-01", "email": email, "phone_number": phone,
                  "identity_documents": passport("Ed") },
            ],
        })
    );
}

#[test]
fn booking_counts_only_with_its_own_reference_or_passengers() {
    let no_metadata = ("/metadata", json!(null));
    let strangers = ("/passengers", json!([{ "id": "pas_x" }]));
    let unreadable = ("/passengers", json!(5));
    for (values, expected) in [
        (vec![no_metadata.clone()], Done),
        (vec![strangers.clone()], Done),
        (vec![no_metadata.clone(), strangers], Unknown),
        (vec![no_metadata.clone(), unreadable], Unknown),
        (vec![no_metadata, ("/passengers", json!([]))], Unknown),
    ] {
        let order = ask::changed("order.json", &values);
        let result = ask::book(&MockGateway::new().respond_with(201, order));
        assert_eq!(outcome(&result), expected, "{values:?}");
    }
}

#[test]
fn each_infant_is_assigned_to_its_own_adult() {
    let gateway = ask::fixtures(&["order.json"]);
    let adult = || ask::passenger(PassengerType::Adult, "Ana", "1990-01-01");
    let infant = || ask::passenger(PassengerType::Infant, "Ed", "2026-09-01");
    let request = BookRequest {
        passengers: vec![infant(), adult(), adult(), infant()],
        supplier_prebook:
            r#"{"offer":"off_flex","passengers":["i1","a1","a2","i2"],"documents":[]}"#.to_owned(),
        ..ask::book_request()
    };
    ask::book_of(&gateway, request).unwrap();
    let sent = &gateway.request_json(0)["data"];
    let laps: Vec<_> = (0..4)
        .map(|place| sent["passengers"][place]["infant_passenger_id"].as_str())
        .collect();
    assert_eq!(laps, [None, Some("i1"), Some("i2"), None]);
    // An order for an offer that accepts no documents has none.
    assert!(sent["passengers"][1].get("identity_documents").is_none());

    let request = BookRequest {
        passengers: vec![infant(), adult(), infant()],
        ..ask::book_request()
    };
    let gateway = MockGateway::new();
    let result = ask::book_of(&gateway, request);
    assert_eq!(outcome(&result), NotSent);
    assert!(gateway.requests().is_empty());
}

#[test]
fn accepted_order_is_pending_with_or_without_id() {
    let cases = [
        (ask::fixture("order.json"), "ord_own"),
        (r#"{"data": {"id": "por_1"}}"#.to_owned(), ""),
        (r#"{"data": {"id": "ord_other"}}"#.to_owned(), ""),
        (r#"{"data": null, "meta": null}"#.to_owned(), ""),
        (String::new(), ""),
    ];
    for (document, reference) in cases {
        let state = ask::book(&MockGateway::with_responses(&[(202, &document)])).unwrap();
        assert_eq!(state.status, BookingStatus::Pending, "{document}");
        assert_eq!(state.supplier_reference, reference, "{document}");
        assert_eq!(state.client_reference.as_deref(), Some("bkg_own_1"));
        assert_eq!(state.total, 36_040);
    }
}

#[test]
fn booking_is_unknown_after_sending_and_not_sent_before() {
    let with = |pointer, value| ask::changed("order.json", &[(pointer, value)]);
    let responses = [
        with("/metadata/gateway_booking_id", json!("bkg_other")),
        with("/cancelled_at", json!("soon")),
        ask::fixture("order.json")[..300].to_owned(),
        r#"{"data": {}}"#.to_owned(),
    ];
    let responses = responses.map(|body| Response::new(201, body));
    check_failed_change(responses, |failure| {
        ask::book(&MockGateway::new().exchange(failure))
    });
}

#[test]
fn booking_with_outdated_price_is_refused_with_current_price() {
    let code = "payment_amount_does_not_match_order_amount";
    let mismatch = ask::error("validation_error", code);
    let dearer = ask::changed("offer.json", &[("/total_amount", json!("370.40"))]);
    let book = |offer| ask::book(&MockGateway::with_responses(&[(422, &mismatch), offer]));
    let current = RefusalReason::PriceChanged(Money::new(37_040, "EUR"));
    assert_eq!(refusal(book((200, &dearer))).reason, current);
    assert_eq!(outcome(&book((500, ""))), Refused("other"));
}

/// Only Duffel can refuse a booking. An earlier call with the same prebook may have made the order.
#[test]
fn booking_that_the_adapter_cannot_request_is_not_sent() {
    let mut foreign = ask::book_request();
    foreign.supplier_prebook = "off_flex".to_owned();
    let mut another_party = ask::book_request();
    another_party.passengers.pop();
    let mut unspecified = ask::book_request();
    unspecified.passengers[0].gender = Gender::Unspecified;
    let mut odd_currency = ask::book_request();
    odd_currency.currency = "???".to_owned();
    for (name, request) in [
        ("foreign prebook", foreign),
        ("another party", another_party),
        ("unspecified gender", unspecified),
        ("odd currency", odd_currency),
    ] {
        let gateway = MockGateway::new();
        let result = ask::book_of(&gateway, request);
        assert_eq!(outcome(&result), NotSent, "{name}: {result:?}");
        assert!(gateway.requests().is_empty(), "{name}");
    }
}

#[test]
fn find_reads_order_by_id_then_by_offer() {
    let order = ask::fixture("order.json");
    let stranger = [
        ("/metadata/gateway_booking_id", json!("bkg_other")),
        ("/id", json!("ord_stranger")),
    ];
    let stranger = ask::changed("order.json", &stranger);

    let gateway = ask::fixtures(&["order.json"]);
    let state = ask::found(&gateway).unwrap().unwrap();
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(ask::sent(&gateway), ["GET /air/orders/ord_own"]);

    let pages = [
        ask::list(&[&stranger], Some("more")),
        ask::list(&[&stranger, &ask::canceled_order(), &order], None),
    ];
    let unknown = ask::error("invalid_request_error", "not_found");
    for reference in [None, Some(""), Some("ord_gone")] {
        let mut responses = vec![(200, pages[0].as_str()), (200, pages[1].as_str())];
        if reference == Some("ord_gone") {
            responses.insert(0, (404, unknown.as_str()));
        }
        let gateway = MockGateway::with_responses(&responses);
        let request = ask::find_request(reference, Some(ask::PREBOOK));
        let found = ask::find_of(&gateway, request);
        let Ok(BookingLookup::Found(state)) = found else {
            panic!("{reference:?}: {found:?}");
        };
        assert_eq!(state.supplier_reference, "ord_own");
        assert_eq!(state.status, BookingStatus::Confirmed);
        let last = ask::sent(&gateway).pop().unwrap();
        assert_eq!(last, "GET /air/orders?offer_id=off_flex&after=more");
    }
}

#[test]
fn find_without_match_returns_not_found_and_failed_read_returns_error() {
    let find = |prebook, responses: &[(u16, &str)]| {
        let request = ask::find_request(None, prebook);
        ask::find_of(&MockGateway::with_responses(responses), request)
    };
    let (prebook, none) = (Some(ask::PREBOOK), ask::list(&[], None));
    assert_eq!(find(prebook, &[(200, &none)]), Ok(BookingLookup::NotFound));
    // Without an id no request can be sent, so the lookup proves no absence.
    assert_eq!(outcome(&find(None, &[])), Rejected("invalid"));
    assert_eq!(outcome(&find(prebook, &[(503, "")])), Unavailable);
    let other = ("/metadata/gateway_booking_id", json!("bkg_other"));
    let other = ask::changed("order.json", &[other]);
    let result = ask::found(&MockGateway::new().respond_with(200, other));
    assert_eq!(outcome(&result), InvalidResponse);
}
