//! Payments and refunds that are read back.

use serde_json::{Value, json};
use stopover_sdk::payment_processor::{
    PaymentError, PaymentLookup, PaymentStatus, ProcessorPayment, RefundLookup,
};
use stopover_sdk::testing::Outcome::{
    Failed, InvalidResponse, Misconfigured, NotFound, RateLimited, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, check_read_failures, outcome, refusal};
use stopover_sdk::{PaymentProcessor, ReadError, RefusalReason};
use stripe_payments::StripePayments;

use crate::script::{
    PAYMENT_ID, REFUND_REF, asked, authorize_request, edited, error, euros, find_request, fixture,
    list, returning,
};

const BY_ID: &str = "GET /payment_intents/pi_3RkGateway0001?expand[]=latest_charge";
const NEWEST: &str = "GET /payment_intents?limit=100&expand[]=data.latest_charge";
const ALL: &str = "GET /payment_intents/search?query=metadata[%27client_reference%27]%3A%27\
                   bkg_1-authorize-1-1%27&limit=100&expand[]=data.latest_charge";

fn find(gateway: &MockGateway, id: Option<&str>) -> Result<Option<ProcessorPayment>, ReadError> {
    let response = gateway.run(|| StripePayments::find(find_request(id)))?;
    Ok(match response {
        PaymentLookup::Found(state) => Some(state),
        PaymentLookup::NotFound => None,
    })
}

fn of_others() -> Value {
    with_reference("bkg_2-authorize-1-1")
}

fn with_reference(reference: &str) -> Value {
    edited(
        "payment",
        &[("/metadata/client_reference", json!(reference))],
    )
}

#[test]
fn payment_is_searched_by_id_then_in_list_then_in_index() {
    let ours = || list(&[of_others(), fixture("payment"), fixture("intent")]);
    let others = || list(&[of_others(), fixture("intent")]);
    let payment = || fixture("payment").to_string();
    let missing = || (404, error("resource_missing"));
    let cases = [
        (Some(PAYMENT_ID), vec![(200, payment())], vec![BY_ID], true),
        (
            Some(PAYMENT_ID),
            vec![missing(), (200, ours())],
            vec![BY_ID, NEWEST],
            true,
        ),
        (None, vec![(200, ours())], vec![NEWEST], true),
        (
            None,
            vec![(200, others()), (200, ours())],
            vec![NEWEST, ALL],
            true,
        ),
        (
            None,
            vec![(200, others()), (200, list(&[]))],
            vec![NEWEST, ALL],
            false,
        ),
    ];
    for (id, responses, requests, is_found) in cases {
        let mut gateway = MockGateway::new();
        for (status, body) in responses {
            gateway = gateway.respond_with(status, body);
        }
        let found = find(&gateway, id).unwrap();
        assert_eq!(found.is_some(), is_found, "{requests:?}");
        assert_eq!(asked(&gateway), requests);
        let sent = gateway.requests();
        assert!(sent.iter().all(|request| request.body.is_none()));
    }
}

#[test]
fn client_reference_is_quoted_in_search() {
    let mut request = find_request(None);
    request.client_reference = r"a'b\c".to_owned();
    let nothing = || list(&[]);
    let gateway = MockGateway::new()
        .respond_with(200, nothing())
        .respond_with(200, nothing());
    let found = gateway.run(|| StripePayments::find(request));
    assert_eq!(found, Ok(PaymentLookup::NotFound));
    assert!(asked(&gateway)[1].contains("%3A%27a%5C%27b%5C%5Cc%27"));
}

#[test]
fn payment_is_not_found_only_after_two_complete_lists() {
    let cases = [
        (404, error("resource_missing")),
        (404, String::new()),
        (200, "{}".to_owned()),
        (200, json!({"data": []}).to_string()),
        (200, list(&[fixture("payment"), fixture("payment")])),
        (200, list(&[json!({"id": "pi_1"})])),
        (500, String::new()),
        (401, error("api_key_expired")),
    ];
    for (status, body) in cases {
        let first = MockGateway::new().respond_with(status, &body);
        let second = MockGateway::new()
            .respond_with(200, list(&[]))
            .respond_with(status, &body);
        for gateway in [first, second] {
            let found = find(&gateway, None);
            assert!(found.is_err(), "{status} {body}: {found:?}");
            assert_eq!(gateway.unused_responses(), 0);
        }
    }
    // The result of a search has no other payments, and fits into a page.
    for (index, is_proof) in [
        (list(&[]), true),
        (list(&[with_reference("BKG_1-AUTHORIZE-1-1")]), true),
        (list(&[of_others()]), false),
        (
            list(&[edited("payment", &[("/metadata", json!(null))])]),
            false,
        ),
        (json!({"data": [], "has_more": true}).to_string(), false),
    ] {
        let gateway = MockGateway::new()
            .respond_with(200, list(&[of_others()]))
            .respond_with(200, &index);
        let found = find(&gateway, None);
        match is_proof {
            true => assert_eq!(found, Ok(None), "{index}"),
            false => assert_eq!(outcome(&found), InvalidResponse, "{index}: {found:?}"),
        }
    }
    let other = returning("payment", &[("/id", json!("pi_other"))]);
    let found = find(&other, Some(PAYMENT_ID));
    assert_eq!(outcome(&found), InvalidResponse, "{found:?}");
}

