//! Nuitee's responses, with only the fields that are used, in every form that Nuitee's
//! documents show. `map` defines their meaning.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod content;
pub(crate) mod place;
pub(crate) mod rate;
pub(crate) mod weather;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use stopover_sdk::lenient::{
    Essential, ExactText, LenientCount, LenientFlag, LenientText, NonEmptyText, Single,
};
use stopover_sdk::lenient_struct;
use stopover_sdk::money::Decimal;

lenient_struct! {
    /// An amount of money in major units.
    #[derive(Debug, Clone)]
    pub(crate) struct Amount<'a> {
        pub(crate) amount: Single<Decimal> = "amount",
        pub(crate) currency: Single<ExactText<'a>> = "currency",
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) struct Coordinates {
        pub(crate) latitude: Single<f64> = "latitude",
        pub(crate) longitude: Single<f64> = "longitude",
    }

    /// An error. One without any text states nothing.
    #[derive(Clone, PartialEq)]
    pub(crate) struct WireError {
        pub(crate) code: Essential<NonEmptyText>,
        pub(crate) message: Reference,
        pub(crate) description: Essential<NonEmptyText>,
    }
}

/// Text, which may also be sent as a list of texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LenientTextList {
    pub(crate) texts: Vec<String>,
    /// Whether an item is no text.
    pub(crate) is_any_unreadable: bool,
}

impl<'de> Deserialize<'de> for LenientTextList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = match Value::deserialize(deserializer)? {
            Value::Array(items) => items,
            item => vec![item],
        };
        let mut list = Self::default();
        for item in items {
            match item {
                Value::String(text) => list.texts.push(text),
                Value::Null => {}
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    list.is_any_unreadable = true;
                }
            }
        }
        Ok(list)
    }
}

/// A boolean in one of the forms of a [`LenientFlag`]. Every other value is an error, because it must not
/// count as "no".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExactFlag(pub(crate) bool);

impl<'de> Deserialize<'de> for ExactFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flag = LenientFlag::deserialize(deserializer)?.0;
        let flag = flag.ok_or_else(|| D::Error::custom("invalid value, expected a boolean"))?;
        Ok(Self(flag))
    }
}

/// A reference or a code. It is `None` for `null`, `""`, lists and objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reference(pub(crate) Option<String>);

impl Reference {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de> Deserialize<'de> for Reference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(LenientText::deserialize(deserializer)?.to_owned()))
    }
}

/// Returns the position of a room, from 0. Nuitee's numbers of rooms count from 1.
pub(crate) fn room_position(number: LenientCount) -> Option<usize> {
    let number = usize::try_from(number.0?).unwrap_or(usize::MAX);
    number.checked_sub(1)
}
