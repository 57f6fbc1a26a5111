//! Successful intents, authorizations, captures, voids and refunds.

use serde_json::{Value, json};
use stopover_sdk::PaymentProcessor;
use stopover_sdk::payment_processor::{
    CardBrand, DeclineReason, Funding, PaymentError, PaymentLookup, PaymentStatus,
    ProcessorPayment, Wallet,
};
use stopover_sdk::testing::Outcome::{Refused, Unknown};
use stopover_sdk::testing::{MockGateway, outcome};
use stripe_payments::StripePayments;

use crate::failed_calls::CHANGES;
use crate::script::{
    PAYMENT_ID, asked, authorize_request, capture_request, euros, find_request, header,
    intent_request, refund_request, returning, sent, void_request,
};

#[test]
fn every_change_has_version_and_key_but_no_credential() {
    let keys = [
        "bkg_1-intent-1-1",
        "bkg_1-authorize-1-1",
        "bkg_1-capture-1-1",
        "bkg_1-void-1-1",
        "bkg_1-refund-1-1-1",
    ];
    for ((name, fixture, change), key) in CHANGES.into_iter().zip(keys) {
        let gateway = returning(fixture, &[]);
        assert_eq!(gateway.run(change), Ok(()), "{name}");
        let requests = gateway.requests();
        let headers = requests[0].headers.iter();
        let headers = headers.map(|header| (header.name.as_str(), header.value.as_str()));
        let expected = [
            ("stripe-version", "2026-07-29.dahlia"),
            ("idempotency-key", key),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        assert!(headers.eq(expected), "{name}: {requests:?}");
    }
}

#[test]
fn intent_is_created_for_browser() {
    let gateway = returning("intent", &[]);
    let intent = gateway.run(|| StripePayments::create_intent(intent_request()));
    let intent = intent.unwrap();
    assert_eq!(asked(&gateway), ["POST /payment_intents"]);
    assert_eq!(
        sent(&gateway, 0),
        [
            "amount=500",
            "currency=eur",
            "payment_method_types[0]=card",
            "capture_method=manual",
            "description=Travel booking",
            "expand[]=latest_charge",
            "metadata[client_reference]=bkg_1-intent-1-1",
            "metadata[made_for]=browser",
        ]
    );
    assert_eq!(intent.processor_reference, "pi_3RkGateway0002");
    assert_eq!(intent.token, "pi_3RkGateway0002_secret_made0up");
}

#[test]
fn authorization_is_requested_without_payer_action() {
    let cases = [
        (false, "error_on_requires_action=true"),
        (true, "off_session=true"),
    ];
    for (off_session, nobody_can_act) in cases {
        let gateway = returning("payment", &[]);
        let mut request = authorize_request();
        request.off_session = off_session;
        let state = gateway.run(|| StripePayments::authorize(request)).unwrap();
        assert_eq!(asked(&gateway), ["POST /payment_intents"]);
        assert_eq!(
            sent(&gateway, 0),
            [
                "amount=1000",
                "currency=eur",
                "payment_method_types[0]=card",
                "capture_method=manual",
                "description=Travel booking",
                "expand[]=latest_charge",
                "metadata[client_reference]=bkg_1-authorize-1-1",
                "metadata[made_for]=instrument",
                "customer=cus_Gateway0001",
                "payment_method=pm_1RkGateway0001",
                "confirm=true",
                nobody_can_act,
            ]
        );
        assert_eq!(state.status, PaymentStatus::Authorized);
        assert_eq!(state.processor_reference, PAYMENT_ID);
        assert_eq!(state.currency, "EUR");
        let totals = (state.authorized, state.captured, state.refunded);
        assert_eq!(totals, (1_000, 0, 0));
        assert_eq!(state.expires_at, Some(1_795_862_781_000));
        assert!(state.extensions.is_empty());
        let card = state.card.unwrap();
        let kind = (card.brand, card.funding, card.wallet);
        assert_eq!(kind, (CardBrand::Visa, Funding::Credit, None));
        assert_eq!(card.last4, "4242");
        assert_eq!(card.expires.as_deref(), Some("2034-12"));
    }
}

#[test]
fn unknown_instrument_is_refused_without_request() {
    for instrument in [
        "",
        "pm_1",
        "cus_1/",
        "/pm_1",
        "cus_1/tok_1",
        "cus_1/pm_1/pm_2",
        "cus_/pm_1",
        "cus_1/4242424242424242",
    ] {
        let mut request = authorize_request();
        request.instrument = instrument.to_owned();
        let gateway = MockGateway::new();
        let ending = gateway.run(|| StripePayments::authorize(request));
        assert_eq!(outcome(&ending), Refused(""), "{instrument}: {ending:?}");
        assert!(gateway.requests().is_empty(), "{instrument}");
    }
}

/// Reads the payment of the fixture after some values were replaced.
fn read(edits: &[(&str, Value)]) -> ProcessorPayment {
    let gateway = returning("payment", edits);
    match gateway.run(|| StripePayments::find(find_request(Some(PAYMENT_ID)))) {
        Ok(PaymentLookup::Found(state)) => state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn totals_are_authorized_captured_and_refunded_amounts() {
    // Stripe's status, charge, received and refunded amounts; then the authorized, captured and
    // refunded amounts of the interface.
    let cases = [
        ("requires_capture", "succeeded", 0, 0, (1_000, 0, 0)),
        ("succeeded", "succeeded", 1_000, 0, (1_000, 1_000, 0)),
        ("succeeded", "succeeded", 1_000, 400, (1_000, 1_000, 400)),
        (
            "succeeded",
            "succeeded",
            1_000,
            1_000,
            (1_000, 1_000, 1_000),
        ),
        // Stripe refunds the part that was not captured automatically.
        ("succeeded", "succeeded", 600, 400, (1_000, 600, 0)),
        ("succeeded", "succeeded", 600, 500, (1_000, 600, 100)),
        ("canceled", "succeeded", 0, 1_000, (1_000, 0, 0)),
        ("canceled", "failed", 0, 0, (0, 0, 0)),
        ("requires_action", "failed", 0, 0, (0, 0, 0)),
        ("requires_action", "pending", 0, 0, (0, 0, 0)),
    ];
    for (status, charge, received, refunded, expected) in cases {
        let state = read(&[
            ("/status", json!(status)),
            ("/latest_charge/status", json!(charge)),
            ("/amount_received", json!(received)),
            ("/latest_charge/amount_refunded", json!(refunded)),
        ]);
        let totals = (state.authorized, state.captured, state.refunded);
        assert_eq!(totals, expected, "{status} {received} {refunded}");
        let is_held = status == "requires_capture";
        assert_eq!(state.expires_at.is_some(), is_held, "{status}");
    }
}

#[test]
fn card_is_converted_with_unknown_values() {
    let at = "/latest_charge/payment_method_details/card";
    let card = |field: &str, value: Value| {
        let pointer = format!("{at}/{field}");
        read(&[(&pointer, value)]).card.unwrap()
    };
    for (brand, expected) in [
        ("amex", CardBrand::Amex),
        ("diners", CardBrand::Diners),
        ("discover", CardBrand::Discover),
        ("jcb", CardBrand::Jcb),
        ("mastercard", CardBrand::Mastercard),
        ("unionpay", CardBrand::Unionpay),
        ("visa", CardBrand::Visa),
        ("eftpos_au", CardBrand::Unknown),
    ] {
        assert_eq!(card("brand", json!(brand)).brand, expected);
    }
    for (funding, expected) in [
        ("credit", Funding::Credit),
        ("debit", Funding::Debit),
        ("prepaid", Funding::Prepaid),
        ("unknown", Funding::Unknown),
    ] {
        assert_eq!(card("funding", json!(funding)).funding, expected);
    }
    for (wallet, expected) in [
        ("apple_pay", Some(Wallet::ApplePay)),
        ("google_pay", Some(Wallet::GooglePay)),
        ("samsung_pay", None),
    ] {
        let wallet = json!({"type": wallet, "dynamic_last4": "1"});
        assert_eq!(card("wallet", wallet).wallet, expected);
    }
    let expires = card("exp_month", json!(3)).expires;
    assert_eq!(expires.as_deref(), Some("2034-03"));
    for without in [
        at,
        &format!("{at}/last4"),
        "/latest_charge/payment_method_details",
    ] {
        let state = read(&[(without, json!(null))]);
        assert_eq!((state.card, state.authorized), (None, 1_000), "{without}");
    }
}

#[test]
fn authorized_payment_stands_whatever_its_card_is() {
    let at = "/latest_charge/payment_method_details";
    for part in [
        "",
        "/card",
        "/card/brand",
        "/card/exp_month",
        "/card/last4",
        "/card/wallet",
        "/card/capture_before",
    ] {
        for value in [json!({"x": []}), json!(true), json!(-1)] {
            let pointer = format!("{at}{part}");
            let gateway = returning("payment", &[(&pointer, value.clone())]);
            let state = gateway.run(|| StripePayments::authorize(authorize_request()));
            let state = state.unwrap_or_else(|error| panic!("{part} {value}: {error:?}"));
            assert_eq!(state.status, PaymentStatus::Authorized, "{part} {value}");
            assert_eq!(state.authorized, 1_000, "{part} {value}");
        }
    }
    let odd_error = returning("payment", &[("/last_payment_error", json!(7))]);
    let state = odd_error.run(|| StripePayments::authorize(authorize_request()));
    assert_eq!(state.unwrap().authorized, 1_000);
    assert_eq!(odd_error.dropped_items().len(), 1);
}

/// A call, Stripe's status and received amount, and the status of the interface.
type DoneCall = (
    &'static str,
    i64,
    PaymentStatus,
    fn() -> Option<ProcessorPayment>,
);

const DONE_CALLS: [DoneCall; 4] = [
    ("requires_capture", 0, PaymentStatus::Authorized, || {
        StripePayments::authorize(authorize_request()).ok()
    }),
    ("succeeded", 1_000, PaymentStatus::Captured, || {
        StripePayments::capture(capture_request()).ok()
    }),
    ("canceled", 0, PaymentStatus::Voided, || {
        StripePayments::void(void_request()).ok()
    }),
    (
        "requires_capture",
        0,
        PaymentStatus::Authorized,
        || match StripePayments::find(find_request(Some(PAYMENT_ID))) {
            Ok(PaymentLookup::Found(payment)) => Some(payment),
            Ok(PaymentLookup::NotFound) | Err(_) => None,
        },
    ),
];

#[test]
fn odd_last_digits_or_expiry_are_left_out_and_counted() {
    let odd = [
        ("last4", json!("")),
        ("last4", json!("424")),
        ("last4", json!("x-odd")),
        ("last4", json!("4２")),
        ("last4", json!(4242)),
        ("capture_before", json!(-1)),
        ("capture_before", json!(0)),
        ("capture_before", json!(99_999_999_999_999_i64)),
        ("capture_before", json!(i64::MAX)),
        ("capture_before", json!("soon")),
    ];
    for (field, value) in odd {
        for (status, received, expected, call) in DONE_CALLS {
            let case = format!("{field} {value} {expected:?}");
            let pointer = format!("/latest_charge/payment_method_details/card/{field}");
            let edits = [
                (pointer.as_str(), value.clone()),
                ("/status", json!(status)),
                ("/amount_received", json!(received)),
            ];
            let gateway = returning("payment", &edits);
            let payment = gateway.run(call);
            let payment = payment.unwrap_or_else(|| panic!("{case}"));
            assert_eq!(payment.status, expected, "{case}");
            assert_eq!(payment.card.is_some(), field != "last4", "{case}");
            let expires = field == "last4" && expected == PaymentStatus::Authorized;
            assert_eq!(payment.expires_at.is_some(), expires, "{case}");
            let [(_, 1)] = gateway.dropped_items()[..] else {
                panic!("{case}: {:?}", gateway.dropped_items());
            };
        }
    }
}

#[test]
fn payment_whose_meaning_is_unreadable_is_unknown() {
    for pointer in [
        "/id",
        "/status",
        "/amount",
        "/amount_received",
        "/currency",
        "/metadata",
        "/metadata/client_reference",
        "/latest_charge",
        "/latest_charge/status",
        "/latest_charge/amount",
        "/latest_charge/amount_refunded",
    ] {
        for value in [json!(null), json!([5]), json!(true)] {
            let gateway = returning("payment", &[(pointer, value.clone())]);
            let state = gateway.run(|| StripePayments::authorize(authorize_request()));
            assert_eq!(outcome(&state), Unknown, "{pointer} {value}: {state:?}");
        }
    }
}

#[test]
fn capture_takes_authorized_amount() {
    let edits = [
        ("/status", json!("succeeded")),
        ("/amount_received", json!(1_000)),
    ];
    let gateway = returning("payment", &edits);
    let state = gateway.run(|| StripePayments::capture(capture_request()));
    let state = state.unwrap();
    let request = format!("POST /payment_intents/{PAYMENT_ID}/capture");
    assert_eq!(asked(&gateway), [request]);
    let form = ["amount_to_capture=1000", "expand[]=latest_charge"];
    assert_eq!(sent(&gateway, 0), form);
    assert_eq!(state.status, PaymentStatus::Captured);
    assert_eq!(state.captured, 1_000);
    assert_eq!(state.expires_at, None);
}

#[test]
fn void_releases_authorization() {
    let gateway = returning("payment", &[("/status", json!("canceled"))]);
    let state = gateway.run(|| StripePayments::void(void_request()));
    let request = format!("POST /payment_intents/{PAYMENT_ID}/cancel");
    assert_eq!(asked(&gateway), [request]);
    assert_eq!(sent(&gateway, 0), ["expand[]=latest_charge"]);
    assert_eq!(state.unwrap().status, PaymentStatus::Voided);
}

#[test]
fn refund_returns_captured_amount() {
    let gateway = returning("refund", &[("/status", json!("succeeded"))]);
    let state = gateway.run(|| StripePayments::refund(refund_request()));
    let state = state.unwrap();
    assert_eq!(asked(&gateway), ["POST /refunds"]);
    assert_eq!(
        sent(&gateway, 0),
        [
            &format!("payment_intent={PAYMENT_ID}"),
            "amount=400",
            "metadata[client_reference]=bkg_1-refund-1-1-1",
        ]
    );
    assert_eq!(state.processor_reference, "re_3RkGateway0001");
    assert_eq!(state.amount, euros(400));
}

#[test]
fn refund_that_has_not_succeeded_is_unknown_or_declined() {
    for status in ["pending", "requires_action"] {
        let gateway = returning("refund", &[("/status", json!(status))]);
        let ending = gateway.run(|| StripePayments::refund(refund_request()));
        assert_eq!(outcome(&ending), Unknown, "{status}: {ending:?}");
    }
    for status in ["failed", "canceled"] {
        let gateway = returning("refund", &[("/status", json!(status))]);
        let ending = gateway.run(|| StripePayments::refund(refund_request()));
        let reason = DeclineReason::Other("refund_failed".to_owned());
        assert_eq!(ending, Err(PaymentError::Declined(reason)), "{status}");
    }
}

#[test]
fn description_is_sent_unchanged() {
    let mut request = intent_request();
    request.description = "Zürich & back = 100% ☂".to_owned();
    let gateway = returning("intent", &[]);
    let intent = gateway.run(|| StripePayments::create_intent(request));
    assert!(intent.is_ok(), "{intent:?}");
    assert_eq!(sent(&gateway, 0)[4], "description=Zürich & back = 100% ☂");
    assert_eq!(header(&gateway, 0, "authorization"), None);
}
