//! Money as minor units of an ISO 4217 currency, without floating point.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum amount that the gateway handles, in minor units. Every amount up to it fits a JSON
/// number in any client.
pub const MINOR_UNITS_MAX: i64 = 999_999_999_999_999;

/// An ISO 4217 currency in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency(iso_currency::Currency);

/// Errors of parsing and adding amounts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("not an ISO 4217 currency code")]
    UnknownCurrency,
    #[error("more decimals than the currency has")]
    TooPrecise,
    /// The amount exceeds [`MINOR_UNITS_MAX`].
    #[error("amount out of range")]
    OutOfRange,
    #[error("amounts in different currencies")]
    Mixed,
}

impl Currency {
    /// US dollars, the currency of price calendars.
    pub const USD: Self = Self(iso_currency::Currency::USD);

    /// Parses an upper-case three-letter code. Codes without a minor unit (gold, special drawing
    /// rights, "no currency") are rejected, because nobody pays with them.
    ///
    /// # Errors
    /// Returns [`MoneyError::UnknownCurrency`] if the code is not accepted.
    pub fn parse(code: &str) -> Result<Self, MoneyError> {
        iso_currency::Currency::from_code(code)
            .filter(|currency| currency.exponent().is_some())
            .map(Self)
            .ok_or(MoneyError::UnknownCurrency)
    }

    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Returns the number of decimals of the major unit: 2 for EUR, 0 for JPY, 3 for KWD.
    pub fn exponent(self) -> u32 {
        u32::from(self.0.exponent().unwrap_or(0))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl TryFrom<String> for Currency {
    type Error = MoneyError;
    fn try_from(code: String) -> Result<Self, MoneyError> {
        Self::parse(&code)
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> String {
        currency.code().to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// The amount in minor units: cents of EUR, yen of JPY.
    pub minor: i64,
    pub currency: Currency,
}

impl Money {
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// Parses an amount in major units, such as `12.50`. Returns `None` for other texts, for more
    /// decimals than the currency has, and for amounts out of range.
    pub fn parse_major(text: &str, currency: Currency) -> Option<Self> {
        let amount = Decimal::from_str_exact(text.trim()).ok()?;
        Self::from_major(amount, currency).ok()
    }

    /// Converts an amount in major units.
    ///
    /// # Errors
    /// Returns an error if the amount has more decimals than the currency or is out of range.
    pub fn from_major(amount: Decimal, currency: Currency) -> Result<Self, MoneyError> {
        let scale = Decimal::from(10_u64.pow(currency.exponent()));
        let minor = amount.checked_mul(scale).ok_or(MoneyError::OutOfRange)?;
        let minor = minor.normalize();
        if minor.scale() > 0 {
            return Err(MoneyError::TooPrecise);
        }
        let minor = i64::try_from(minor.mantissa()).map_err(|_| MoneyError::OutOfRange)?;
        if minor.abs() > MINOR_UNITS_MAX {
            return Err(MoneyError::OutOfRange);
        }
        Ok(Self::new(minor, currency))
    }

    /// Returns the exact amount in major units.
    #[must_use]
    pub fn to_major(self) -> Decimal {
        Decimal::new(self.minor, self.currency.exponent())
    }

    /// Adds two amounts.
    ///
    /// # Errors
    /// Returns an error if the currencies differ or the sum is out of range.
    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::Mixed);
        }
        let minor = self.minor.checked_add(other.minor);
        let minor = minor.filter(|m| m.abs() <= MINOR_UNITS_MAX);
        let sum = minor.map(|m| Self::new(m, self.currency));
        sum.ok_or(MoneyError::OutOfRange)
    }

    /// Subtracts `other`, with zero as the lower bound. If the currencies differ, returns `self`
    /// unchanged.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        if self.currency != other.currency {
            return self;
        }
        Self::new(self.minor.saturating_sub(other.minor).max(0), self.currency)
    }

    /// Returns the smaller of the two amounts. If the currencies differ, returns `self`.
    #[must_use]
    pub fn at_most(self, cap: Self) -> Self {
        if self.currency == cap.currency && cap.minor < self.minor {
            cap
        } else {
            self
        }
    }

    pub const fn is_zero(self) -> bool {
        self.minor == 0
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.to_major(), self.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    fn money(amount: &str, code: &str) -> Result<Money, MoneyError> {
        let amount = Decimal::from_str(amount).unwrap();
        Money::from_major(amount, Currency::parse(code).unwrap())
    }

    #[test]
    fn major_units_use_exponent_of_currency() {
        for (amount, code, minor) in [
            ("12.34", "EUR", 1234),
            ("12", "JPY", 12),
            ("1.234", "KWD", 1234),
            ("-0.5", "USD", -50),
            ("1.10000", "EUR", 110),
        ] {
            let read = money(amount, code).unwrap();
            assert_eq!(read.minor, minor);
            assert_eq!(read.to_major(), Decimal::from_str(amount).unwrap());
        }
    }

    #[test]
    fn amounts_beyond_precision_or_range_are_rejected() {
        for (amount, code, error) in [
            ("1.5", "JPY", MoneyError::TooPrecise),
            ("1.001", "EUR", MoneyError::TooPrecise),
            (
                "79228162514264337593543950335",
                "EUR",
                MoneyError::OutOfRange,
            ),
            ("10000000000000", "EUR", MoneyError::OutOfRange),
        ] {
            assert_eq!(money(amount, code), Err(error), "{amount}");
        }
    }

    #[test]
    fn sum_of_different_currencies_is_rejected() {
        let [euros, dollars] = ["EUR", "USD"].map(|code| money("1", code).unwrap());
        assert_eq!(euros.plus(dollars), Err(MoneyError::Mixed));
    }
}
