//! Amounts in the currencies that Stripe writes its own way.

use serde_json::json;
use stopover_sdk::PaymentProcessor;
use stopover_sdk::money::exponent;
use stopover_sdk::payment_processor::PaymentError;
use stopover_sdk::testing::Gateway;
use stopover_sdk::types::Money;
use stripe_payments::StripePayments;

use crate::script::{authorize_request, edited, refund_request, sent};

/// Currency, its decimals by ISO 4217, minor units, and Stripe's amount; none:
/// Stripe takes no such amount.
const AMOUNTS: [(&str, u32, i64, Option<i64>); 21] = [
    ("EUR", 2, 1_050, Some(1_050)),
    // Zero-decimal, with both.
    ("JPY", 0, 500, Some(500)),
    ("KRW", 0, 500, Some(500)),
    ("CLP", 0, 500, Some(500)),
    ("XPF", 0, 500, Some(500)),
    // Zero-decimal, with Stripe alone.
    ("MGA", 2, 50_000, Some(500)),
    ("MGA", 2, 50_050, None),
    // Special in payouts only.
    ("HUF", 2, 1_045, Some(1_045)),
    ("TWD", 2, 80_045, Some(80_045)),
    // Not zero-decimal, with Stripe alone.
    ("ISK", 0, 5, Some(500)),
    ("UGX", 0, 5, Some(500)),
    ("UGX", 0, i64::MAX, None),
    // Three decimals, of which the last is 0.
    ("KWD", 3, 5_120, Some(5_120)),
    ("KWD", 3, 5_124, None),
    ("BHD", 3, 5_120, Some(5_120)),
    ("BHD", 3, 5_121, None),
    ("JOD", 3, 5_125, None),
    ("OMR", 3, 5_129, None),
    ("OMR", 3, 10, Some(10)),
    ("TND", 3, 1, None),
    ("TND", 3, 5_130, Some(5_130)),
];

fn money(currency: &str, amount: i64) -> Money {
    Money {
        amount,
        currency: currency.to_owned(),
    }
}

#[test]
fn an_amount_means_the_same_on_both_sides() {
    for (currency, decimals, minor, stripes) in AMOUNTS {
        let case = format!("{minor} {currency}");
        assert_eq!(exponent(currency), Ok(decimals), "{case}");
        let mut request = authorize_request();
        request.amount = money(currency, minor);
        let answered = stripes.unwrap_or(0);
        let answer = edited(
            "payment",
            &[
                ("/currency", json!(currency.to_ascii_lowercase())),
                ("/amount", json!(answered)),
                ("/latest_charge/amount", json!(answered)),
            ],
        );
        let gateway = Gateway::new().answer(200, answer.to_string());
        let ending = gateway.run(|| StripePayments::authorize(request));
        let Some(stripes) = stripes else {
            assert!(
                matches!(ending, Err(PaymentError::Refused(_))),
                "{case}: {ending:?}"
            );
            assert!(gateway.requests().is_empty(), "{case}");
            continue;
        };
        let parameters = sent(&gateway, 0);
        assert_eq!(parameters[0], format!("amount={stripes}"), "{case}");
        let lower = currency.to_ascii_lowercase();
        assert_eq!(parameters[1], format!("currency={lower}"), "{case}");
        let state = ending.unwrap_or_else(|error| panic!("{case}: {error:?}"));
        assert_eq!(
            (state.currency.as_str(), state.authorized),
            (currency, minor)
        );
    }
}

#[test]
fn a_fraction_that_a_currency_does_not_have_is_not_given_back() {
    let mut request = refund_request();
    request.amount = money("KWD", 1_001);
    let gateway = Gateway::new();
    let ending = gateway.run(|| StripePayments::refund(request));
    assert!(
        matches!(ending, Err(PaymentError::Refused(_))),
        "{ending:?}"
    );
    assert!(gateway.requests().is_empty());
}

#[test]
fn an_amount_that_does_not_fit_its_currency_is_not_read() {
    let mut request = authorize_request();
    request.amount = money("ISK", 5);
    let answer = edited(
        "payment",
        &[
            ("/currency", json!("isk")),
            ("/amount", json!(500)),
            ("/latest_charge/amount", json!(550)),
        ],
    );
    let ending = Gateway::new()
        .answer(200, answer.to_string())
        .run(|| StripePayments::authorize(request));
    assert!(
        matches!(ending, Err(PaymentError::Unknown(_))),
        "{ending:?}"
    );
}
