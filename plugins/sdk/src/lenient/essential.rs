//! A field that decides what an object means.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Part;
use crate::json::{self, DecodeError};

/// A field that decides what an object means, such as its id, its status or an amount. Its value is
/// accessible only as a result, so that a change whose response lacks it has an unknown outcome.
///
/// `null` and `""` count as missing. In a [`lenient_struct!`](crate::lenient_struct) a field that is
/// repeated with another value has no value: which one counts must not depend on their order. The field
/// needs `serde_json`'s own deserializer, so it works neither in flattened nor in untagged types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Essential<T>(State<T>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum State<T> {
    Missing,
    Value(T),
    Unreadable(DecodeError),
    Ambiguous,
}

impl<T> Essential<T> {
    /// Returns the value. `name` is the field's name, for the error.
    ///
    /// # Errors
    /// Fails if the value is missing, unreadable or ambiguous.
    pub fn required(&self, name: &str) -> Result<&T, DecodeError> {
        self.optional(name)?
            .ok_or_else(|| DecodeError::missing(format!("the response has no {name}")))
    }

    /// Returns the value, or `None` if it is missing. `name` is the field's name, for the error.
    ///
    /// # Errors
    /// Fails if the value is unreadable or ambiguous.
    pub fn optional(&self, name: &str) -> Result<Option<&T>, DecodeError> {
        match &self.0 {
            State::Missing => Ok(None),
            State::Value(value) => Ok(Some(value)),
            State::Unreadable(error) => Err(DecodeError::new(format!("{name}: {error}"))),
            State::Ambiguous => {
                let text = format!("the response has several values of {name}");
                Err(DecodeError::new(text))
            }
        }
    }

    /// Returns the value, or `None` if it is missing, unreadable or ambiguous.
    pub const fn value(&self) -> Option<&T> {
        match &self.0 {
            State::Value(value) => Some(value),
            State::Missing | State::Unreadable(_) | State::Ambiguous => None,
        }
    }
}

impl<T: Clone> Essential<T> {
    /// Returns the value as a part. An ambiguous value is unreadable.
    pub fn to_part(&self) -> Part<T> {
        match &self.0 {
            State::Missing => Part::Missing,
            State::Value(value) => Part::Decoded(value.clone()),
            State::Unreadable(error) => Part::Unreadable(error.clone()),
            State::Ambiguous => Part::Unreadable(DecodeError::new("it has several values")),
        }
    }
}

impl<T> Default for Essential<T> {
    fn default() -> Self {
        Self(State::Missing)
    }
}

impl<T> From<T> for Essential<T> {
    fn from(value: T) -> Self {
        Self(State::Value(value))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Essential<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(Self(match value {
            "null" | "\"\"" => State::Missing,
            value => json::decode(value.as_bytes()).map_or_else(State::Unreadable, State::Value),
        }))
    }
}

/// The place of a field in a structure that is being decoded.
#[doc(hidden)]
pub struct FieldSlot<'a, T>(pub &'a mut T);

/// Sets a field. A repeated field gets its last value.
#[doc(hidden)]
pub trait SetField {
    type Value;

    fn set(self, value: Self::Value);
}

impl<T> SetField for FieldSlot<'_, T> {
    type Value = T;

    fn set(self, value: T) {
        *self.0 = value;
    }
}

/// This method takes precedence over that of [`SetField`], because it is inherent.
impl<T: PartialEq> FieldSlot<'_, Essential<T>> {
    /// Sets a field. Different values are ambiguous, and a missing one changes nothing.
    pub fn set(self, value: Essential<T>) {
        let field = &mut self.0.0;
        match value.0 {
            State::Missing => {}
            value if *field == State::Missing => *field = value,
            value if *field == value => {}
            _ => *field = State::Ambiguous,
        }
    }
}

/// A text that is not empty, or a whole number as its digits. It is trimmed. U+FFFD stands for bytes that
/// are not UTF-8, so a text that contains it is not the supplier's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonEmptyText(String);

