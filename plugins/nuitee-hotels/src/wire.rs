//! Nuitee's JSON as received, with only the fields that are used, in every form that Nuitee's
//! documents show. `map` defines their meaning.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod content;
pub(crate) mod place;
pub(crate) mod rate;
pub(crate) mod weather;

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use stopover_sdk::money::Decimal;

/// An amount of money in major units.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Amount {
    pub(crate) amount: Decimal,
    pub(crate) currency: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Coordinates {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

/// A list, which may also be sent as its only item, as `null` or as `""`.
#[derive(Debug, Clone)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = Vec<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list or an object")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut read = Vec::new();
                while let Some(item) = items.next_element()? {
                    read.push(item);
                }
                Ok(read)
            }

            fn visit_map<A: MapAccess<'de>>(self, item: A) -> Result<Vec<T>, A::Error> {
                Ok(vec![T::deserialize(MapAccessDeserializer::new(item))?])
            }

            fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
                Ok(Vec::new())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
                if text.is_empty() {
                    Ok(Vec::new())
                } else {
                    Err(E::invalid_type(serde::de::Unexpected::Other("text"), &self))
                }
            }
        }
        deserializer
            .deserialize_any(OneOrManyVisitor(PhantomData))
            .map(Self)
    }
}

/// Text, which may also be sent as a list of texts or as `null`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LenientTextList(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for LenientTextList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LenientTextListVisitor;
        impl<'de> Visitor<'de> for LenientTextListVisitor {
            type Value = Vec<String>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("text or a list of texts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
                Ok(vec![text.to_owned()])
            }

            fn visit_unit<E: Error>(self) -> Result<Vec<String>, E> {
                Ok(Vec::new())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Vec<String>, A::Error> {
                let mut read = Vec::new();
                while let Some(part) = parts.next_element::<Option<String>>()? {
                    read.extend(part);
                }
                Ok(read)
            }
        }
        deserializer
            .deserialize_any(LenientTextListVisitor)
            .map(Self)
    }
}

/// A number for display, such as a rating or a temperature; never money. It is `None` for `null`,
/// `""` and other values that are not numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LenientNumber(pub(crate) Option<f64>);

impl<'de> Deserialize<'de> for LenientNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor).map(|scalar| {
            Self(
                scalar
                    .and_then(|text| text.parse().ok())
                    .filter(|number: &f64| number.is_finite()),
            )
        })
    }
}

/// A reference or a code, which may be sent as a number. It is `None` for `null`, `""`, lists and
/// objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LenientText(pub(crate) Option<String>);

impl LenientText {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de> Deserialize<'de> for LenientText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(ScalarVisitor)?;
        Ok(Self(scalar.filter(|text| !text.is_empty())))
    }
}

/// The number of a room, from 1. It is `None` for other values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RoomNumber(pub(crate) Option<usize>);

impl RoomNumber {
    /// Returns the position of the room, from 0.
    pub(crate) fn position(self) -> Option<usize> {
        self.0?.checked_sub(1)
    }
}

impl<'de> Deserialize<'de> for RoomNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(ScalarVisitor)?;
        Ok(Self(scalar.and_then(|text| text.parse().ok())))
    }
}

/// A boolean. It is true for `true`, `1` and `"true"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LenientFlag(pub(crate) bool);

impl<'de> Deserialize<'de> for LenientFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(ScalarVisitor)?;
        Ok(Self(matches!(scalar.as_deref(), Some("true" | "1"))))
    }
}

/// The code of an error, which may be sent as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(ScalarVisitor)?;
        scalar
            .and_then(|text| text.parse().ok())
            .map(Self)
            .ok_or_else(|| D::Error::custom("invalid code, expected a number"))
    }
}

/// Reads any scalar as text. The value is `None` for `null`, lists and objects.
struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a boolean, text or null")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(value.trim().to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
