//! Responses with one value replaced by an invalid one: none makes the adapter panic, and amounts
//! are never negative.

use duffel_flights::DuffelFlights;
use stopover_sdk::FlightReference;
use stopover_sdk::testing::{self, MockGateway};

use crate::ask;

/// Calls `check` with every document that differs from the fixture in one value.
fn for_each_mutation(fixture: &str, check: impl Fn(&str)) {
    testing::for_each_mutation(&ask::fixture(fixture), check);
}

#[test]
fn mutated_search_response_never_panics() {
    for_each_mutation("offers-2.json", |document| {
        let gateway = ask::fixtures(&["offer-request.json"]).respond_with(200, document);
        let response = ask::price(&gateway);
        for offer in response.iter().flat_map(|response| &response.offers) {
            assert!(
                offer.total >= 0 && !offer.supplier_offer.is_empty(),
                "{document}"
            );
            assert!(!offer.journeys.is_empty(), "{document}");
        }
    });
    for_each_mutation("offer-request.json", |document| {
        let gateway = MockGateway::new()
            .respond_with(201, document)
            .respond_with(200, ask::fixture("offers-2.json"));
        let _ = ask::price(&gateway);
    });
}

#[test]
fn mutated_offer_never_panics_or_raises_price() {
    for_each_mutation("offer.json", |document| {
        let bound = ask::prebook(&MockGateway::new().respond_with(200, document));
        if let Ok(bound) = bound {
            assert!((0..=36_040).contains(&bound.total), "{document}");
        }
    });
}

#[test]
fn mutated_order_never_yields_negative_amounts() {
    for_each_mutation("order.json", |document| {
        let gateway = MockGateway::new()
            .respond_with(200, document)
            .respond_with(200, ask::fixture("quote.json"));
        if let Ok(Some(state)) = ask::found(&gateway) {
            assert!(
                state.total >= 0 && state.supplier_reference == "ord_own",
                "{document}"
            );
            assert!(state.fare.unwrap_or(0) >= 0 && state.fare_tax.unwrap_or(0) >= 0);
            assert!(
                state.services.iter().all(|one| one.unit_amount >= 0),
                "{document}"
            );
        }
    });
}

#[test]
fn mutated_cancellation_never_yields_negative_amounts() {
    for_each_mutation("quote.json", |document| {
        let confirmed_at = "\"confirmed_at\":\"2027-05-02T10:00:05Z\"";
        let confirmed = document.replace("\"confirmed_at\":null", confirmed_at);
        let gateway = ask::fixtures(&["order.json", "quote.json"]).respond_with(200, confirmed);
        if let Ok(Some(amounts)) = ask::cancel(&gateway).map(|state| state.cancellation) {
            assert!(amounts.fee >= 0 && amounts.refund >= 0, "{document}");
        }
    });
}

#[test]
fn mutated_services_and_places_never_panic() {
    for_each_mutation("services.json", |document| {
        let gateway = ask::fixtures(&["order.json"]).respond_with(200, document);
        let available = ask::list_services(&gateway);
        for service in available.iter().flat_map(|available| &available.services) {
            assert!(service.unit_amount >= 0, "{document}");
        }
    });
    for_each_mutation("suggestions.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let _ = gateway.run(|| DuffelFlights::find_airports("old".to_owned(), 5));
    });
    for_each_mutation("airlines-2.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let _ = gateway.run(|| DuffelFlights::read_airline("CH".to_owned()));
    });
}
