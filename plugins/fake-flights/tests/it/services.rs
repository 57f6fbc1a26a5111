//! Bags for Skylane's orders. Jetbridge sells none.

use fake_flights::Skylane;
use serde_json::json;
use stopover_sdk::FlightServices;
use stopover_sdk::http::Error;
use stopover_sdk::testing::Outcome::{InvalidResponse, Unknown};
use stopover_sdk::testing::outcome;
use stopover_sdk::types::flight::{Baggage, BaggageType, ServiceType};

use crate::ask::{BAGS_REF, asked, gateway, list_request, purchase_request};
use crate::supplier::SKYLANE;

const CHECKED: Baggage = Baggage {
    baggage_type: BaggageType::Checked,
    max_weight_kg: Some(23),
};

#[test]
fn bags_for_sale_are_listed_per_passenger() {
    let gateway = gateway().respond_with(200, SKYLANE.edited("bags", &[]));
    let available = gateway.run(|| Skylane::list_services(list_request()));
    let available = available.unwrap();
    assert_eq!(asked(&gateway), ["GET /skylane/orders/FLT-100001/bags"]);
    assert_eq!(available.currency, "EUR");
    for (passenger, bag) in (0..).zip(&available.services) {
        let id = format!("FLT-100001-bag-{passenger}");
        assert_eq!(bag.supplier_service_id.as_str(), id.as_str());
        assert_eq!(bag.passenger, passenger);
        assert_eq!(bag.service_type, ServiceType::Baggage);
        assert_eq!(bag.baggage, Some(CHECKED));
        assert_eq!(
            bag.supplier_segment_ids,
            ["slice-0-segment-0", "slice-0-segment-1"]
        );
        assert_eq!((bag.unit_amount, bag.max_quantity), (6_000, 1));
    }
    // The infant of the booking has no bag for sale.
    assert_eq!(available.services.len(), 2);
}

#[test]
fn empty_bag_list_takes_currency_from_order() {
    let gateway = gateway()
        .respond_with(200, r#"{"data": []}"#)
        .respond_with(200, SKYLANE.edited("booking", &[]));
    let available = gateway.run(|| Skylane::list_services(list_request()));
    let available = available.unwrap();
    let expected = [
        "GET /skylane/orders/FLT-100001/bags",
        "GET /skylane/orders/FLT-100001",
    ];
    assert_eq!(asked(&gateway), expected);
    assert_eq!(available.currency, "EUR");
    assert!(available.services.is_empty());
}

#[test]
fn bags_in_two_currencies_are_unreadable() {
    let bags = SKYLANE.edited("bags", &[("/data/1/price/currency", json!("USD"))]);
    let gateway = gateway().respond_with(200, bags);
    let available = gateway.run(|| Skylane::list_services(list_request()));
    assert_eq!(outcome(&available), InvalidResponse, "{available:?}");
}

#[test]
fn bags_are_bought_by_id_and_paid_with_purchase() {
    let gateway = gateway().respond_with(200, SKYLANE.edited("booking", &[]));
    let state = gateway.run(|| Skylane::purchase_services(purchase_request()));
    let state = state.unwrap();
    assert_eq!(asked(&gateway), ["POST /skylane/orders/FLT-100001/bags"]);
    let expected = json!({
        "client_ref": BAGS_REF, "bags": [{"id": "FLT-100001-bag-1", "quantity": 1}],
        "pay": {"value": "60.00", "currency": "EUR"},
    });
    assert_eq!(gateway.request_json(0), expected);
    assert_eq!(state.total, 75_930);
    let [bag] = state.services.as_slice() else {
        panic!("{:?}", state.services);
    };
    assert_eq!(bag.supplier_service_id, "FLT-100001-bag-1");
    assert_eq!(bag.service_type, ServiceType::Baggage);
    assert_eq!(bag.passenger, Some(1));
    assert_eq!(bag.quantity, 1);
    assert_eq!(bag.unit_amount, 6_000);
    assert_eq!(bag.baggage, Some(CHECKED));
    assert_eq!(bag.supplier_segment_ids.len(), 2);
}

#[test]
fn purchase_with_lost_response_is_recognized_on_booking() {
    let gateway = gateway()
        .respond_with(200, SKYLANE.edited("bags", &[]))
        .fail_with(Error::ConnectionLost("closed".to_owned()));
    let offered = gateway.run(|| Skylane::list_services(list_request()));
    let offer = &offered.unwrap().services[1];
    let lost = gateway.run(|| Skylane::purchase_services(purchase_request()));
    assert_eq!(outcome(&lost), Unknown, "{lost:?}");
    let bag = &SKYLANE.found(&[]).services[0];
    assert_eq!(bag.supplier_service_id, offer.supplier_service_id);
    assert_eq!(bag.passenger, Some(offer.passenger));
    assert_eq!(bag.supplier_segment_ids, offer.supplier_segment_ids);
    assert_eq!(bag.baggage, offer.baggage);
    assert_eq!(bag.unit_amount, offer.unit_amount);
}

#[test]
fn purchase_missing_from_order_is_unknown() {
    let mut request = purchase_request();
    let mut more = request.services[0].clone();
    more.supplier_service_id = "FLT-100001-bag-0".to_owned();
    request.services.push(more);
    let gateway = gateway().respond_with(200, SKYLANE.edited("booking", &[]));
    let ending = gateway.run(|| Skylane::purchase_services(request));
    assert_eq!(outcome(&ending), Unknown, "{ending:?}");
}