#[test]
fn odd_item_of_a_list_hides_no_other_but_proves_no_absence() {
    let odd = [
        Value::Null,
        json!(5),
        json!({"id": "pi_1"}),
        edited("payment", &[("/metadata", json!("x"))]),
        edited("payment", &[("/metadata/client_reference", json!({}))]),
    ];
    for item in odd {
        let newest = list(&[item.clone(), fixture("payment")]);
        let gateway = MockGateway::new().respond_with(200, newest);
        let found = find(&gateway, None).unwrap();
        assert_eq!(found.unwrap().processor_reference, PAYMENT_ID, "{item}");
        let gateway = MockGateway::new().respond_with(200, list(std::slice::from_ref(&item)));
        let refund = find_refund(&gateway);
        assert_eq!(outcome(&refund), InvalidResponse, "{item}: {refund:?}");
        let absent = find(&MockGateway::new().respond_with(200, list(&[item])), None);
        assert_eq!(outcome(&absent), InvalidResponse, "{absent:?}");
    }
}

#[test]
fn error_beside_object_proves_nothing() {
    let error = json!({"type": "invalid_request_error", "code": "resource_missing"});
    for name in ["payment", "refund"] {
        let mut body = fixture(name);
        body["error"] = error.clone();
        let found = |status| {
            let gateway = MockGateway::new().respond_with(status, body.to_string());
            outcome(&find(&gateway, Some(PAYMENT_ID)))
        };
        assert_eq!([200, 404].map(found), [InvalidResponse; 2], "{name}");
    }
    let body = json!({"error": error, "data": [], "has_more": false}).to_string();
    let found = find(&MockGateway::new().respond_with(200, body), None);
    assert_eq!(outcome(&found), InvalidResponse, "{found:?}");
}

/// Checks the payment's status by Stripe's status, by the party that completes the payment, and by
/// whether an attempt failed. `?` means undecided.
#[test]
fn every_status_is_converted() {
    let cases = [
        ("requires_payment_method", "browser", false, "action"),
        ("requires_payment_method", "browser", true, "action"),
        ("requires_payment_method", "instrument", false, "?"),
        ("requires_payment_method", "instrument", true, "declined"),
        ("requires_confirmation", "browser", false, "action"),
        ("requires_confirmation", "instrument", false, "?"),
        ("requires_confirmation", "instrument", true, "?"),
        ("requires_action", "browser", false, "action"),
        ("requires_action", "instrument", false, "action"),
        ("processing", "browser", false, "?"),
        ("processing", "instrument", false, "?"),
        ("requires_capture", "browser", true, "authorized"),
        ("requires_capture", "instrument", false, "authorized"),
        ("succeeded", "instrument", false, "captured"),
        ("canceled", "instrument", true, "voided"),
    ];
    for (status, made_for, has_failed, expected) in cases {
        let case = format!("{status} {made_for} {has_failed}");
        let failure = if has_failed {
            fixture("declined")["error"].clone()
        } else {
            json!(null)
        };
        let edits = [
            ("/status", json!(status)),
            ("/metadata/made_for", json!(made_for)),
            ("/last_payment_error", failure),
        ];
        let gateway = returning("payment", &edits);
        let found = match find(&gateway, Some(PAYMENT_ID)).map(|state| state.unwrap().status) {
            Ok(PaymentStatus::RequiresAction) => "action",
            Ok(PaymentStatus::Authorized) => "authorized",
            Ok(PaymentStatus::Captured) => "captured",
            Ok(PaymentStatus::Voided) => "voided",
            Ok(PaymentStatus::Declined) => "declined",
            Err(ReadError::Rejected(refusal)) => {
                let reason = RefusalReason::Other("undecided".to_owned());
                assert_eq!(refusal.reason, reason, "{case}");
                "?"
            }
            Err(other) => panic!("{case}: {other:?}"),
        };
        assert_eq!(found, expected, "{case}");

        // The response to the call that created the payment has the same meaning.
        if made_for == "instrument" {
            let gateway = returning("payment", &edits);
            let ending = gateway.run(|| StripePayments::authorize(authorize_request()));
            let is_unknown = matches!(ending, Err(PaymentError::Unknown(_)));
            assert_eq!(is_unknown, expected == "?", "{case}: {ending:?}");
        }
    }
    let unknown = returning("payment", &[("/status", json!("requires_magic"))]);
    let found = find(&unknown, Some(PAYMENT_ID));
    assert_eq!(outcome(&found), InvalidResponse, "{found:?}");
}

