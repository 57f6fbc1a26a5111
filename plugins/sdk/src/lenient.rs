//! Types for the JSON of suppliers that deviate from their own documentation. They accept lists
//! that are sent as their only item, references that are sent as numbers, and fields that are
//! `null`, `""`, missing or repeated. Each type has one value for "none", which represents all of
//! these.
//!
//! [`lenient_struct!`](crate::lenient_struct) defines structures of such fields.

mod essential;
mod list;
mod part;
mod single;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::money::{self, Decimal};

pub use essential::{Essential, NonEmptyText};
#[doc(hidden)]
pub use essential::{FieldSlot, SetField};
pub(crate) use list::item_by_item;
pub use list::{LenientList, UnreadableItem};
pub use part::Part;
pub use single::Single;

/// A list, which may also be sent as its only item, as `null` or as `""`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

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
                let mut decoded = Vec::new();
                while let Some(item) = items.next_element()? {
                    decoded.push(item);
                }
                Ok(decoded)
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
                    Err(E::invalid_type(Unexpected::Other("text"), &self))
                }
            }
        }
        deserializer
            .deserialize_any(OneOrManyVisitor(PhantomData))
            .map(Self)
    }
}

/// A text, reference or code, which may be sent as a number. It is trimmed, and borrowed from the
/// document if possible. `None` for `null`, `""`, lists and objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LenientText<'a>(pub Option<Cow<'a, str>>);

impl LenientText<'_> {
    /// Returns the text, or `None` if there is none.
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the text, or an empty text if there is none.
    pub fn as_str(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }

    /// Returns the text as an owned value.
    pub fn to_owned(&self) -> Option<String> {
        self.as_deref().map(str::to_owned)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer).map(Self)
    }
}

/// A text exactly as it was sent, borrowed from the document if possible. Unlike a [`LenientText`] it is
/// not trimmed, and every other value is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExactText<'a>(pub Cow<'a, str>);

impl ExactText<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ExactText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_str(TextVisitor("a string"))
            .map(Self)
    }
}

/// Decodes any scalar as text. A value that no type can hold, such as half of a surrogate pair, is
/// `None`. It makes a direct decoding fail, so that this costs nothing for other documents.
fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    if !list::is_item_by_item() {
        return deserializer.deserialize_any(ScalarVisitor);
    }
    let value = <&'de RawValue>::deserialize(deserializer)?.get();
    let mut deserializer = serde_json::Deserializer::from_str(value);
    let scalar = deserializer.deserialize_any(ScalarVisitor);
    Ok(scalar.unwrap_or_default())
}

/// A number for display, such as a rating, a coordinate or minutes. `None` for `null`, `""` and
/// anything else that is not a finite number. Never used for money.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LenientNumber(pub Option<f64>);

impl<'de> Deserialize<'de> for LenientNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = scalar(deserializer)?;
        let number = scalar.and_then(|text| text.parse().ok());
        Ok(Self(number.filter(|number: &f64| number.is_finite())))
    }
}

/// A count. `None` for anything that is not a whole number of at least 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LenientCount(pub Option<u32>);

impl<'de> Deserialize<'de> for LenientCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = scalar(deserializer)?;
        Ok(Self(scalar.and_then(|text| text.parse().ok())))
    }
}

/// A boolean, sent as `true`, `1`, `"true"` or their opposites. `None` for everything else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LenientFlag(pub Option<bool>);

impl LenientFlag {
    /// Returns whether the value is true.
    pub fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

impl<'de> Deserialize<'de> for LenientFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scalar = scalar(deserializer)?;
        Ok(Self(match scalar.as_deref() {
            Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            _ => None,
        }))
    }
}

/// An amount in major units. `None` for anything that is not a decimal number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LenientAmount(pub Option<Decimal>);

impl<'de> Deserialize<'de> for LenientAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        money::lenient(deserializer).map(Self)
    }
}

/// Visits any scalar as text. Returns `None` for `null`, `""`, lists and objects.
struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a boolean, text or null")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(if value { "true" } else { "false" })))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(value.to_string())))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(value.to_string())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(value.to_string())))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        let trimmed = value.trim();
        Ok((!trimmed.is_empty()).then_some(Cow::Borrowed(trimmed)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        let trimmed = value.trim();
        Ok((!trimmed.is_empty()).then(|| Cow::Owned(trimmed.to_owned())))
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

/// The name of a field in the document.
#[doc(hidden)]
pub struct FieldName<'a>(Cow<'a, str>);

impl FieldName<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FieldName<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_str(TextVisitor("the name of a field"))
            .map(Self)
    }
}

