//! Scripted responses of Skylane.

use fake_flights::Skylane;
use serde_json::{Value, json};
use stopover_sdk::testing;
use stopover_sdk::{
    FlightBooking, FlightCancellation, FlightPricing, FlightReference, FlightServices,
};

use crate::ask::{
    book_request, cancel_request, find_request, list_request, prebook_request, price_request,
    purchase_request, quote_request,
};
use crate::ending::Supplier;

/// Returns a response that Skylane returned.
pub(crate) fn fixture(name: &str) -> Value {
    let name = format!("skylane/{name}.json");
    serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &name)).unwrap()
}

/// Returns the id of the offer in the fixture `price`.
pub(crate) fn offer_id() -> String {
    fixture("price")
        .pointer("/data/id")
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}

pub(crate) fn list(orders: &[Value]) -> String {
    let orders: Vec<_> = (orders.iter())
        .map(|order| order.get("data").unwrap())
        .collect();
    json!({ "data": orders }).to_string()
}

/// Returns an error in Skylane's form.
pub(crate) fn error(code: &str) -> String {
    let detail = "Ann Example is not welcome.";
    json!({"errors": [{"code": code, "title": detail, "detail": detail}]}).to_string()
}

pub(crate) const SUPPLIER: Supplier = Supplier {
    name: "skylane",
    codes: &[
        ("unauthorized", 401),
        ("invalid_request", 400),
        ("not_found", 404),
        ("offer_unknown", 404),
        ("offer_expired", 410),
        ("offer_gone", 422),
        ("documents_required", 422),
        ("amount_mismatch", 422),
        ("offer_already_booked", 422),
        ("duplicate_client_ref", 409),
        ("airline_refused", 422),
        ("not_cancellable", 409),
        ("already_cancelled", 409),
        ("quote_unavailable", 422),
        ("order_state", 409),
        ("bags_refused", 422),
        ("bag_unknown", 422),
    ],
    error,
    changes: &[
        ("prebook", || {
            Skylane::prebook(prebook_request(&offer_id())).map(|_| ())
        }),
        ("book", || Skylane::book(book_request()).map(|_| ())),
        ("cancel", || Skylane::cancel(cancel_request()).map(|_| ())),
        ("buy", || {
            Skylane::purchase_services(purchase_request()).map(|_| ())
        }),
    ],
    refused: &[
        ("prebook", "unauthorized", "Account"),
        ("prebook", "invalid_request", "Invalid"),
        ("prebook", "offer_unknown", "Expired"),
        ("prebook", "offer_expired", "Expired"),
        ("prebook", "offer_gone", "Unavailable"),
        ("book", "unauthorized", "Account"),
        ("book", "invalid_request", "Invalid"),
        ("book", "offer_unknown", "Expired"),
        ("book", "offer_expired", "Expired"),
        ("book", "offer_gone", "Unavailable"),
        ("book", "documents_required", "Invalid"),
        ("book", "amount_mismatch", "Other(\"amount-mismatch\")"),
        ("book", "offer_already_booked", "Duplicate"),
        ("book", "airline_refused", "Other(\"airline-refused\")"),
        ("cancel", "unauthorized", "Account"),
        ("cancel", "invalid_request", "Invalid"),
        ("cancel", "not_found", "Other(\"not-found\")"),
        ("cancel", "not_cancellable", "NotCancellable"),
        ("buy", "unauthorized", "Account"),
        ("buy", "invalid_request", "Invalid"),
        ("buy", "not_found", "Other(\"not-found\")"),
        ("buy", "amount_mismatch", "Other(\"amount-mismatch\")"),
        ("buy", "order_state", "Other(\"order-state\")"),
        ("buy", "bags_refused", "Other(\"bags-refused\")"),
        ("buy", "bag_unknown", "Unavailable"),
    ],
    reads: &[
        ("price", || Skylane::price(price_request()).map(|_| ())),
        ("find", || Skylane::find(find_request(None)).map(|_| ())),
        ("quote", || {
            Skylane::quote_cancellation(quote_request()).map(|_| ())
        }),
        ("list", || {
            Skylane::list_services(list_request()).map(|_| ())
        }),
        ("airports", || {
            Skylane::find_airports("london".to_owned(), 2).map(|_| ())
        }),
        ("airline", || {
            Skylane::read_airline("TK".to_owned()).map(|_| ())
        }),
    ],
    no_quote: "quote_unavailable",
    whole: &["price", "order"],
    fixture,
    elsewhere: &[
        ("prebook", "price", "/data/id", "off-other"),
        ("prebook", "price", "/data/total/currency", "USD"),
        ("book", "order", "/data/client_ref", "bkg_other"),
        ("cancel", "order", "/data/client_ref", "bkg_other"),
        ("buy", "order", "/data/client_ref", "bkg_other"),
        ("book", "order", "/data/base/currency", "USD"),
        ("buy", "order", "/data/bags/0/price/currency", "USD"),
        ("buy", "order", "/data/bags/0/client_ref", "bkg_DXB-bags-0"),
        ("buy", "order", "/data/bags/0/id", "FLT-100001-bag-0"),
        ("book", "order", "/data/state", "boarding"),
    ],
};
