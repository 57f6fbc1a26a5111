//! Nuitee's JSON, as it comes: only the fields that are used, each in every form
//! that its documents show. What they mean is `map`'s business.

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

/// A list, which may also come as its only item, as `null` or as `""`.
#[derive(Debug, Clone)]
pub(crate) struct Many<T>(pub(crate) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
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
        deserializer.deserialize_any(Items(PhantomData)).map(Self)
    }
}

/// Text, which may also come as a list of texts or as `null`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
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
        deserializer.deserialize_any(Parts).map(Self)
    }
}

/// A number for people (a rating, a temperature), or none: also of `null`, `""`
/// and other things that are no number. Never money.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Number(pub(crate) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalar).map(|scalar| {
            Self(
                scalar
                    .and_then(|text| text.parse().ok())
                    .filter(|number: &f64| number.is_finite()),
            )
        })
    }
}

/// A reference or a code, which may come as a number; none for `null`, `""` and
/// other things that are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) Option<String>);

impl Word {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(Scalar)?;
        Ok(Self(scalar.filter(|text| !text.is_empty())))
    }
}

/// The number of a room, from 1; none for whatever is no such number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RoomNumber(pub(crate) Option<usize>);

impl RoomNumber {
    /// From 0.
    pub(crate) fn position(self) -> Option<usize> {
        self.0?.checked_sub(1)
    }
}

impl<'de> Deserialize<'de> for RoomNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(Scalar)?;
        Ok(Self(scalar.and_then(|text| text.parse().ok())))
    }
}

/// `true`, `1` or `"true"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(Scalar)?;
        Ok(Self(matches!(scalar.as_deref(), Some("true" | "1"))))
    }
}

/// The code of an error, which may come as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = deserializer.deserialize_any(Scalar)?;
        scalar
            .and_then(|text| text.parse().ok())
            .map(Self)
            .ok_or_else(|| D::Error::custom("invalid code, expected a number"))
    }
}

/// Any scalar as text; none for `null`, lists and objects.
struct Scalar;

impl<'de> Visitor<'de> for Scalar {
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
