//! Prebooking, booking and reading a booking back.

use duffel_flights::DuffelFlights;
use serde_json::json;
use stopover_sdk::flight_booking::{BookRequest, BookingLookup, PrebookRequest};
use stopover_sdk::http::{Error, Method, Response};
use stopover_sdk::testing::Outcome::{InvalidResponse, NotSent, Refused, Unavailable, Unknown};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, refusal,
};
use stopover_sdk::types::flight::{DocumentType, Gender, PassengerType};
use stopover_sdk::types::{BookingStatus, Money};
use stopover_sdk::{FlightBooking, RefusalReason};

use crate::ask;

#[test]
fn prebook_rereads_offer() {
    let gateway = MockGateway::new().respond_with(200, ask::fixture("offer.json"));
    let bound = gateway
        .run(|| DuffelFlights::prebook(ask::prebook_request()))
        .unwrap();
    assert_eq!(bound.supplier_prebook, ask::PREBOOK);
    assert_eq!((bound.total, bound.currency.as_str()), (36_040, "EUR"));
    assert_eq!((bound.fare, bound.fare_tax), (Some(30_000), Some(6_040)));
    assert!(bound.documents_required && bound.checkout.is_none());
    assert_eq!(bound.journeys.len(), 2);
    assert_eq!(bound.expires_at, Some(1_809_167_400_500));
    let requests = gateway.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].url,
        "https://api.duffel.com/air/offers/off_flex"
    );
}

