//! Conversion between suppliers' amounts and minor units, without floating-point numbers.
//!
//! A [`Decimal`] keeps every digit of the text. Minor units follow ISO 4217: two decimals for most
//! currencies, none for JPY, three for KWD.
//!
//! There are two conversions to minor units; choose by what the supplier guarantees.
//! [`Decimal::to_minor`] accepts no more decimals than the currency has, but tolerates the noise of
//! a supplier that computes with floating-point numbers. The noise must be less than a thousandth
//! of a minor unit: `19.990000000000002` is 19.99, and `19.995` is an error.
//! [`Decimal::to_minor_rounded`] rounds to the nearest minor unit, halves away from zero.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::types::MinorUnits;

/// Maximum number of digits of a decimal, before and after the point together.
const MAX_DIGITS: u32 = 30;

/// Maximum amount in minor units, in either direction. The gateway rejects a whole response because of a
/// larger one, so such an amount must count as unreadable before.
pub const MINOR_UNITS_MAX: MinorUnits = 999_999_999_999_999;

/// An error of decoding or converting an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("the amount is not a decimal number")]
    InvalidDecimal,
    #[error("the currency code is not three capital letters")]
    UnknownCurrency,
    #[error("the amount has more decimals than the currency")]
    TooPrecise,
    #[error("the amount is out of range")]
    OutOfRange,
}

/// Returns the number of decimals of a currency's major unit. A code of three capital letters that
/// is not in the list has two.
///
/// # Errors
/// Fails if the code is not three capital letters.
pub fn minor_unit_exponent(currency: &str) -> Result<u32, MoneyError> {
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(MoneyError::UnknownCurrency);
    }
    Ok(match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX"
        | "UYI" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    })
}

/// A decimal number, exactly as it was written. It decodes from a JSON number or a number in a JSON
/// string, and encodes as a JSON number. Decoding requires `serde_json`'s own deserializer over
/// text or bytes, so it works neither from a `Value` nor in untagged or flattened types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decimal {
    coefficient: i128,
    scale: u32,
}

impl Decimal {
    pub const ZERO: Self = Self {
        coefficient: 0,
        scale: 0,
    };

    /// Converts an amount in minor units to a decimal in major units.
    ///
    /// # Errors
    /// Fails if the code is not three capital letters.
    pub fn from_minor(amount: MinorUnits, currency: &str) -> Result<Self, MoneyError> {
        Ok(Self {
            coefficient: i128::from(amount),
            scale: minor_unit_exponent(currency)?,
        })
    }

    pub fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// Converts the amount to minor units. The module documentation describes the accepted
    /// decimals.
    ///
    /// # Errors
    /// Fails if there are too many decimals, the amount exceeds [`MINOR_UNITS_MAX`], or the currency
    /// code is invalid.
    pub fn to_minor(self, currency: &str) -> Result<MinorUnits, MoneyError> {
        let exponent = minor_unit_exponent(currency)?;
        let rounded = self.round(exponent);
        if self.scale > exponent {
            let unit = pow10(self.scale - exponent);
            let noise = (self.coefficient - rounded * unit).abs();
            if noise * 1000 >= unit {
                return Err(MoneyError::TooPrecise);
            }
        }
        minor_units(rounded)
    }

    /// Converts the amount to minor units, rounded to the nearest, halves away from zero.
    ///
    /// # Errors
    /// Fails if the amount exceeds [`MINOR_UNITS_MAX`] or the currency code is invalid.
    pub fn to_minor_rounded(self, currency: &str) -> Result<MinorUnits, MoneyError> {
        minor_units(self.round(minor_unit_exponent(currency)?))
    }

    /// Converts a percentage to hundredths of a per cent, rounded to the nearest, halves away from
    /// zero.
    ///
    /// # Errors
    /// Fails if it is not from 0 to 100.
    pub fn to_basis_points(self) -> Result<u16, MoneyError> {
        let points = u16::try_from(self.round(2)).ok();
        let points = points.filter(|points| *points <= 10_000);
        points.ok_or(MoneyError::OutOfRange)
    }

    /// Returns the number rounded to units of the given scale.
    fn round(self, scale: u32) -> i128 {
        if self.scale <= scale {
            return self.coefficient * pow10(scale - self.scale);
        }
        let unit = pow10(self.scale - scale);
        let half = if self.coefficient < 0 {
            -unit / 2
        } else {
            unit / 2
        };
        (self.coefficient + half) / unit
    }
}

impl FromStr for Decimal {
    type Err = MoneyError;

    /// Parses a number in JSON syntax. A leading `+` is also accepted.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (
                mantissa,
                power
                    .parse::<i32>()
                    .map_err(|_| MoneyError::InvalidDecimal)?,
            ),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.len() > whole.len() && fraction.is_empty()) {
            return Err(MoneyError::InvalidDecimal);
        }
        let fraction = fraction.trim_end_matches('0');
        let mut coefficient: i128 = 0;
        let mut significant = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return Err(MoneyError::InvalidDecimal);
            }
            if byte != b'0' || significant > 0 {
                significant += 1;
            }
            if significant > MAX_DIGITS {
                return Err(MoneyError::OutOfRange);
            }
            coefficient = coefficient * 10 + i128::from(byte - b'0');
        }
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        let decimals = i64::try_from(fraction.len()).map_err(|_| MoneyError::OutOfRange)?;
        let scale = decimals - i64::from(power);
        if scale > i64::from(MAX_DIGITS) || i64::from(significant) - scale > 25 {
            return Err(MoneyError::OutOfRange);
        }
        if negative {
            coefficient = -coefficient;
        }
        Ok(match u32::try_from(scale) {
            Ok(scale) => Self { coefficient, scale },
            Err(_) => Self {
                coefficient: coefficient * pow10(u32::try_from(-scale).unwrap_or(0)),
                scale: 0,
            },
        })
    }
}

impl fmt::Display for Decimal {
    /// Formats the number in plain digits, without an exponent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = pow10(self.scale);
        let sign = if self.coefficient < 0 { "-" } else { "" };
        let (whole, fraction) = (
            (self.coefficient / unit).abs(),
            (self.coefficient % unit).abs(),
        );
        if self.scale == 0 {
            return write!(formatter, "{sign}{whole}");
        }
        let width = usize::try_from(self.scale).unwrap_or(0);
        write!(formatter, "{sign}{whole}.{fraction:0width$}")
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = <&RawValue>::deserialize(deserializer)?.get();
        unquoted(written)
            .parse()
            .map_err(|_| D::Error::custom("invalid amount, expected a decimal number"))
    }
}

/// Decodes an optional amount: `None` for `null`, `""` and anything that is not a decimal number.
/// Use it in `#[serde(default, deserialize_with = "…")]` for amounts without which the response is
/// still usable.
///
/// # Errors
/// Fails if the document itself is invalid.
pub fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let written = <&RawValue>::deserialize(deserializer)?.get();
    Ok(unquoted(written).parse().ok())
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

/// Converts a number of minor units to an amount that the gateway takes.
fn minor_units(number: i128) -> Result<MinorUnits, MoneyError> {
    let amount = MinorUnits::try_from(number).ok();
    amount
        .filter(|amount| (-MINOR_UNITS_MAX..=MINOR_UNITS_MAX).contains(amount))
        .ok_or(MoneyError::OutOfRange)
}

fn unquoted(written: &str) -> &str {
    let inside = written
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(written)
}

/// Returns a power of ten. Scales are at most `MAX_DIGITS`, so the result is in range.
fn pow10(power: u32) -> i128 {
    10_i128.checked_pow(power).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests;
