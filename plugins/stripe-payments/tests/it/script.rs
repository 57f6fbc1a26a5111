//! Scripted responses of Stripe, and the requests that it receives.

use serde_json::{Value, json};
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, IntentRequest, RefundRequest, VoidRequest,
};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Money;

pub(crate) const PAYMENT_REF: &str = "bkg_1-authorize-1-1";
pub(crate) const PAYMENT_ID: &str = "pi_3RkGateway0001";
pub(crate) const REFUND_REF: &str = "bkg_1-refund-1-1-1";
pub(crate) const INSTRUMENT: &str = "cus_Gateway0001/pm_1RkGateway0001";

/// Returns a response in the form that Stripe documents, with invented values.
pub(crate) fn fixture(name: &str) -> Value {
    let name = format!("{name}.json");
    serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &name)).unwrap()
}

/// Returns a fixture with values replaced, by JSON pointer.
pub(crate) fn edited(name: &str, edits: &[(&str, Value)]) -> Value {
    testing::with_values(fixture(name), edits)
}

/// Creates a mock gateway that returns a fixture after some values were replaced.
pub(crate) fn returning(name: &str, edits: &[(&str, Value)]) -> MockGateway {
    MockGateway::new().respond_with(200, edited(name, edits).to_string())
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

/// Returns method, path and query of every request, without the host.
pub(crate) fn asked(gateway: &MockGateway) -> Vec<String> {
    let lines = gateway
        .request_lines("https://api.stripe.com/v1")
        .into_iter();
    let decode = |line: String| line.replace("%5B", "[").replace("%5D", "]");
    lines.map(decode).collect()
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
    request.header_value(name).map(str::to_owned)
}

pub(crate) fn euros(amount: i64) -> Money {
    Money::new(amount, "EUR")
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
