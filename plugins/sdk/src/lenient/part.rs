//! A part of an object without which the rest is usable.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::list::is_item_by_item;
use crate::json::{self, DecodeError};

/// A part of an object without which the rest is usable. A part that cannot be decoded does not make
/// the object unreadable: the document is then decoded again, with each part taken as raw JSON first. A
/// part needs `serde_json`'s own deserializer, so it works neither in flattened nor in untagged types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Part<T> {
    /// The part is missing or `null`.
    #[default]
    Missing,
    Decoded(T),
    Unreadable(DecodeError),
}

impl<T> Part<T> {
    /// Returns the part if it is there and readable.
    pub fn decoded(self) -> Option<T> {
        match self {
            Self::Decoded(part) => Some(part),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }

    /// Returns the part, or `None` if it is missing.
    ///
    /// # Errors
    /// The part is there and cannot be decoded.
    pub fn into_readable(self) -> Result<Option<T>, DecodeError> {
        match self {
            Self::Missing => Ok(None),
            Self::Decoded(part) => Ok(Some(part)),
            Self::Unreadable(error) => Err(error),
        }
    }

    /// Returns what the part states: `None` if it is missing or has no content, and the default value
    /// if it is unreadable, because something is there.
    pub fn statement(&self) -> Option<T>
    where
        T: Clone + Default + PartialEq,
    {
        match self {
            Self::Missing => None,
            Self::Decoded(part) => Some(part.clone()).filter(|part| *part != T::default()),
            Self::Unreadable(_) => Some(T::default()),
        }
    }

    /// Returns the part if it is there and readable.
    pub const fn as_decoded(&self) -> Option<&T> {
        match self {
            Self::Decoded(part) => Some(part),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !is_item_by_item() {
            let part = Option::<T>::deserialize(deserializer)?;
            return Ok(part.map_or(Self::Missing, Self::Decoded));
        }
        let part = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(match json::decode::<Option<T>>(part.as_bytes()) {
            Ok(None) => Self::Missing,
            Ok(Some(part)) => Self::Decoded(part),
            Err(error) => Self::Unreadable(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lenient_struct;

    lenient_struct! {
        #[derive(Debug)]
        struct Booking {
            id: String,
            nights: Part<u8>,
        }
    }

    #[test]
    fn unreadable_part_leaves_the_object_readable() {
        for (nights, decoded, is_unreadable) in [
            ("3", Some(3), false),
            ("null", None, false),
            (r#""three""#, None, true),
            (r#"{"count": 3}"#, None, true),
        ] {
            let document = format!(r#"{{"nights": {nights}, "id": "B1"}}"#);
            let booking: Booking = json::decode(document.as_bytes()).unwrap();
            assert_eq!(booking.id, "B1");
            let unreadable = matches!(booking.nights, Part::Unreadable(_));
            assert_eq!(unreadable, is_unreadable, "{nights}");
            assert_eq!(booking.nights.decoded(), decoded, "{nights}");
        }
    }

    #[test]
    fn part_states_something_unless_it_is_missing_or_empty() {
        for (part, statement) in [
            (Part::Missing, None),
            (Part::Decoded(0), None),
            (Part::Decoded(3), Some(3)),
            (Part::Unreadable(DecodeError::new("unreadable")), Some(0)),
        ] {
            assert_eq!(part.statement(), statement, "{part:?}");
        }
    }
}