impl NonEmptyText {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for NonEmptyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "invalid type, expected text or a whole number")]
        enum Form {
            Text(String),
            Number(i64),
            LargeNumber(u64),
        }
        let text = match Form::deserialize(deserializer)? {
            Form::Text(text) => text.trim().to_owned(),
            Form::Number(number) => number.to_string(),
            Form::LargeNumber(number) => number.to_string(),
        };
        if text.is_empty() {
            return Err(D::Error::custom(
                "invalid value, expected a text that is not empty",
            ));
        }
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(D::Error::custom("invalid value, expected UTF-8"));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lenient_struct;

    lenient_struct! {
        #[derive(Debug)]
        struct Booking {
            id: Essential<NonEmptyText> = "bookingId" | "id",
            rooms: Essential<u8>,
            note: String,
        }
    }

    #[test]
    fn value_counts_only_if_it_is_unambiguous() {
        let ambiguous = "the response has several values of id";
        let unreadable = "id: the response does not have the expected form: \
                          expected text or a whole number";
        let blank = "id: the response does not have the expected form: \
                     expected a text that is not empty";
        for (document, expected) in [
            (r#"{"id": " B1 "}"#, Ok(Some("B1"))),
            (r#"{"id": 17}"#, Ok(Some("17"))),
            (
                r#"{"id": 18446744073709551615}"#,
                Ok(Some("18446744073709551615")),
            ),
            (r#"{"id": "B1", "id": "B1"}"#, Ok(Some("B1"))),
            (
                r#"{"id": "B1", "id": null, "bookingId": ""}"#,
                Ok(Some("B1")),
            ),
            (r#"{"id": "", "bookingId": "B1"}"#, Ok(Some("B1"))),
            ("{}", Ok(None)),
            (r#"{"id": null}"#, Ok(None)),
            (r#"{"id": ""}"#, Ok(None)),
            (r#"{"id": "B1", "id": "B2"}"#, Err(ambiguous)),
            (r#"{"id": "B2", "bookingId": "B1"}"#, Err(ambiguous)),
            (r#"{"id": "B1", "id": "B2", "id": "B1"}"#, Err(ambiguous)),
            (r#"{"id": true, "id": "B1"}"#, Err(ambiguous)),
            (r#"{"id": true}"#, Err(unreadable)),
            (r#"{"id": [1]}"#, Err(unreadable)),
            (r#"{"id": 1e999}"#, Err("id: ")),
            (r#"{"id": " "}"#, Err(blank)),
            ("{\"id\": \"B\u{fffd}\"}", Err("id: ")),
        ] {
            let booking: Booking = json::decode(document.as_bytes()).unwrap();
            let text = |id: &NonEmptyText| id.as_str().to_owned();
            let optional = booking.id.optional("id");
            let required = booking.id.required("id");
            let has_value = matches!(expected, Ok(Some(_)));
            assert_eq!(booking.id.value().is_some(), has_value, "{document}");
            let part = booking.id.to_part();
            assert_eq!(part.as_decoded().is_some(), has_value, "{document}");
            assert_eq!(matches!(part, Part::Unreadable(_)), expected.is_err());
            match expected {
                Ok(expected) => {
                    let expected = expected.map(str::to_owned);
                    assert_eq!(optional.unwrap().map(text), expected, "{document}");
                    assert_eq!(required.is_ok(), expected.is_some(), "{document}");
                }
                Err(expected) => {
                    let error = optional.unwrap_err();
                    assert!(
                        error.to_string().starts_with(expected),
                        "{document}: {error}"
                    );
                    assert_eq!(required.unwrap_err(), error, "{document}");
                }
            }
        }
    }

    #[test]
    fn unreadable_essential_field_leaves_the_others_readable() {
        let document = br#"{"id": {}, "rooms": 300, "note": "a", "note": "b"}"#;
        let booking: Booking = json::decode(document).unwrap();
        assert_eq!(booking.note, "b");
        assert!(booking.id.required("id").is_err());
        assert!(booking.rooms.required("rooms").is_err());
        assert!(!booking.rooms.optional("rooms").unwrap_err().is_missing());
        let booking: Booking = json::decode(br#"{"rooms": null}"#).unwrap();
        assert!(booking.rooms.required("rooms").unwrap_err().is_missing());
    }
}
