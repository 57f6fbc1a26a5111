use iso_currency::{Currency, IntoEnumIterator};
use proptest::prelude::*;

use super::*;

fn minor(text: &str, currency: &str) -> Result<MinorUnits, MoneyError> {
    text.parse::<Decimal>()?.to_minor(currency)
}

#[test]
fn amount_is_converted_to_minor_units() {
    let cases = [
        ("163.66", "USD", 16366),
        ("163.6600", "USD", 16366),
        ("115", "USD", 11500),
        ("0.1", "EUR", 10),
        ("-0.05", "EUR", -5),
        ("15234", "JPY", 15234),
        ("15234.00", "JPY", 15234),
        ("1.234", "KWD", 1234),
        ("1.2345", "CLF", 12345),
        ("1e2", "USD", 10000),
        ("12.5E-1", "USD", 125),
        ("+7.5", "USD", 750),
        ("0.0000000000000000000000000000000000000", "USD", 0),
        ("9999999999999.99", "USD", MINOR_UNITS_MAX),
        ("-9999999999999.99", "USD", -MINOR_UNITS_MAX),
        ("999999999999999", "JPY", MINOR_UNITS_MAX),
        ("9999999999999.9900000000001", "USD", MINOR_UNITS_MAX),
        ("19.990000000000002", "USD", 1999),
        ("19.989999999999998", "USD", 1999),
    ];
    for (text, currency, expected) in cases {
        assert_eq!(minor(text, currency), Ok(expected), "{text} {currency}");
    }
}

#[test]
fn invalid_amount_for_currency_is_an_error() {
    let cases = [
        ("19.995", "USD", MoneyError::TooPrecise),
        ("0.5", "JPY", MoneyError::TooPrecise),
        ("1.00002", "USD", MoneyError::TooPrecise),
        ("10000000000000", "USD", MoneyError::OutOfRange),
        ("-10000000000000", "USD", MoneyError::OutOfRange),
        ("1000000000000000", "JPY", MoneyError::OutOfRange),
        ("92233720368547758.07", "USD", MoneyError::OutOfRange),
        ("92233720368547758.08", "USD", MoneyError::OutOfRange),
        ("1e400", "USD", MoneyError::OutOfRange),
        ("1e-400", "USD", MoneyError::OutOfRange),
        ("1e99999999999", "USD", MoneyError::InvalidDecimal),
        (
            "9999999999999999999999999999999",
            "USD",
            MoneyError::OutOfRange,
        ),
        ("", "USD", MoneyError::InvalidDecimal),
        (".5", "USD", MoneyError::InvalidDecimal),
        ("5.", "USD", MoneyError::InvalidDecimal),
        ("1,5", "USD", MoneyError::InvalidDecimal),
        ("NaN", "USD", MoneyError::InvalidDecimal),
        ("--1", "USD", MoneyError::InvalidDecimal),
        ("1", "usd", MoneyError::UnknownCurrency),
        ("1", "US", MoneyError::UnknownCurrency),
    ];
    for (text, currency, expected) in cases {
        assert_eq!(minor(text, currency), Err(expected), "{text} {currency}");
    }
}

#[test]
fn rounding_is_to_nearest_with_halves_away_from_zero() {
    let cases = [
        ("19.994", "USD", 1999),
        ("19.995", "USD", 2000),
        ("-19.995", "USD", -2000),
        ("-19.9949", "USD", -1999),
        ("15234.5", "JPY", 15235),
        ("0.004", "USD", 0),
    ];
    for (text, currency, expected) in cases {
        let decimal: Decimal = text.parse().unwrap();
        assert_eq!(decimal.to_minor_rounded(currency), Ok(expected), "{text}");
    }
}

/// The gateway rejects a larger amount with the whole response.
#[test]
fn rounded_amount_above_maximum_is_out_of_range() {
    let out_of_range = Err(MoneyError::OutOfRange);
    for (text, expected) in [
        ("9999999999999.994", Ok(MINOR_UNITS_MAX)),
        ("-9999999999999.994", Ok(-MINOR_UNITS_MAX)),
        ("9999999999999.995", out_of_range),
        ("-9999999999999.995", out_of_range),
        ("10000000000000", out_of_range),
        ("92233720368547758.07", out_of_range),
    ] {
        let decimal: Decimal = text.parse().unwrap();
        assert_eq!(decimal.to_minor_rounded("USD"), expected, "{text}");
    }
}

#[test]
fn json_numbers_keep_every_digit() {
    let read: Vec<Decimal> =
        serde_json::from_str(r#"[0.1, 123456789012345678.91, "115", 8313.73, -4]"#).unwrap();
    let written: Vec<String> = read.iter().map(Decimal::to_string).collect();
    assert_eq!(
        written,
        ["0.1", "123456789012345678.91", "115", "8313.73", "-4"]
    );
    assert_eq!(
        serde_json::to_string(&read).unwrap(),
        "[0.1,123456789012345678.91,115,8313.73,-4]"
    );
    for wrong in ["null", "true", "[1]", "\"\"", "\"one\""] {
        assert!(serde_json::from_str::<Decimal>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn lenient_amount_is_none_for_every_missing_form() {
    #[derive(serde::Deserialize)]
    struct Fee {
        #[serde(default, deserialize_with = "lenient")]
        amount: Option<Decimal>,
    }
    let read = |json: &str| serde_json::from_str::<Fee>(json).unwrap().amount;
    for json in [
        "{}",
        r#"{"amount": null}"#,
        r#"{"amount": ""}"#,
        r#"{"amount": "n/a"}"#,
        r#"{"amount": [1]}"#,
        r#"{"amount": 1e400}"#,
    ] {
        assert_eq!(read(json), None, "{json}");
    }
    assert_eq!(
        read(r#"{"amount": "2.50"}"#).unwrap().to_minor("EUR"),
        Ok(250)
    );
}

#[test]
fn exponents_match_iso_4217() {
    for currency in Currency::iter() {
        let Some(expected) = currency.exponent() else {
            continue;
        };
        let code = currency.code();
        assert_eq!(minor_unit_exponent(code), Ok(u32::from(expected)), "{code}");
    }
}

proptest! {
    #[test]
    fn minor_units_round_trip(
        amount in -MINOR_UNITS_MAX..=MINOR_UNITS_MAX,
        currency in prop::sample::select(vec!["USD", "JPY", "KWD", "CLF"]),
    ) {
        let decimal = Decimal::from_minor(amount, currency).unwrap();
        prop_assert_eq!(decimal.to_minor(currency), Ok(amount));
        let reread: Decimal = decimal.to_string().parse().unwrap();
        prop_assert_eq!(reread.to_minor(currency), Ok(amount));
    }

    #[test]
    fn parsing_never_panics(text in "[-+0-9.eE]{0,50}") {
        if let Ok(decimal) = text.parse::<Decimal>() {
            let _ = decimal.to_minor("USD");
            let _ = decimal.to_minor_rounded("CLF");
            let _ = decimal.to_string();
        }
    }
}

#[test]
fn percentage_is_converted_to_basis_points() {
    for (percent, expected) in [
        ("12.5", Ok(1_250)),
        ("0", Ok(0)),
        ("33.335", Ok(3_334)),
        ("100.004", Ok(10_000)),
        ("100.01", Err(MoneyError::OutOfRange)),
        ("-1", Err(MoneyError::OutOfRange)),
    ] {
        let percent: Decimal = percent.parse().unwrap();
        assert_eq!(percent.to_basis_points(), expected);
    }
}
