//! Amounts in currencies with special rules at Stripe.

use serde_json::json;
use stopover_sdk::PaymentProcessor;
use stopover_sdk::money::minor_unit_exponent;
use stopover_sdk::testing::Outcome::{Refused, Unknown};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::Money;
use stripe_payments::StripePayments;

use crate::script::{authorize_request, refund_request, returning, sent};

/// Currency, its decimals by ISO 4217, minor units, and Stripe's amount; `None` if Stripe cannot
/// represent the amount.
const AMOUNTS: [(&str, u32, i64, Option<i64>); 21] = [
    ("EUR", 2, 1_050, Some(1_050)),
    // Currencies without decimals at Stripe and by ISO 4217.
    ("JPY", 0, 500, Some(500)),
    ("KRW", 0, 500, Some(500)),
    ("CLP", 0, 500, Some(500)),
    ("XPF", 0, 500, Some(500)),
    // Currencies without decimals at Stripe only.
    ("MGA", 2, 50_000, Some(500)),
    ("MGA", 2, 50_050, None),
    // Currencies that are special in payouts only.
    ("HUF", 2, 1_045, Some(1_045)),
    ("TWD", 2, 80_045, Some(80_045)),
    // Currencies without decimals by ISO 4217 only.
    ("ISK", 0, 5, Some(500)),
    ("UGX", 0, 5, Some(500)),
    ("UGX", 0, i64::MAX, None),
    // Currencies with three decimals, of which the last must be 0.
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

#[test]
fn amount_is_converted_in_both_directions() {
    for (currency, decimals, minor, stripes) in AMOUNTS {
        let case = format!("{minor} {currency}");
        assert_eq!(minor_unit_exponent(currency), Ok(decimals), "{case}");
        let mut request = authorize_request();
        request.amount = Money::new(minor, currency);
        let answered = stripes.unwrap_or(0);
        let lower = currency.to_ascii_lowercase();
        let edits = [
            ("/currency", json!(lower)),
            ("/amount", json!(answered)),
            ("/latest_charge/amount", json!(answered)),
        ];
        let gateway = returning("payment", &edits);
        let ending = gateway.run(|| StripePayments::authorize(request));
        let Some(stripes) = stripes else {
            assert_eq!(outcome(&ending), Refused(""), "{case}: {ending:?}");
            assert!(gateway.requests().is_empty(), "{case}");
            continue;
        };
        let parameters = sent(&gateway, 0);
        assert_eq!(parameters[0], format!("amount={stripes}"), "{case}");
        assert_eq!(parameters[1], format!("currency={lower}"), "{case}");
        let state = ending.unwrap_or_else(|error| panic!("{case}: {error:?}"));
        assert_eq!(state.currency.as_str(), currency);
        assert_eq!(state.authorized, minor);
    }
}

#[test]
fn refund_with_unrepresentable_fraction_is_refused_without_request() {
    let mut request = refund_request();
    request.amount = Money::new(1_001, "KWD");
    let gateway = MockGateway::new();
    let ending = gateway.run(|| StripePayments::refund(request));
    assert_eq!(outcome(&ending), Refused(""), "{ending:?}");
    assert!(gateway.requests().is_empty());
}

#[test]
fn response_amount_with_invalid_fraction_is_unknown() {
    let mut request = authorize_request();
    request.amount = Money::new(5, "ISK");
    let edits = [
        ("/currency", json!("isk")),
        ("/amount", json!(500)),
        ("/latest_charge/amount", json!(550)),
    ];
    let ending = returning("payment", &edits).run(|| StripePayments::authorize(request));
    assert_eq!(outcome(&ending), Unknown, "{ending:?}");
}
