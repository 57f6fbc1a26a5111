//! Currencies and exact amounts. Amounts are minor units internally; each supplier converts them to
//! its own format.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Ten-thousandths in a major unit, the unit of prices. The minor units of every currency divide
/// it.
pub(crate) const PER_MAJOR: i64 = 10_000;

/// An ISO 4217 currency that has minor units.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Currency {
    code: &'static str,
    decimals: u8,
}

impl Currency {
    pub(crate) const USD: Self = Self {
        code: "USD",
        decimals: 2,
    };
    pub(crate) const GBP: Self = Self {
        code: "GBP",
        decimals: 2,
    };

    /// Returns the currency of an upper-case alphabetic code.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        let known = iso_currency::Currency::from_code(code)?;
        let decimals = u8::try_from(known.exponent()?).ok()?;
        (decimals <= 4).then(|| Self {
            code: known.code(),
            decimals,
        })
    }

    pub(crate) fn code(self) -> &'static str {
        self.code
    }

    pub(crate) fn decimals(self) -> u8 {
        self.decimals
    }

    /// Returns the number of minor units in a major unit.
    pub(crate) fn scale(self) -> i64 {
        10_i64.pow(u32::from(self.decimals))
    }

    /// Converts a price in ten-thousandths of a major unit to minor units, rounded half up.
    pub(crate) fn minor(self, ten_thousandths: i64) -> i64 {
        let divisor = PER_MAJOR / self.scale();
        (ten_thousandths + divisor / 2).div_euclid(divisor)
    }

    /// Formats an amount with exactly the currency's decimals: `130.00`, or `130` for JPY.
    pub(crate) fn format(self, minor: i64) -> String {
        let sign = if minor < 0 { "-" } else { "" };
        let (whole, rest) = (minor.abs() / self.scale(), minor.abs() % self.scale());
        match usize::from(self.decimals) {
            0 => format!("{sign}{whole}"),
            width => format!("{sign}{whole}.{rest:0width$}"),
        }
    }

    /// Parses a decimal string into minor units. Returns `None` if it has more decimals than the
    /// currency.
    pub(crate) fn parse(self, text: &str) -> Option<i64> {
        parse_decimal(text, self.decimals)
    }

    /// Returns the major units as a JSON number. The shortest text of the nearest double is the
    /// exact decimal for every amount below 2^53 minor units.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the ledger's amounts are far below 2^53 minor units"
    )]
    pub(crate) fn to_major(self, minor: i64) -> f64 {
        minor as f64 / self.scale() as f64
    }
}

/// Parses `text`, a decimal without exponent, multiplied by ten to the power of `decimals`.
pub(crate) fn parse_decimal(text: &str, decimals: u8) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let width = usize::from(decimals);
    let fraction = fraction.trim_end_matches('0');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > width {
        return None;
    }
    format!("{whole}{fraction:0<width$}").parse().ok()
}

/// Returns `part` percent of an amount, rounded half up.
pub(crate) fn percent(minor: i64, part: i64) -> i64 {
    (minor * part + 50).div_euclid(100)
}

impl fmt::Debug for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code)
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code)
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::from_code(&code).ok_or_else(|| {
            de::Error::custom(format!("`{code}` is not a currency with minor units"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_is_formatted_with_its_currencys_decimals() {
        for (code, minor, text) in [
            ("EUR", 13_000, "130.00"),
            ("EUR", 5, "0.05"),
            ("JPY", 130, "130"),
            ("KWD", 1_500, "1.500"),
        ] {
            let currency = Currency::from_code(code).unwrap();
            assert_eq!(currency.format(minor), text);
            assert_eq!(currency.parse(text), Some(minor));
        }
    }

    #[test]
    fn prices_are_rounded_half_up_to_minor_units() {
        assert_eq!(Currency::from_code("JPY").unwrap().minor(995_000), 100);
        assert_eq!(Currency::USD.minor(995_050), 9_951);
        assert_eq!(
            Currency::from_code("KWD").unwrap().minor(1_000_000),
            100_000
        );
    }

    #[test]
    fn invalid_amount_or_currency_is_not_parsed() {
        for text in ["", ".", "1.234", "-1", "1e3", "1,0", " 1"] {
            assert_eq!(Currency::USD.parse(text), None, "{text}");
        }
        assert_eq!(Currency::USD.parse("1.500"), Some(150));
        assert!(Currency::from_code("usd").is_none());
        assert!(Currency::from_code("XAU").is_none());
    }
}
