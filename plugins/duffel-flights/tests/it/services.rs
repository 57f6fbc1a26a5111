//! Listing and buying bags.

use duffel_flights::DuffelFlights;
use serde_json::json;
use stopover_sdk::flight_services::AvailableServices;
use stopover_sdk::http::{Method, Response};
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, NotFound, NotSent, Unknown};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome,
};
use stopover_sdk::types::flight::{BaggageType, SupplierBooking};
use stopover_sdk::{ChangeError, FlightServices, ReadError};

use crate::ask;

fn list(gateway: &MockGateway) -> Result<AvailableServices, ReadError> {
    gateway.run(|| DuffelFlights::list_services(ask::list_request()))
}

fn buy(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    gateway.run(|| DuffelFlights::purchase_services(ask::purchase_request()))
}

#[test]
fn only_bags_of_single_passengers_are_listed() {
    let gateway = MockGateway::new()
        .respond_with(200, ask::fixture("order.json"))
        .respond_with(200, ask::fixture("services.json"));
    let available = list(&gateway).unwrap();
    assert_eq!(available.currency, "EUR");
    let [checked, cabin] = available.services.as_slice() else {
        panic!("{:?}", available.services);
    };
    assert_eq!(checked.supplier_service_id, "aso_23");
    assert_eq!(checked.passenger, 0);
    assert_eq!(checked.unit_amount, 2_749);
    assert_eq!(checked.max_quantity, 3);
    assert_eq!(checked.supplier_segment_ids, ["seg_o1", "seg_o2"]);
    let bag = checked.baggage.unwrap();
    assert_eq!(bag.baggage_type, BaggageType::Checked);
    assert_eq!(bag.max_weight_kg, Some(23));
    let bag = cabin.baggage.unwrap();
    assert_eq!(cabin.passenger, 1);
    assert_eq!(bag.baggage_type, BaggageType::CarryOn);
    assert_eq!(bag.max_weight_kg, None);
    let urls: Vec<_> = gateway
        .requests()
        .into_iter()
        .map(|request| request.url)
        .collect();
    let order = "https://api.duffel.com/air/orders/ord_own";
    assert_eq!(
        urls,
        [order.to_owned(), format!("{order}/available_services")]
    );
}

#[test]
fn order_without_bags_returns_empty_list() {
    let gateway = MockGateway::new()
        .respond_with(200, ask::fixture("order.json"))
        .respond_with(200, r#"{"data": [], "meta": null}"#);
    let available = list(&gateway).unwrap();
    assert_eq!(available.currency, "EUR");
    assert_eq!(available.services.len(), 0);
}

#[test]
fn unreadable_service_list_returns_error() {
    let order = || MockGateway::new().respond_with(200, ask::fixture("order.json"));
    assert_eq!(outcome(&list(&order().respond_with(500, ""))), Failed);
    assert_eq!(
        outcome(&list(&order().respond_with(200, "{}"))),
        InvalidResponse
    );
    assert_eq!(
        outcome(&list(
            &MockGateway::new()
                .respond_with(404, "")
                .respond_with(404, "")
        )),
        NotFound
    );
    let other = ask::changed("order.json", &[("/id", json!("ord_other"))]);
    let gateway = MockGateway::new()
        .respond_with(200, other)
        .respond_with(200, ask::fixture("services.json"));
    assert_eq!(outcome(&list(&gateway)), InvalidResponse);
}

#[test]
fn purchased_bags_are_paid_exactly_and_returned_with_order() {
    let gateway = MockGateway::new().respond_with(200, ask::fixture("order.json"));
    let state = buy(&gateway).unwrap();
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(state.services[0].quantity, 2);
    let request = &gateway.requests()[0];
    assert_eq!(request.method, Method::Post);
    assert!(request.url.ends_with("/air/orders/ord_own/services"));
    assert_eq!(
        ask::data(request),
        json!({
            "payment": { "type": "balance", "amount": "54.98", "currency": "EUR" },
            "add_services": [{ "id": "aso_23", "quantity": 2 }],
        })
    );
}

#[test]
fn purchase_is_unknown_after_sending_and_not_sent_before() {
    let other = ask::changed("order.json", &[("/id", json!("ord_other"))]);
    let mut failures = failures_after_sending();
    failures.push(Ok(Response::new(200, other)));
    for failure in failures {
        let gateway = MockGateway::new().exchange(failure.clone());
        assert_eq!(outcome(&buy(&gateway)), Unknown, "{failure:?}");
    }
    for failure in failures_before_sending() {
        let gateway = MockGateway::new().exchange(failure);
        assert_eq!(outcome(&buy(&gateway)), NotSent);
    }
}
