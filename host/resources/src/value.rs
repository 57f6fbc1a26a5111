//! Values that many requests and responses share: money, instants, dates, currencies and countries.
//! Their JSON form belongs to the API, not to the domain.

use host_domain::money::{self, MoneyError};
use host_domain::time::{Date, Timestamp};
use iso3166_static::{Alpha2, Numeric};
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value, json};
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::LazyLock;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AnyOfBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// An exact amount in major units: `12.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(pub Decimal);

/// An amount in a currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({"amount": 260.0, "currency": "EUR"}))]
pub struct MoneyResource {
    /// Amount in major units, exact, with at most the decimals of the currency.
    pub amount: Amount,
    /// ISO 4217 code.
    pub currency: CurrencyCode,
}

/// An instant: `2026-11-21T10:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IsoDateTime(pub Timestamp);

/// A date: `2026-11-21`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct IsoDate(pub Date);

/// A date `2026-11-21`, or an instant `2026-11-21T10:00:00.000Z` with any offset, as the range of
/// time that it denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsoDateOrDateTime {
    /// Start of the range: midnight UTC of a date, or the instant itself.
    pub start: Timestamp,
    /// End of the range: the last millisecond of a date in UTC, or the instant itself.
    pub end: Timestamp,
}

/// An ISO 4217 code in upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrencyCode(pub money::Currency);

/// An ISO 3166-1 alpha-2 code in upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountryCode(pub Alpha2);

impl Amount {
    /// Returns the amount as money of a currency.
    ///
    /// # Errors
    /// The amount has more decimals than the currency, or is out of range.
    pub fn to_money(self, currency: CurrencyCode) -> Result<money::Money, MoneyError> {
        money::Money::from_major(self.0, currency.0)
    }
}

impl From<money::Money> for MoneyResource {
    fn from(money: money::Money) -> Self {
        Self {
            amount: Amount(money.to_major()),
            currency: CurrencyCode(money.currency),
        }
    }
}

impl From<Timestamp> for IsoDateTime {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl From<Date> for IsoDate {
    fn from(date: Date) -> Self {
        Self(date)
    }
}

impl CountryCode {
    /// Returns the two letters of the code.
    #[must_use]
    pub fn to_alpha2(self) -> String {
        self.0.to_string()
    }
}

/// Amounts have at most 15 digits, so a binary float represents them exactly. This is the only
/// place that uses a float.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let amount = self.0.normalize();
        if let (0, Ok(whole)) = (amount.scale(), i64::try_from(amount.mantissa())) {
            return serializer.serialize_i64(whole);
        }
        let number = f64::from_str(&amount.to_string()).map_err(serde::ser::Error::custom)?;
        serializer.serialize_f64(number)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Number::deserialize(deserializer)?.to_string();
        Decimal::from_str_exact(&text)
            .or_else(|_| Decimal::from_scientific(&text))
            .map(Self)
            .map_err(|_| D::Error::custom("the number is out of range"))
    }
}

impl Serialize for IsoDateTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for IsoDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let date = Some(text.as_ref())
            .filter(|text| text.len() == 10)
            .and_then(|text| text.parse().ok());
        date.map(Self)
            .ok_or_else(|| D::Error::custom("not a date of the form YYYY-MM-DD"))
    }
}

impl<'de> Deserialize<'de> for IsoDateOrDateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        let text = Cow::<str>::deserialize(deserializer)?;
        let day = Some(text.as_ref()).filter(|text| text.len() == 10);
        let (first, length_ms) = match day.map(str::parse::<Date>) {
            // The last representable date has no representable midnight in UTC.
            Some(day) => (day.ok().map(midnight_utc), DAY_MS),
            None => (Timestamp::parse(&text), 1),
        };
        first
            .map(|first| Self {
                start: first,
                end: first.plus_ms(length_ms - 1),
            })
            .ok_or_else(|| D::Error::custom("neither a date nor an instant with its offset"))
    }
}

fn midnight_utc(day: Date) -> Timestamp {
    let midnight = Timestamp::parse(&format!("{day}T00:00:00Z"));
    midnight.unwrap_or(Timestamp(0).plus_ms(i64::MAX))
}

impl Serialize for CurrencyCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.code())
    }
}

impl<'de> Deserialize<'de> for CurrencyCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<str>::deserialize(deserializer)?;
        money::Currency::parse(&code)
            .map(Self)
            .map_err(D::Error::custom)
    }
}

impl Serialize for CountryCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CountryCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = Cow::<str>::deserialize(deserializer)?;
        parse_country(&code)
            .map(Self)
            .ok_or_else(|| D::Error::custom("not an ISO 3166-1 alpha-2 code"))
    }
}

/// Returns the country of a code; `None` if no country has it.
pub fn parse_country(code: &str) -> Option<Alpha2> {
    let upper = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    let alpha2 = upper.then(|| Alpha2::try_from(code).ok()).flatten()?;
    // Codes for private use, such as XX, have no numeric code.
    Numeric::try_from(alpha2).is_ok().then_some(alpha2)
}

/// Returns all codes of `letters` upper-case letters that `known` accepts. The published schema
/// lists them, so that clients can validate before they send.
fn all_codes(letters: u32, known: impl Fn(&str) -> bool) -> Vec<Value> {
    let spell = |number: u32| -> String {
        (0..letters)
            .rev()
            .filter_map(|place| char::from_digit(number / 26_u32.pow(place) % 26 + 10, 36))
            .collect()
    };
    let all = (0..26_u32.pow(letters)).map(|number| spell(number).to_ascii_uppercase());
    all.filter(|code| known(code)).map(Value::from).collect()
}

