//! Duffel's JSON, as it comes: only the fields that are used. What they mean is
//! `map`'s business.
//!
//! Duffel leaves fields out, sends `null` for them, and in recorded answers even
//! repeats keys of one object. So every object is read by [`record!`]: a field is
//! its type's default until the document gives it a value, `null` is no value,
//! the last of several counts, and unknown fields are skipped unread.

pub(crate) mod cancellation;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod reference;
pub(crate) mod request;
pub(crate) mod service;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
pub(crate) use stopover_sdk::loose::Amount;

/// Declares objects with the fields that are read of them, in the way that the
/// module tells. `= "name" | "older_name"` stands behind a field whose keys are
/// not its own name.
macro_rules! record {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$generic:ident>)? {
            $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $($key:literal)|+)?,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name $(<$generic>)? {
            $($(#[$field_doc])* pub(crate) $field: $type,)+
        }

        impl<'de $(, $generic: serde::Deserialize<'de> + Default)?> serde::de::Visitor<'de>
            for $crate::wire::Fields<$name $(<$generic>)?>
        {
            type Value = $name $(<$generic>)?;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut entries: A,
            ) -> Result<Self::Value, A::Error> {
                let mut read = Self::Value::default();
                while let Some($crate::wire::Key(key)) = entries.next_key()? {
                    $(if record!(@is key $field $($($key)+)?) {
                        if let Some(value) = entries.next_value()? {
                            read.$field = value;
                        }
                        continue;
                    })+
                    entries.next_value::<serde::de::IgnoredAny>()?;
                }
                Ok(read)
            }
        }

        impl<'de $(, $generic: serde::Deserialize<'de> + Default)?> serde::Deserialize<'de>
            for $name $(<$generic>)?
        {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::wire::Fields::<Self>(std::marker::PhantomData))
            }
        }
    )+};
    (@is $read:ident $field:ident) => { $read == stringify!($field) };
    (@is $read:ident $field:ident $($key:literal)+) => { $($read == $key)||+ };
}
pub(crate) use record;

/// Reads the fields of a [`record!`].
pub(crate) struct Fields<T>(pub(crate) PhantomData<T>);

/// The key of an entry, borrowed where the document allows it.
pub(crate) struct Key<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The code of an error: text, and in one case the number 400.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code(pub(crate) String);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Code;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("text or a number")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Code, E> {
                Ok(Code(text.to_owned()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Code, E> {
                Ok(Code(number.to_string()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

record! {
    /// What stands around every answer.
    Envelope<T> {
        data: Option<T>,
        meta: Meta,
    }

    /// What stands around every answer that is none.
    Failure {
        meta: Meta,
        errors: Vec<WireError>,
    }

    Meta {
        /// Where the next page begins; none on the last.
        after: Option<String>,
        request_id: Option<String>,
    }

    /// `message` may quote the request and `source` is sometimes text: neither is read.
    WireError {
        code: Code,
        category: String = "type",
        title: String,
    }
}

#[cfg(test)]
mod tests {
    use stopover_sdk::json;

    use super::*;

    record! {
        Bag { kind: String = "type" | "bag_type", weight: Option<f64>, tags: Vec<String>, }
    }

    #[test]
    fn fields_may_be_missing_null_repeated_renamed_and_unknown() {
        let cases = [
            ("{}", ("", None, 0)),
            (
                r#"{"type": null, "weight": null, "tags": null}"#,
                ("", None, 0),
            ),
            (r#"{"type": "a", "type": "b"}"#, ("b", None, 0)),
            (r#"{"type": "a", "bag_type": null}"#, ("a", None, 0)),
            (
                r#"{"bag_\u0074ype": "a", "x": {"y": [1]}, "tags": ["t"]}"#,
                ("a", None, 1),
            ),
            (r#"{"weight": 23}"#, ("", Some(23.0), 0)),
        ];
        for (document, expected) in cases {
            let bag: Bag = json::read(document.as_bytes()).unwrap();
            assert_eq!(
                (bag.kind.as_str(), bag.weight, bag.tags.len()),
                expected,
                "{document}"
            );
        }
        assert!(json::read::<Bag>(b"[]").is_err());
    }

    #[test]
    fn a_code_may_be_a_number_and_an_amount_anything() {
        let error: WireError = json::read(br#"{"code": 400, "source": "BA"}"#).unwrap();
        assert_eq!(error.code.0, "400");
        for (written, expected) in [
            ("\"20.0\"", Some("20.0")),
            ("5", Some("5")),
            ("\"\"", None),
            ("{}", None),
        ] {
            let amount: Amount = json::read(written.as_bytes()).unwrap();
            assert_eq!(
                amount.0,
                expected.map(|text| text.parse().unwrap()),
                "{written}"
            );
        }
    }
}