/// Visits a text and borrows it if possible. It contains what is expected, for error messages.
struct TextVisitor(&'static str);

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Defines structures that are decoded from objects. A field is found by its own name, or by the
/// listed names if there are any. A missing field gets its default, and `null` leaves it unchanged.
/// A repeated field gets its last value, except an [`Essential`] or a [`Single`] one, and unknown
/// fields are skipped. `null` or `""` instead of the object gives the default; use `Option` to
/// distinguish them.
///
/// ```
/// stopover_sdk::lenient_struct! {
///     /// A flight.
///     #[derive(Debug)]
///     pub struct Flight<'a> {
///         pub number: stopover_sdk::lenient::LenientText<'a> = "flightNumber" | "number",
///         pub stops: Vec<String>,
///     }
/// }
/// ```
#[macro_export]
macro_rules! lenient_struct {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? $(<$of:ident>)? {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty $(= $($key:literal)|+)?,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Default)]
        $vis struct $name $(<$life>)? $(<$of>)? {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        impl<'de $(: $life, $life)? $(, $of: ::serde::Deserialize<'de> + Default)?>
            ::serde::Deserialize<'de> for $name $(<$life>)? $(<$of>)?
        {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                struct FieldsVisitor<R>(::core::marker::PhantomData<R>);
                impl<'de $(: $life, $life)? $(, $of: ::serde::Deserialize<'de> + Default)?>
                    ::serde::de::Visitor<'de> for FieldsVisitor<$name $(<$life>)? $(<$of>)?>
                {
                    type Value = $name $(<$life>)? $(<$of>)?;

                    fn expecting(
                        &self,
                        formatter: &mut ::core::fmt::Formatter<'_>,
                    ) -> ::core::fmt::Result {
                        formatter.write_str("an object")
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(
                        self,
                        mut fields: A,
                    ) -> ::core::result::Result<Self::Value, A::Error> {
                        use $crate::lenient::SetField as _;

                        let mut decoded = Self::Value::default();
                        while let Some(name) = fields.next_key::<$crate::lenient::FieldName<'de>>()? {
                            let name = name.as_str();
                            $(if $crate::lenient_struct!(@is_field name $field $($($key)+)?) {
                                if let Some(value) = fields.next_value()? {
                                    $crate::lenient::FieldSlot(&mut decoded.$field).set(value);
                                }
                                continue;
                            })*
                            fields.next_value::<::serde::de::IgnoredAny>()?;
                        }
                        Ok(decoded)
                    }

                    fn visit_unit<E: ::serde::de::Error>(
                        self,
                    ) -> ::core::result::Result<Self::Value, E> {
                        Ok(Self::Value::default())
                    }

                    fn visit_str<E: ::serde::de::Error>(
                        self,
                        text: &str,
                    ) -> ::core::result::Result<Self::Value, E> {
                        if text.is_empty() {
                            self.visit_unit()
                        } else {
                            let found = ::serde::de::Unexpected::Other("text");
                            Err(E::invalid_type(found, &self))
                        }
                    }
                }
                deserializer.deserialize_any(FieldsVisitor(::core::marker::PhantomData))
            }
        }
    )*};
    (@is_field $name:ident $field:ident) => { $name == stringify!($field) };
    (@is_field $name:ident $field:ident $($key:literal)+) => { $($name == $key)||+ };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    lenient_struct! {
        #[derive(Debug, PartialEq)]
        struct Trip<'a> {
            id: LenientText<'a> = "tripId",
            legs: OneOrMany<Leg> = "legs",
            total: LenientAmount = "total",
            best: Option<Leg> = "best",
        }

        #[derive(Debug, PartialEq)]
        struct Leg {
            stops: LenientCount,
            direct: LenientFlag,
            score: LenientNumber,
        }

        #[derive(Debug)]
        struct Bag {
            kind: String = "type" | "bag_type",
            tags: Vec<String>,
        }

        #[derive(Debug)]
        struct Page<T> {
            data: Option<T>,
        }
    }

    fn leg(stops: u32) -> Leg {
        Leg {
            stops: LenientCount(Some(stops)),
            ..Leg::default()
        }
    }

    #[test]
    fn missing_null_and_empty_values_are_none() {
        for document in [
            "{}",
            "null",
            "\"\"",
            r#"{"tripId": "", "legs": "", "total": "", "best": null}"#,
            r#"{"tripId": {}, "legs": null, "total": [1], "more": {"a": [1]}}"#,
        ] {
            let trip: Trip<'_> = json::decode(document.as_bytes()).unwrap();
            assert_eq!(trip, Trip::default(), "{document}");
        }
    }

    #[test]
    fn alternative_forms_decode_to_the_same_value() {
        let document = br#"{"tripId": 12, "legs": {"stops": "2"}, "total": "1.50", "best": ""}"#;
        let trip: Trip<'_> = json::decode(document).unwrap();
        assert_eq!(trip.id.as_deref(), Some("12"));
        assert_eq!(trip.legs.0, [leg(2)]);
        assert_eq!(trip.total.0.unwrap().to_minor("EUR"), Ok(150));
        assert_eq!(trip.best, Some(Leg::default()));
    }

    #[test]
    fn repeated_field_has_its_last_value() {
        let document = br#"{"tripId": "a", "legs": [{"stops": 1, "stops": 3}], "tripId": "b"}"#;
        let trip: Trip<'_> = json::decode(document).unwrap();
        assert_eq!((trip.id.as_str(), trip.legs.0), ("b", vec![leg(3)]));
    }

    #[test]
    fn any_listed_name_is_accepted_and_null_is_ignored() {
        for (document, kind, tags) in [
            (r#"{"type": "a", "bag_type": null}"#, "a", 0),
            (r#"{"type": "a", "type": null, "tags": null}"#, "a", 0),
            (r#"{"bag_\u0074ype": "a", "tags": ["t"]}"#, "a", 1),
            (r#"{"kind": "a", "x": {"y": [1]}}"#, "", 0),
            (r#"{" type": "b", "type": "a"}"#, "a", 0),
        ] {
            let bag: Bag = json::decode(document.as_bytes()).unwrap();
            assert_eq!(
                (bag.kind.as_str(), bag.tags.len()),
                (kind, tags),
                "{document}"
            );
        }
        let page: Page<Bag> = json::decode(br#"{"data": {"type": "a"}}"#).unwrap();
        assert_eq!(page.data.unwrap().kind, "a");
        let page: Page<Bag> = json::decode(br#"{"data": null}"#).unwrap();
        assert!(page.data.is_none());
    }

    #[test]
    fn text_is_borrowed_unless_escaped() {
        let document = br#"{"tripId": " plain "}"#;
        let trip: Trip<'_> = json::decode(document).unwrap();
        assert!(matches!(trip.id.0, Some(Cow::Borrowed("plain"))));
        let trip: Trip<'_> = json::decode(br#"{"trip\u0049d": "\u0061"}"#).unwrap();
        assert!(matches!(trip.id.0, Some(Cow::Owned(text)) if text == "a"));
    }

    #[test]
    fn numbers_and_flags_are_decoded_from_all_forms() {
        let flags: OneOrMany<LenientFlag> =
            json::decode(br#"[true, 0, "1", "false", "", 2, null]"#).unwrap();
        let flags: Vec<Option<bool>> = flags.0.iter().map(|flag| flag.0).collect();
        let expected = [Some(true), Some(false), Some(true), Some(false)];
        assert_eq!(flags[..4], expected);
        assert_eq!(flags[4..], [None; 3]);
        let counts: OneOrMany<LenientCount> = json::decode(br#"[2, "3", -1, 1.5, null]"#).unwrap();
        let counts: Vec<Option<u32>> = counts.0.iter().map(|count| count.0).collect();
        assert_eq!(counts, [Some(2), Some(3), None, None, None]);
        let numbers: OneOrMany<LenientNumber> =
            json::decode(br#"[1.5, "-2", "NaN", {}, "x"]"#).unwrap();
        let numbers: Vec<Option<f64>> = numbers.0.iter().map(|number| number.0).collect();
        assert_eq!(numbers, [Some(1.5), Some(-2.0), None, None, None]);
    }

    #[test]
    fn value_that_no_type_can_hold_costs_only_its_field() {
        let odd = r#"{"legs": [{"stops": 2}], "tripId": "\ud800", "total": 1e999}"#;
        let trip: Trip<'_> = json::decode(odd.as_bytes()).unwrap();
        assert_eq!((trip.id.as_str(), trip.legs.0), ("", vec![leg(2)]));
        let flags: OneOrMany<LenientFlag> = json::decode(br#"[1e999, true]"#).unwrap();
        assert_eq!(flags.0, [LenientFlag(None), LenientFlag(Some(true))]);
    }

    #[test]
    fn other_types_are_errors() {
        for document in [
            "{\"a\tb\": 1}",
            r#"{"\ud800": 1}"#,
            r#""text""#,
            "[1]",
            "7",
            r#"{"legs": 5}"#,
            r#"{"legs": "x"}"#,
        ] {
            assert!(
                json::decode::<Trip<'_>>(document.as_bytes()).is_err(),
                "{document}"
            );
        }
    }
}