static CURRENCIES: LazyLock<Vec<Value>> =
    LazyLock::new(|| all_codes(3, |code| money::Currency::parse(code).is_ok()));
static COUNTRIES: LazyLock<Vec<Value>> =
    LazyLock::new(|| all_codes(2, |code| parse_country(code).is_some()));

/// Implements the schema of each type under its published name, which clients may have in generated code.
macro_rules! schemas {
    ($($name:ident $published:literal = $object:expr;)*) => {$(
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $object.into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($published)
            }
        }
    )*};
}

/// Converts between enums whose variants have the same names: `A <= B` from `B` to `A`, `A => B` from
/// `A` to `B`, and `A <=> B` both ways. It fails to compile if a variant is missing.
#[macro_export]
macro_rules! same_variants {
    ($resource:ident <= $domain:ty: $($variant:ident),+) => {
        impl From<$domain> for $resource {
            fn from(value: $domain) -> Self {
                match value {
                    $(<$domain>::$variant => Self::$variant,)+
                }
            }
        }
    };
    ($resource:ident => $domain:ty: $($variant:ident),+) => {
        impl From<$resource> for $domain {
            fn from(value: $resource) -> Self {
                match value {
                    $($resource::$variant => Self::$variant,)+
                }
            }
        }
    };
    ($resource:ident <=> $domain:ty: $($variant:ident),+) => {
        $crate::same_variants! { $resource <= $domain: $($variant),+ }
        $crate::same_variants! { $resource => $domain: $($variant),+ }
    };
}
pub use same_variants;

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn dated(format: KnownFormat) -> ObjectBuilder {
    text().format(Some(SchemaFormat::KnownFormat(format)))
}

schemas! {
    Amount "Amount" = ObjectBuilder::new().schema_type(Type::Number).description(Some("Major units of a currency, exact."))
        // The limits are reached by currencies without decimals.
        .minimum(Some(-money::MINOR_UNITS_MAX)).maximum(Some(money::MINOR_UNITS_MAX));
    IsoDateTime "Instant" = text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("UTC, with milliseconds.")).examples([json!("2026-11-21T10:00:00.000Z")]);
    IsoDate "Day" = text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date))).examples([json!("2026-11-21")]);
    IsoDateOrDateTime "DayOrInstant" = AnyOfBuilder::new().item(dated(KnownFormat::Date)).item(dated(KnownFormat::DateTime))
        .description(Some("A day, or an instant with its offset.")).examples([json!("2026-11-21")]);
    CurrencyCode "CurrencyCode" = text().description(Some("ISO 4217.")).enum_values(Some(CURRENCIES.clone())).examples([json!("EUR")]);
    CountryCode "CountryCode" = text().description(Some("ISO 3166-1 alpha-2.")).enum_values(Some(COUNTRIES.clone())).examples([json!("GB")]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_serialize_as_exact_numbers() {
        for (minor, code, json) in [
            (123_456, "EUR", "1234.56"),
            (10, "USD", "0.1"),
            (26_000, "EUR", "260"),
            (5, "JPY", "5"),
            (999_999_999_999_999, "KWD", "999999999999.999"),
            (-1, "EUR", "-0.01"),
        ] {
            let money = money::Money::new(minor, money::Currency::parse(code).unwrap());
            let text = serde_json::to_string(&Amount(money.to_major())).unwrap();
            assert_eq!(text, json);
            let back: Amount = serde_json::from_str(&text).unwrap();
            assert_eq!(back.to_money(CurrencyCode(money.currency)).unwrap(), money);
        }
    }

    #[test]
    fn invalid_amounts_are_rejected() {
        assert!(serde_json::from_str::<Amount>("1e300").is_err());
        assert!(serde_json::from_str::<Amount>("\"1\"").is_err());
        let cents: Amount = serde_json::from_str("1.005").unwrap();
        assert!(cents.to_money(CurrencyCode(money::Currency::USD)).is_err());
    }

    #[test]
    fn published_codes_match_iso_tables() {
        assert!(CURRENCIES.contains(&json!("EUR")) && CURRENCIES.contains(&json!("KWD")));
        assert!(!CURRENCIES.contains(&json!("QQQ")));
        assert!(CURRENCIES.len() > 150, "{}", CURRENCIES.len());
        assert_eq!(COUNTRIES.len(), 249);
        assert!(
            COUNTRIES.contains(&json!("GB"))
                && !COUNTRIES.contains(&json!("UK"))
                && !COUNTRIES.contains(&json!("XX"))
        );
    }

    #[test]
    fn date_spans_a_day_and_instant_spans_no_time() {
        let read = |text: &str| serde_json::from_value::<IsoDateOrDateTime>(json!(text));
        let day = read("2026-11-21").unwrap();
        let ends = (day.start.to_string(), day.end.to_string());
        assert_eq!(ends.0, "2026-11-21T00:00:00.000Z");
        assert_eq!(ends.1, "2026-11-21T23:59:59.999Z");
        let instant = read("2026-11-21T11:00:00.0059+01:00").unwrap();
        assert_eq!(instant.start.to_string(), "2026-11-21T10:00:00.005Z");
        assert_eq!(instant.start, instant.end);
        for text in [
            "",
            "2026-02-30",
            "2026-11-21T10:00:00",
            "2026-11-21Z",
            "1795255200",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_iso_dates_parse() {
        assert!(serde_json::from_str::<IsoDate>("\"2026-11-21\"").is_ok());
        for text in [
            "\"20261121\"",
            "\"2026-11-21T00\"",
            "\"2026-02-30\"",
            "\"+02026-1-1\"",
            "20261121",
        ] {
            assert!(serde_json::from_str::<IsoDate>(text).is_err(), "{text}");
        }
    }
}
