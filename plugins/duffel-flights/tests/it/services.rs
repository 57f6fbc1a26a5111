//! Listing and buying bags.

use serde_json::json;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, NotFound};
use stopover_sdk::testing::{MockGateway, check_failed_change, outcome};
use stopover_sdk::types::flight::BaggageType;

use crate::ask;

#[test]
fn only_bags_of_single_passengers_are_listed() {
    let gateway = ask::fixtures(&["order.json", "services.json"]);
    let available = ask::list_services(&gateway).unwrap();
    assert_eq!(available.currency, "EUR");
    let [checked, cabin] = available.services.as_slice() else {
        panic!("{:?}", available.services);
    };
    assert_eq!(checked.supplier_service_id, "aso_23");
    assert_eq!((checked.passenger, cabin.passenger), (0, 1));
    assert_eq!((checked.unit_amount, checked.max_quantity), (2_749, 3));
    assert_eq!(checked.supplier_segment_ids, ["seg_o1", "seg_o2"]);
    let bags = [checked, cabin].map(|service| {
        let baggage = service.baggage.unwrap();
        (baggage.baggage_type, baggage.max_weight_kg)
    });
    let expected = [
        (BaggageType::Checked, Some(23)),
        (BaggageType::CarryOn, None),
    ];
    assert_eq!(bags, expected);
    let order = "GET /air/orders/ord_own";
    let read = [order.to_owned(), format!("{order}/available_services")];
    assert_eq!(ask::sent(&gateway), read);
}

#[test]
fn order_without_bags_returns_empty_list() {
    let gateway = ask::fixtures(&["order.json"]).respond_with(200, r#"{"data": [], "meta": null}"#);
    let available = ask::list_services(&gateway).unwrap();
    assert_eq!(
        (available.currency.as_str(), available.services.len()),
        ("EUR", 0)
    );
}

#[test]
fn unreadable_service_list_returns_error() {
    let (order, services) = (ask::fixture("order.json"), ask::fixture("services.json"));
    let other = ask::changed("order.json", &[("/id", json!("ord_other"))]);
    let unknown = ask::error("invalid_request_error", "not_found");
    let cases = [
        ((200, &*order), (500, ""), Failed),
        ((200, &*order), (200, "{}"), InvalidResponse),
        ((404, &*unknown), (404, &*unknown), NotFound),
        ((404, "<html>"), (404, "<html>"), InvalidResponse),
        (
            (200, &*order),
            (200, r#"{"data": [null, 5]}"#),
            InvalidResponse,
        ),
        ((200, &*other), (200, &*services), InvalidResponse),
    ];
    for (order, services, expected) in cases {
        let result = ask::list_services(&MockGateway::with_responses(&[order, services]));
        assert_eq!(outcome(&result), expected, "{result:?}");
    }
}

#[test]
fn purchased_bags_are_paid_exactly_and_returned_with_order() {
    let gateway = ask::fixtures(&["order.json"]);
    let state = ask::buy_bags(&gateway).unwrap();
    assert_eq!(state.supplier_reference, "ord_own");
    assert_eq!(state.services[0].quantity, 2);
    assert_eq!(ask::sent(&gateway), ["POST /air/orders/ord_own/services"]);
    assert_eq!(
        gateway.request_json(0)["data"],
        json!({
            "payment": { "type": "balance", "amount": "54.98", "currency": "EUR" },
            "add_services": [{ "id": "aso_23", "quantity": 2 }],
        })
    );
}

#[test]
fn purchase_is_unknown_after_sending_and_not_sent_before() {
    let other = ask::changed("order.json", &[("/id", json!("ord_other"))]);
    let dollars = ask::changed("order.json", &[("/total_currency", json!("USD"))]);
    let responses = [other, dollars, ask::fixture("offer.json")];
    let responses = responses.map(|body| Response::new(200, body));
    check_failed_change(responses, |failure| {
        ask::buy_bags(&MockGateway::new().exchange(failure))
    });
}
