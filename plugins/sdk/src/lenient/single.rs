//! A field that counts only if it is not repeated.

use serde::{Deserialize, Deserializer};

use super::{FieldSlot, LenientText, Part};
use crate::json::DecodeError;

/// A field that counts only if it is not repeated, such as the data of an envelope or the price of an
/// offer. In a [`lenient_struct!`](crate::lenient_struct) a repeated field of this type has no value,
/// whatever its values are: which one counts must not depend on their order.
///
/// It is decoded directly, which is as fast as for `T`. An [`Essential`](super::Essential) field is
/// decoded twice, but may be repeated with the same value, and leaves its object readable if it cannot be
/// decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Single<T> {
    /// The field is missing or `null`.
    #[default]
    Missing,
    Value(T),
    Repeated,
}

impl<T> Single<T> {
    /// Returns the value. `name` is the field's name, for the error.
    ///
    /// # Errors
    /// Fails if the field is missing or repeated.
    pub fn required(self, name: &str) -> Result<T, DecodeError> {
        self.optional(name)?
            .ok_or_else(|| DecodeError::missing(format!("the response has no {name}")))
    }

    /// Returns the value, or `None` if the field is missing. `name` is the field's name, for the error.
    ///
    /// # Errors
    /// Fails if the field is repeated.
    pub fn optional(self, name: &str) -> Result<Option<T>, DecodeError> {
        match self {
            Self::Missing => Ok(None),
            Self::Value(value) => Ok(Some(value)),
            Self::Repeated => {
                let text = format!("the response has several values of {name}");
                Err(DecodeError::new(text))
            }
        }
    }

    /// Returns the value, or `None` if the field is missing or repeated.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Repeated => None,
        }
    }

    /// Borrows the value.
    pub const fn as_ref(&self) -> Single<&T> {
        match self {
            Self::Missing => Single::Missing,
            Self::Value(value) => Single::Value(value),
            Self::Repeated => Single::Repeated,
        }
    }
}

impl Single<LenientText<'_>> {
    /// Returns the text, or `None` if there is none or it is repeated.
    pub fn as_deref(&self) -> Option<&str> {
        self.as_ref().value()?.as_deref()
    }

    /// Returns the text, or an empty text if there is none or it is repeated.
    pub fn as_str(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }
}

impl<T> Single<Part<T>> {
    /// Returns the part. A repeated part is unreadable.
    pub fn into_part(self) -> Part<T> {
        match self {
            Self::Missing => Part::Missing,
            Self::Value(part) => part,
            Self::Repeated => Part::Unreadable(DecodeError::new("it has several values")),
        }
    }

    /// Returns the part if it is there, readable and not repeated.
    pub fn as_decoded(&self) -> Option<&T> {
        self.as_ref().value()?.as_decoded()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Single<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::Value)
    }
}

/// This method takes precedence over that of [`SetField`](super::SetField), because it is inherent.
impl<T> FieldSlot<'_, Single<T>> {
    /// Sets a field, which has no value if it was set before.
    pub fn set(self, value: Single<T>) {
        *self.0 = match self.0 {
            Single::Missing => value,
            Single::Value(_) | Single::Repeated => Single::Repeated,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::lenient_struct;

    lenient_struct! {
        #[derive(Debug)]
        struct Page<T> {
            data: Single<T> = "data" | "items",
            note: String,
        }
    }

    #[test]
    fn field_has_value_only_if_it_is_not_repeated() {
        for (document, value) in [
            (r#"{"data": 1}"#, Single::Value(1)),
            (
                r#"{"data": null, "data": 1, "items": null}"#,
                Single::Value(1),
            ),
            ("{}", Single::Missing),
            (r#"{"data": null}"#, Single::Missing),
            (r#"{"data": 1, "data": 2}"#, Single::Repeated),
            (r#"{"data": 1, "items": 1}"#, Single::Repeated),
            (r#"{"data": 1, "data": 2, "data": 3}"#, Single::Repeated),
        ] {
            let page: Page<u8> = json::decode(document.as_bytes()).unwrap();
            assert_eq!(page.data, value, "{document}");
            assert_eq!(
                page.data.optional("data").is_err(),
                value == Single::Repeated
            );
            let is_value = value.value().is_some();
            assert_eq!(page.data.as_ref().required("data").is_ok(), is_value);
        }
        let page: Page<u8> = json::decode(br#"{"note": "a", "note": "b"}"#).unwrap();
        assert_eq!(page.note, "b");
        let error = page.data.required("data").unwrap_err();
        assert!(error.is_missing(), "{error}");
        assert!(json::decode::<Page<u8>>(br#"{"data": "x"}"#).is_err());
    }
}
