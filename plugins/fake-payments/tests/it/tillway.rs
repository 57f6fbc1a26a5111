//! Scripted responses of Tillway, and the requests that it receives.

use serde_json::{Value, json};
use stopover_sdk::payment_processor::{
    AuthorizeRequest, CaptureRequest, FindRequest, IntentRequest, RefundRequest, VoidRequest,
};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Money;

/// Every documented code with its status, and the outcome of an intent, an authorization, a capture,
/// a void and a refund. `R` means refused, `D` declined, `?` unknown.
pub(crate) const CODES: [(&str, u16, &str); 9] = [
    ("invalid", 400, "RRRRR"),
    ("invalid_key", 401, "RRRRR"),
    ("card_declined", 402, "?D???"),
    ("capture_failed", 402, "??D??"),
    ("no_such_payment", 404, "??RRR"),
    ("no_such_token", 404, "?R???"),
    ("reference_reused", 409, "?????"),
    ("wrong_state", 409, "??RRR"),
    ("amount_too_large", 409, "??R?R"),
];

pub(crate) const PAYMENT_REF: &str = "bkg_tok_visa";
pub(crate) const PAYMENT_ID: &str = "pay-100062";
pub(crate) const REFUND_REF: &str = "bkg_tok_visa-refund";

/// Creates a mock gateway whose settings have Tillway's address.
pub(crate) fn gateway() -> MockGateway {
    MockGateway::new().settings(r#"{"base_url": "http://tillway.example:4010/"}"#)
}

/// Returns a response that Tillway returned.
pub(crate) fn fixture(name: &str) -> Value {
    let name = format!("{name}.json");
    serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &name)).unwrap()
}

/// Returns a fixture with values replaced, by JSON pointer.
pub(crate) fn edited(name: &str, edits: &[(&str, Value)]) -> String {
    testing::with_values(fixture(name), edits).to_string()
}

/// Returns an error in Tillway's form.
pub(crate) fn error(code: &str) -> String {
    json!({"type": "invalid_request", "code": code, "message": "Ann Example is not welcome."})
        .to_string()
}

/// Returns method and path of every request, without Tillway's address.
pub(crate) fn asked(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("http://tillway.example:4010")
}

pub(crate) fn euros(amount: i64) -> Money {
    Money::new(amount, "EUR")
}

pub(crate) fn intent_request() -> IntentRequest {
    IntentRequest {
        client_reference: "bkg_i".to_owned(),
        amount: euros(500),
        description: "Travel booking".to_owned(),
    }
}

pub(crate) fn authorize_request() -> AuthorizeRequest {
    AuthorizeRequest {
        client_reference: PAYMENT_REF.to_owned(),
        amount: euros(1_000),
        instrument: "tok_visa".to_owned(),
        description: "Travel booking".to_owned(),
        off_session: true,
    }
}

pub(crate) fn capture_request() -> CaptureRequest {
    CaptureRequest {
        client_reference: format!("{PAYMENT_REF}-capture"),
        processor_reference: PAYMENT_ID.to_owned(),
        amount: euros(1_000),
    }
}

pub(crate) fn void_request() -> VoidRequest {
    VoidRequest {
        client_reference: format!("{PAYMENT_REF}-void"),
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