fn authorize(gateway: &MockGateway) -> Result<ProcessorPayment, PaymentError> {
    gateway.run(|| StripePayments::authorize(authorize_request()))
}

/// Asserts that a response decides nothing: neither to the call that created the payment nor to a read.
fn assert_undecided(response: &str) {
    let gateway = || MockGateway::new().respond_with(200, response);
    let ending = authorize(&gateway());
    assert_eq!(outcome(&ending), Unknown, "{ending:?}: {response}");
    let reason = refusal(find(&gateway(), Some(PAYMENT_ID))).reason;
    assert_eq!(reason, RefusalReason::Other("undecided".to_owned()));
}

/// The payment waits for a card or a confirmation, and does not state who completes it.
#[test]
fn payment_is_undecided_if_nobody_is_known_to_complete_it() {
    let odd = ["x-odd", "Browser", " browser", "", "7", "[\"browser\"]"];
    let odd = odd.map(|origin| serde_json::from_str(origin).unwrap_or_else(|_| json!(origin)));
    let missing = Value::Null;
    for origin in odd.into_iter().chain([missing]) {
        for status in ["requires_confirmation", "requires_payment_method"] {
            let edits = [
                ("/status", json!(status)),
                ("/metadata/made_for", origin.clone()),
            ];
            assert_undecided(&edited("payment", &edits).to_string());
        }
        // Whoever completes it, an authorized payment is authorized.
        let edits = [("/metadata/made_for", origin)];
        let state = authorize(&returning("payment", &edits)).unwrap();
        assert_eq!(state.status, PaymentStatus::Authorized);
    }
    // A payment of both parties is one of neither.
    for (first, second) in [("browser", "instrument"), ("instrument", "browser")] {
        let edits = [
            ("/status", json!("requires_confirmation")),
            ("/metadata/made_for", json!(second)),
        ];
        let payment = edited("payment", &edits).to_string();
        // The charge, which comes first, has metadata too.
        let (before, after) = payment.rsplit_once(r#""metadata":{"#).unwrap();
        let response = format!(r#"{before}"metadata":{{"made_for":"{first}",{after}"#);
        assert_undecided(&response);
    }
}

#[test]
fn declined_authorization_needs_no_metadata_but_a_read_does() {
    let failure = fixture("declined")["error"].clone();
    let edits = [
        ("/status", json!("requires_payment_method")),
        ("/metadata/made_for", json!(null)),
        ("/last_payment_error", failure),
    ];
    let state = authorize(&returning("payment", &edits)).unwrap();
    assert_eq!(state.status, PaymentStatus::Declined);
    let reason = refusal(find(&returning("payment", &edits), Some(PAYMENT_ID))).reason;
    assert_eq!(reason, RefusalReason::Other("undecided".to_owned()));
}

/// Returns a payment that waits for a card, with a repeated `last_payment_error`.
fn with_failures(failures: [&Value; 2]) -> String {
    let waiting = edited("payment", &[("/status", json!("requires_payment_method"))]).to_string();
    let [first, second] = failures;
    let repeated = format!(r#""last_payment_error":{first},"last_payment_error":{second}"#);
    let response = waiting.replace(r#""last_payment_error":null"#, &repeated);
    assert_ne!(response, waiting);
    response
}

#[test]
fn repeated_failure_means_the_same_in_both_orders() {
    let coded = json!({"code": "card_declined", "type": "card_error"});
    for other in [
        json!({"type": "card_error"}),
        json!({"code": "processing_error", "type": "card_error"}),
        json!({}),
        json!(7),
    ] {
        assert_undecided(&with_failures([&coded, &other]));
        assert_undecided(&with_failures([&other, &coded]));
    }
    // The same failure, and one that is missing, contradict nothing.
    for failures in [
        [&coded, &coded],
        [&coded, &Value::Null],
        [&Value::Null, &coded],
    ] {
        let response = with_failures(failures);
        let gateway = MockGateway::new().respond_with(200, response);
        assert_eq!(authorize(&gateway).unwrap().status, PaymentStatus::Declined);
    }
    let waiting = edited("payment", &[("/status", json!("requires_payment_method"))]).to_string();
    for codes in [
        r#""code":"card_declined","code":7"#,
        r#""code":7,"code":"card_declined""#,
    ] {
        let failure = format!(r#""last_payment_error":{{{codes}}}"#);
        assert_undecided(&waiting.replace(r#""last_payment_error":null"#, &failure));
    }
}

#[test]
fn declined_payment_stays_declined_without_its_card() {
    let card = "/error/payment_intent/latest_charge/payment_method_details/card/last4";
    let declined = edited("declined", &[(card, json!("x-odd"))]);
    let declined = declined["error"]["payment_intent"].clone();
    let gateway = MockGateway::new().respond_with(200, list(&[declined]));
    let state = find(&gateway, None).unwrap().unwrap();
    assert_eq!((state.status, state.card), (PaymentStatus::Declined, None));
    assert_eq!(gateway.dropped_items().len(), 1);
}

#[test]
fn declined_payment_has_decline_code() {
    let declined = fixture("declined")["error"]["payment_intent"].clone();
    let gateway = MockGateway::new().respond_with(200, list(&[declined]));
    let state = find(&gateway, None).unwrap().unwrap();
    assert_eq!(state.status, PaymentStatus::Declined);
    assert_eq!(state.authorized, 0);
    let kept = [("decline_code".to_owned(), "insufficient_funds".to_owned())];
    assert_eq!(state.extensions, kept);
    assert_eq!(state.card.unwrap().last4, "4242");
}

fn find_refund(gateway: &MockGateway) -> Result<RefundLookup, ReadError> {
    gateway.run(|| StripePayments::find_refund(PAYMENT_ID.to_owned(), REFUND_REF.to_owned()))
}

#[test]
fn refund_is_found_by_client_reference() {
    let edits = [("/metadata", json!(null)), ("/id", json!("re_2"))];
    let by_hand = edited("refund", &edits);
    let gateway = MockGateway::new().respond_with(200, list(&[by_hand.clone(), fixture("refund")]));
    let Ok(RefundLookup::Found(refund)) = find_refund(&gateway) else {
        panic!("not found");
    };
    let expected = format!("GET /refunds?payment_intent={PAYMENT_ID}&limit=100");
    assert_eq!(asked(&gateway), [expected]);
    assert_eq!(refund.processor_reference, "re_3RkGateway0001");
    assert_eq!(refund.amount, euros(400));

    let nothing = MockGateway::new().respond_with(200, list(std::slice::from_ref(&by_hand)));
    assert_eq!(find_refund(&nothing), Ok(RefundLookup::NotFound));
    let more = json!({"data": [by_hand], "has_more": true}).to_string();
    let response = find_refund(&MockGateway::new().respond_with(200, more));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
    // An unknown payment does not prove that there is no refund.
    let unknown = MockGateway::new().respond_with(404, error("resource_missing"));
    let response = find_refund(&unknown);
    assert_eq!(outcome(&response), NotFound, "{response:?}");
}

#[test]
fn refund_that_has_not_succeeded_is_rejected_instead_of_found_or_not_found() {
    for (status, reason) in [
        ("succeeded", None),
        ("failed", Some("refund_failed")),
        ("canceled", Some("refund_failed")),
        ("pending", Some("undecided")),
        ("requires_action", Some("undecided")),
    ] {
        let refund = edited("refund", &[("/status", json!(status))]);
        let response = find_refund(&MockGateway::new().respond_with(200, list(&[refund])));
        match reason {
            None => assert!(matches!(response, Ok(RefundLookup::Found(_))), "{status}"),
            Some(reason) => {
                let reason = RefusalReason::Other(reason.to_owned());
                assert_eq!(refusal(response).reason, reason, "{status}");
            }
        }
    }
}

#[test]
fn every_read_failure_has_expected_error() {
    let typed = |kind: &str| json!({"error": {"type": kind}}).to_string();
    let responses = [
        (401, error("api_key_expired"), Misconfigured),
        (403, error("no_account"), Misconfigured),
        // Stripe's response to an unknown URL.
        (404, typed("invalid_request_error"), Misconfigured),
        (429, error("rate_limit"), RateLimited),
        (429, error("lock_timeout"), RateLimited),
        (409, error("idempotency_key_in_use"), Unavailable),
        (500, typed("api_error"), Failed),
        // A 404 in another form is not from Stripe.
        (404, String::new(), InvalidResponse),
        (302, String::new(), InvalidResponse),
    ];
    let responses = responses.each_ref();
    let responses = responses.map(|(status, body, outcome)| (*status, body.as_str(), *outcome));
    let find_by_id = || StripePayments::find(find_request(Some(PAYMENT_ID)));
    check_read_failures("find", MockGateway::new, &responses, find_by_id);
    let gateway = MockGateway::new().respond_with(400, error("parameter_unknown"));
    let refusal = refusal(find(&gateway, Some(PAYMENT_ID)));
    assert_eq!(refusal.supplier_code.as_deref(), Some("parameter_unknown"));
    assert!(!refusal.message.contains("Ann"), "{}", refusal.message);
}
