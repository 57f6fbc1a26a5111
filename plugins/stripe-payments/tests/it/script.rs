//! Scripted responses of Stripe, and the requests that it receives.

use serde_json::{Value, json};
use stopover_sdk::http::Request;
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, IntentRequest, RefundRequest, VoidRequest,
};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::Money;

pub(crate) const PAYMENT_REF: &str = "bkg_1-authorize-1-1";
pub(crate) const PAYMENT_ID: &str = "pi_3RkGateway0001";
pub(crate) const REFUND_REF: &str = "bkg_1-refund-1-1-1";
pub(crate) const INSTRUMENT: &str = "cus_Gateway0001/pm_1RkGateway0001";

/// Returns a response in the form that Stripe documents, with invented values.
pub(crate) fn fixture(name: &str) -> Value {
    let text = match name {
        "payment" => include_str!("../../fixtures/payment.json"),
        "intent" => include_str!("../../fixtures/intent.json"),
        "declined" => include_str!("../../fixtures/declined.json"),
        "refund" => include_str!("../../fixtures/refund.json"),
        "customer" => include_str!("../../fixtures/customer.json"),
        "payment_method" => include_str!("../../fixtures/payment_method.json"),
        "event" => include_str!("../../fixtures/event.json"),
        _ => panic!("no fixture {name}"),
    };
    serde_json::from_str(text).unwrap()
}

/// Returns a fixture with values replaced, by JSON pointer.
pub(crate) fn edited(name: &str, edits: &[(&str, Value)]) -> Value {
    let mut document = fixture(name);
    for (pointer, value) in edits {
        *document
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{name} has no {pointer}")) = value.clone();
    }
    document
}

pub(crate) fn list(items: &[Value]) -> String {
    json!({"object": "list", "data": items, "has_more": false}).to_string()
}

/// Returns an error in Stripe's form.
pub(crate) fn error(code: &str) -> String {
    json!({"error": {
        "type": "invalid_request_error", "code": code, "message": "Ann Example is not welcome.",
        "doc_url": format!("https://docs.stripe.com/error-codes#{code}"),
    }})
    .to_string()
}

/// Returns method, path and query of a request, without the host.
pub(crate) fn line(request: &Request) -> String {
    let path = request.url.strip_prefix("https://api.stripe.com/v1");
    let method = format!("{:?}", request.method);
    let method = method.rsplit("::").next().unwrap_or_default();
    let path = path.unwrap().replace("%5B", "[").replace("%5D", "]");
    format!("{} {path}", method.to_uppercase())
}

pub(crate) fn asked(gateway: &MockGateway) -> Vec<String> {
    gateway.requests().iter().map(line).collect()
}

/// Returns the decoded parameters of the request with this number, in their order.
pub(crate) fn sent(gateway: &MockGateway, number: usize) -> Vec<String> {
    let body = gateway.requests()[number].body.clone().unwrap();
    let body = String::from_utf8(body).unwrap();
    body.split('&').map(decoded).collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn header(gateway: &MockGateway, number: usize, name: &str) -> Option<String> {
    let request = &gateway.requests()[number];
    let mut known = request.headers.iter();
    known
        .find(|header| header.name == name)
        .map(|header| header.value.clone())
}

pub(crate) fn euros(amount: i64) -> Money {
    Money {
        amount,
        currency: "EUR".to_owned(),
    }
}

pub(crate) fn intent_request() -> IntentRequest {
    IntentRequest {
        client_reference: "bkg_1-intent-1-1".to_owned(),
        amount: euros(500),
        description: "Travel booking".to_owned(),
    }
}

pub(crate) fn authorize_request() -> AuthorizeRequest {
    AuthorizeRequest {
        client_reference: PAYMENT_REF.to_owned(),
        amount: euros(1_000),
        instrument: INSTRUMENT.to_owned(),
        description: "Travel booking".to_owned(),
        off_session: false,
    }
}

pub(crate) fn capture_request() -> CaptureRequest {
    CaptureRequest {
        client_reference: "bkg_1-capture-1-1".to_owned(),
        processor_reference: PAYMENT_ID.to_owned(),
        amount: euros(1_000),
    }
}

pub(crate) fn void_request() -> VoidRequest {
    VoidRequest {
        client_reference: "bkg_1-void-1-1".to_owned(),
        processor_reference: PAYMENT_ID.to_owned(),
    }
}

pub(crate) fn refund_request() -> RefundRequest {
    RefundRequest {
        client_reference: REFUND_REF.to_owned(),
        processor_reference: PAYMENT_ID.to_owned(),
        amount: euros(400),
    }
}

pub(crate) fn find_request(processor_reference: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: PAYMENT_REF.to_owned(),
        processor_reference: processor_reference.map(str::to_owned),
    }
}