#[test]
fn prebook_sets_loyalty_programmes_before_reading_price() {
    let cheaper = ask::changed("offer.json", &[("/total_amount", json!("324.36"))]);
    let gateway = MockGateway::new()
        .respond_with(200, ask::fixture("offer.json"))
        .respond_with(200, r#"{"data": {"id": "pas_adult", "type": "adult"}}"#)
        .respond_with(200, cheaper);
    let request = PrebookRequest {
        passengers: ask::loyal_passengers(),
        ..ask::prebook_request()
    };
    let bound = gateway.run(|| DuffelFlights::prebook(request)).unwrap();
    assert_eq!(bound.total, 32_436);
    let patch = &gateway.requests()[1];
    assert_eq!(patch.method, Method::Patch);
    assert!(
        patch
            .url
            .ends_with("/air/offers/off_flex/passengers/pas_adult")
    );
    assert_eq!(
        ask::data(patch),
        json!({
            "given_name": "Ana",
            "family_name": "Guest",
            "loyalty_programme_accounts": [{ "airline_iata_code": "OW", "account_number": "OW-10" }],
        })
    );
}

#[test]
fn prebook_with_higher_price_or_other_currency_is_refused() {
    let now = |amount: &str| ask::changed("offer.json", &[("/total_amount", json!(amount))]);
    let prebook = |document: String| {
        let gateway = MockGateway::new().respond_with(200, document);
        gateway.run(|| DuffelFlights::prebook(ask::prebook_request()))
    };
    let current = RefusalReason::PriceChanged(Money::new(36_041, "EUR"));
    assert_eq!(refusal(prebook(now("360.41"))).reason, current);
    assert_eq!(prebook(now("350.00")).unwrap().total, 35_000);
    let dollars = ask::changed("offer.json", &[("/total_currency", json!("USD"))]);
    assert_eq!(outcome(&prebook(dollars)), Refused("terms changed"));
    let other = ask::changed("offer.json", &[("/id", json!("off_other"))]);
    assert_eq!(outcome(&prebook(other)), NotSent);
}

#[test]
fn prebook_with_invalid_passengers_is_refused_before_any_change() {
    let with = |change: &dyn Fn(&mut PrebookRequest)| {
        let mut request = PrebookRequest {
            passengers: ask::loyal_passengers(),
            ..ask::prebook_request()
        };
        change(&mut request);
        let gateway = MockGateway::new().respond_with(200, ask::fixture("offer.json"));
        let result = gateway.run(|| DuffelFlights::prebook(request));
        assert_eq!(gateway.requests().len(), 1);
        refusal(result).reason
    };
    let cases: [&dyn Fn(&mut PrebookRequest); 6] = [
        &|request| request.passengers.truncate(2),
        &|request| request.passengers[1].passenger_type = PassengerType::Adult,
        &|request| request.passengers[1].passenger_type = PassengerType::Infant,
        &|request| request.passengers[0].gender = Gender::Unspecified,
        &|request| request.passengers[1].document = None,
        &|request| {
            let document = request.passengers[1].document.as_mut().unwrap();
            document.document_type = DocumentType::IdentityCard;
        },
    ];
    for case in cases {
        assert_eq!(with(case), RefusalReason::Invalid);
    }
}

#[test]
fn failed_prebook_is_not_sent_before_first_change_and_unknown_after() {
    let broken = || Error::TimedOut("slow".to_owned());
    let gateway = MockGateway::new().fail_with(broken());
    let result = gateway.run(|| DuffelFlights::prebook(ask::prebook_request()));
    assert_eq!(outcome(&result), NotSent, "{result:?}");

    let gateway = MockGateway::new()
        .respond_with(200, ask::fixture("offer.json"))
        .respond_with(200, r#"{"data": {"id": "pas_adult"}}"#)
        .fail_with(broken());
    let request = PrebookRequest {
        passengers: ask::loyal_passengers(),
        ..ask::prebook_request()
    };
    let result = gateway.run(|| DuffelFlights::prebook(request));
    assert_eq!(outcome(&result), Unknown, "{result:?}");
}

#[test]
fn booking_sends_exact_price_and_all_passengers() {
    let gateway = MockGateway::new().respond_with(201, ask::fixture("order.json"));
    let state = gateway
        .run(|| DuffelFlights::book(ask::book_request()))
        .unwrap();
    assert_eq!(state.status, BookingStatus::Confirmed);
    assert_eq!(state.supplier_reference, "ord_own");
    let request = &gateway.requests()[0];
    assert_eq!(request.method, Method::Post);
    assert_eq!(request.url, "https://api.duffel.com/air/orders");
    assert_eq!(request.timeout_ms, Some(120_000));
    let passport = |name: &str| {
        json!([{ "type": "passport", "unique_identifier": format!("P-{name}"), "issuing_country_code": "FR",
            "expires_on": "2030-01-01" }])
    };
    let (email, phone) = ("ana@guest.example", "+33100000000");
    assert_eq!(
        ask::data(request),
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
fn each_infant_is_assigned_to_its_own_adult() {
    let gateway = MockGateway::new().respond_with(201, ask::fixture("order.json"));
    let adult = || ask::passenger(PassengerType::Adult, "Ana", "1990-01-01");
    let infant = || ask::passenger(PassengerType::Infant, "Ed", "2026-09-01");
    let request = BookRequest {
        passengers: vec![infant(), adult(), adult(), infant()],
        supplier_prebook:
            r#"{"offer":"off_flex","passengers":["i1","a1","a2","i2"],"documents":[]}"#.to_owned(),
        ..ask::book_request()
    };
    gateway.run(|| DuffelFlights::book(request)).unwrap();
    let sent = ask::data(&gateway.requests()[0]);
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
    let result = gateway.run(|| DuffelFlights::book(request));
    assert_eq!(outcome(&result), Refused("invalid"));
    assert!(gateway.requests().is_empty());
}

#[test]
fn accepted_order_is_pending_with_or_without_id() {
    let cases = [
        (ask::fixture("order.json"), "ord_own"),
        (
            r#"{"data": {"id": "por_1", "offer_id": "off_flex"}}"#.to_owned(),
            "",
        ),
        (r#"{"data": null, "meta": null}"#.to_owned(), ""),
        (String::new(), ""),
    ];
    for (document, reference) in cases {
        let gateway = MockGateway::new().respond_with(202, &document);
        let state = gateway
            .run(|| DuffelFlights::book(ask::book_request()))
            .unwrap();
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
        with("/total_amount", json!(null)),
        ask::fixture("order.json")[..300].to_owned(),
        r#"{"data": {}}"#.to_owned(),
    ];
    let responses = responses.map(|body| Ok(Response::new(201, body)));
    let failures = failures_after_sending().into_iter().chain(responses);
    for failure in failures {
        let gateway = MockGateway::new().exchange(failure.clone());
        let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
        assert_eq!(outcome(&result), Unknown, "{failure:?}");
    }
    for failure in failures_before_sending() {
        let gateway = MockGateway::new().exchange(failure);
        let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
        assert_eq!(outcome(&result), NotSent);
    }
}

#[test]
fn booking_with_outdated_price_is_refused_with_current_price() {
    let mismatch = ask::error(
        "validation_error",
        "payment_amount_does_not_match_order_amount",
    );
    let dearer = ask::changed("offer.json", &[("/total_amount", json!("370.40"))]);
    let gateway = MockGateway::new()
        .respond_with(422, &mismatch)
        .respond_with(200, dearer);
    let current = RefusalReason::PriceChanged(Money::new(37_040, "EUR"));
    let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
    assert_eq!(refusal(result).reason, current);

    let gateway = MockGateway::new()
        .respond_with(422, &mismatch)
        .respond_with(500, "");
    let result = gateway.run(|| DuffelFlights::book(ask::book_request()));
    assert_eq!(outcome(&result), Refused("other"));
}

#[test]
fn booking_with_foreign_prebook_reference_is_refused_without_request() {
    let gateway = MockGateway::new();
    let request = BookRequest {
        supplier_prebook: "off_flex".to_owned(),
        ..ask::book_request()
    };
    let result = gateway.run(|| DuffelFlights::book(request));
    assert_eq!(outcome(&result), Refused("invalid"));
    assert!(gateway.requests().is_empty());
}

#[test]
fn find_reads_order_by_id_then_by_offer() {
    let order = ask::fixture("order.json");
    let stranger = ask::changed(
        "order.json",
        &[("/metadata", json!(null)), ("/id", json!("ord_stranger"))],
    );
    let find =
        |gateway: &MockGateway, request| gateway.run(|| DuffelFlights::find(request)).unwrap();

    let gateway = MockGateway::new().respond_with(200, &order);
    let BookingLookup::Found(state) = find(&gateway, ask::find_request(Some("ord_own"), None))
    else {
        panic!("the order was not found");
    };
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(
        gateway.requests()[0].url,
        "https://api.duffel.com/air/orders/ord_own"
    );

    for reference in [None, Some(""), Some("ord_gone")] {
        let gateway = match reference {
            Some("ord_gone") => MockGateway::new()
                .respond_with(404, ask::error("invalid_request_error", "not_found")),
            _ => MockGateway::new(),
        };
        let gateway = gateway
            .respond_with(200, ask::orders(&[&stranger], Some("more")))
            .respond_with(
                200,
                ask::orders(&[&stranger, &ask::canceled_order(), &order], None),
            );
        let found = find(&gateway, ask::find_request(reference, Some(ask::PREBOOK)));
        let BookingLookup::Found(state) = found else {
            panic!("{reference:?}: the order was not found");
        };
        assert_eq!(state.supplier_reference, "ord_own");
        assert_eq!(state.status, BookingStatus::Confirmed);
        let last = gateway.requests().pop().unwrap();
        assert_eq!(
            last.url,
            "https://api.duffel.com/air/orders?offer_id=off_flex&after=more"
        );
    }
}

#[test]
fn find_without_match_returns_not_found_and_failed_read_returns_error() {
    let gateway = MockGateway::new().respond_with(200, ask::orders(&[], None));
    let request = ask::find_request(None, Some(ask::PREBOOK));
    assert_eq!(
        gateway.run(|| DuffelFlights::find(request)),
        Ok(BookingLookup::NotFound)
    );
    let request = ask::find_request(None, None);
    assert_eq!(
        MockGateway::new().run(|| DuffelFlights::find(request)),
        Ok(BookingLookup::NotFound)
    );
    let request = ask::find_request(None, Some(ask::PREBOOK));
    let result = MockGateway::new()
        .respond_with(503, "")
        .run(|| DuffelFlights::find(request));
    assert_eq!(outcome(&result), Unavailable, "{result:?}");
    let other = ask::changed(
        "order.json",
        &[("/metadata/gateway_booking_id", json!("bkg_other"))],
    );
    let result = ask::found(&MockGateway::new().respond_with(200, other));
    assert_eq!(outcome(&result), InvalidResponse, "{result:?}");
}
