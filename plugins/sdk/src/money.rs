//! Money as suppliers write it, to minor units and back, without floats.
//!
//! A [`Decimal`] keeps every digit that was written. Minor units are what ISO
//! 4217 says: two decimals for most currencies, none for JPY, three for KWD.
//!
//! Two ways lead to minor units, and an adapter chooses by what its supplier
//! promises. [`Decimal::to_minor`] takes no more decimals than the currency has,
//! but forgives the noise of a supplier that computes with floats: a difference
//! of less than a thousandth of a minor unit (`19.990000000000002` is 19.99, and
//! `19.995` is an error). [`Decimal::to_minor_rounded`] rounds to the nearest
//! minor unit, halves away from zero.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::types::MinorUnits;

/// Digits that a decimal may have, before and after the point together.
const MAX_DIGITS: u32 = 30;

/// Why an amount cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("not a decimal number")]
    NotDecimal,
    #[error("not the code of a currency")]
    NotCurrency,
    #[error("more decimals than the currency has")]
    TooPrecise,
    #[error("the amount is out of range")]
    OutOfRange,
}

/// How many decimals a currency's major unit has. Three capital letters that are
/// not in the list have two.
///
/// # Errors
/// The code is not three capital letters.
pub fn exponent(currency: &str) -> Result<u32, MoneyError> {
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(MoneyError::NotCurrency);
    }
    Ok(match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX"
        | "UYI" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    })
}

/// A decimal number, exactly as it was written. Reads and writes a JSON number;
/// reads one in a JSON string, too. Reading needs `serde_json`'s own reader over
/// text or bytes, so no `Value` and no untagged or flattened type around it.
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

    /// The amount in major units.
    ///
    /// # Errors
    /// The code is not three capital letters.
    pub fn from_minor(amount: MinorUnits, currency: &str) -> Result<Self, MoneyError> {
        Ok(Self {
            coefficient: i128::from(amount),
            scale: exponent(currency)?,
        })
    }

    pub fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// The amount in minor units; see the module for the decimals it may have.
    ///
    /// # Errors
    /// Too many decimals, out of range, or not a currency.
    pub fn to_minor(self, currency: &str) -> Result<MinorUnits, MoneyError> {
        let exponent = exponent(currency)?;
        let rounded = self.round(exponent);
        if self.scale > exponent {
            let unit = ten_to(self.scale - exponent);
            let noise = (self.coefficient - rounded * unit).abs();
            if noise * 1000 >= unit {
                return Err(MoneyError::TooPrecise);
            }
        }
        MinorUnits::try_from(rounded).map_err(|_| MoneyError::OutOfRange)
    }

    /// The amount in minor units, rounded to the nearest, halves away from zero.
    ///
    /// # Errors
    /// Out of range, or not a currency.
    pub fn to_minor_rounded(self, currency: &str) -> Result<MinorUnits, MoneyError> {
        MinorUnits::try_from(self.round(exponent(currency)?)).map_err(|_| MoneyError::OutOfRange)
    }

    /// This many units of the given scale, rounded.
    fn round(self, scale: u32) -> i128 {
        if self.scale <= scale {
            return self.coefficient * ten_to(scale - self.scale);
        }
        let unit = ten_to(self.scale - scale);
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

    /// Reads what JSON calls a number, and a leading `+`.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (
                mantissa,
                power.parse::<i32>().map_err(|_| MoneyError::NotDecimal)?,
            ),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || (digits.len() > whole.len() && fraction.is_empty()) {
            return Err(MoneyError::NotDecimal);
        }
        let fraction = fraction.trim_end_matches('0');
        let mut coefficient: i128 = 0;
        let mut significant = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return Err(MoneyError::NotDecimal);
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
                coefficient: coefficient * ten_to(u32::try_from(-scale).unwrap_or(0)),
                scale: 0,
            },
        })
    }
}

impl fmt::Display for Decimal {
    /// In plain digits, never with an exponent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = ten_to(self.scale);
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

/// Reads an amount that may be left out in any way: none for `null`, `""` and
/// whatever is no decimal number. For `#[serde(default, deserialize_with = "…")]`,
/// where an amount is good to know and no reason to give the answer up.
///
/// # Errors
/// The document itself is broken.
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

fn unquoted(written: &str) -> &str {
    let inside = written
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(written)
}

/// A power of ten. Scales are at most `MAX_DIGITS`, so it is in range.
fn ten_to(power: u32) -> i128 {
    10_i128.checked_pow(power).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests;
