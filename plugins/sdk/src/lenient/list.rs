//! A list of which unreadable items are left out.
//!
//! A document is decoded directly first, which is as fast as for `Vec`. Only if that fails, it is
//! decoded again item by item: each item of each [`LenientList`] and each [`Part`](super::Part) is taken
//! as raw JSON and decoded alone. The work is therefore linear in the size of the document, even if every item is unreadable.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::json::DecodeError;

/// Maximum number of different errors of a list's items. All further items share another one, so that
/// a long list of unreadable items does not fill the memory with texts.
const ERRORS_MAX: usize = 16;

/// A list whose unreadable items are left out, so that one odd value costs one item and not the
/// whole response. Like [`OneOrMany`](super::OneOrMany) it may also be sent as its only item, as
/// `null` or as `""`. An item that is `null` is left out too.
///
/// A list inside an item is lenient only if it is a `LenientList` as well; otherwise its unreadable
/// items make the outer item unreadable. A list needs `serde_json`'s own deserializer, so it works
/// neither in flattened nor in untagged types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LenientList<T> {
    items: Vec<T>,
    unreadable: Vec<UnreadableItem>,
}

/// An item that was left out of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableItem {
    /// Zero-based position in the list as it was sent.
    pub index: usize,
    /// Why the item cannot be decoded.
    pub error: DecodeError,
}

impl<T> LenientList<T> {
    /// Returns the items that were left out.
    pub fn unreadable(&self) -> &[UnreadableItem] {
        &self.unreadable
    }

    /// Returns the items that were decoded.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// Returns the items that were decoded, each with its zero-based position in the list as it was
    /// sent.
    pub fn into_indexed(self) -> impl Iterator<Item = (usize, T)> {
        let mut left_out = self
            .unreadable
            .into_iter()
            .map(|item| item.index)
            .peekable();
        let mut next = 0;
        self.items.into_iter().map(move |item| {
            while left_out.next_if_eq(&next).is_some() {
                next += 1;
            }
            let index = next;
            next += 1;
            (index, item)
        })
    }

    /// Adds the item at this position, or leaves it out.
    fn push(
        &mut self,
        index: usize,
        item: Result<Option<T>, serde_json::Error>,
        errors: &mut ItemErrors,
    ) {
        let error = match item {
            Ok(Some(item)) => return self.items.push(item),
            Ok(None) => DecodeError::missing("it is null"),
            // The item is JSON, so that this is a value that no type can hold.
            Err(error) if error.is_syntax() => DecodeError::new("a value is not allowed"),
            Err(error) => DecodeError::from_json(&error),
        };
        let error = errors.shared(error);
        self.unreadable.push(UnreadableItem { index, error });
    }
}

/// The different errors of a list's items.
#[derive(Default)]
struct ItemErrors(Vec<DecodeError>);

impl ItemErrors {
    /// Returns an equal error whose text is shared, or the error of all further items.
    fn shared(&mut self, error: DecodeError) -> DecodeError {
        if let Some(known) = self.0.iter().find(|known| **known == error) {
            return known.clone();
        }
        match self.0.len() {
            0..ERRORS_MAX => self.0.push(error.clone()),
            ERRORS_MAX => self.0.push(DecodeError::new("it cannot be decoded")),
            _ => {}
        }
        self.0.last().cloned().unwrap_or(error)
    }
}

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

impl<T> From<Vec<T>> for LenientList<T> {
    fn from(items: Vec<T>) -> Self {
        Self {
            items,
            unreadable: Vec::new(),
        }
    }
}

impl<T> Deref for LenientList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for LenientList<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

thread_local! {
    static IS_ITEM_BY_ITEM: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode` so that every [`LenientList`] in it is decoded item by item.
pub(crate) fn item_by_item<R>(decode: impl FnOnce() -> R) -> R {
    let was_set = IS_ITEM_BY_ITEM.replace(true);
    let decoded = decode();
    IS_ITEM_BY_ITEM.set(was_set);
    decoded
}

/// Returns whether a document is decoded again because its direct decoding failed.
pub(crate) fn is_item_by_item() -> bool {
    IS_ITEM_BY_ITEM.get()
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if is_item_by_item() {
            decode_items(<&'de RawValue>::deserialize(deserializer)?)
        } else {
            deserializer.deserialize_any(ListVisitor(PhantomData))
        }
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = LenientList<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = LenientList::default();
        let mut errors = ItemErrors::default();
        for index in 0.. {
            let Some(item) = items.next_element::<Option<T>>()? else {
                break;
            };
            list.push(index, Ok(item), &mut errors);
        }
        Ok(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, item: A) -> Result<Self::Value, A::Error> {
        let item = T::deserialize(MapAccessDeserializer::new(item))?;
        Ok(vec![item].into())
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(LenientList::default())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() {
            self.visit_unit()
        } else {
            Err(E::invalid_type(Unexpected::Other("text"), &self))
        }
    }
}

/// Decodes each item of a list alone. A value that is neither a list nor an item is an error, as it
/// is when a list is decoded directly.
fn decode_items<'de, T: Deserialize<'de>, E: Error>(
    value: &'de RawValue,
) -> Result<LenientList<T>, E> {
    let items: Vec<&'de RawValue> = match value.get().as_bytes().first() {
        Some(b'[') => serde_json::from_str(value.get()).map_err(E::custom)?,
        Some(b'{') => vec![value],
        _ if matches!(value.get(), "null" | "\"\"") => Vec::new(),
        _ => {
            let expected = ListVisitor::<T>(PhantomData);
            return Err(E::invalid_type(Unexpected::Other("value"), &expected));
        }
    };
    let mut list = LenientList::default();
    let mut errors = ItemErrors::default();
    for (index, item) in items.into_iter().enumerate() {
        list.push(index, serde_json::from_str(item.get()), &mut errors);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::lenient::LenientNumber;
    use crate::lenient_struct;

    lenient_struct! {
        #[derive(Debug)]
        struct Hotel {
            name: String,
            rates: LenientList<Rate>,
        }

        #[derive(Debug, PartialEq)]
        struct Rate {
            id: String,
            score: LenientNumber,
            taxes: LenientList<u32>,
        }
    }

    fn ids(document: &str) -> (Vec<(usize, String)>, Vec<usize>) {
        let hotel: Hotel = json::decode(document.as_bytes()).unwrap();
        assert_eq!(hotel.name, "H", "{document}");
        let left_out = hotel.rates.unreadable().iter().map(|item| item.index);
        let left_out = left_out.collect();
        let rates = hotel.rates.into_indexed();
        (
            rates.map(|(index, rate)| (index, rate.id)).collect(),
            left_out,
        )
    }

    #[test]
    fn unreadable_items_are_left_out_and_others_keep_their_positions() {
        let at = |index: usize, id: &str| (index, id.to_owned());
        for (rates, items, left_out) in [
            (
                r#"[{"id": "a"}, {"id": "b"}]"#,
                vec![at(0, "a"), at(1, "b")],
                vec![],
            ),
            (
                r#"[{"id": 5}, {"id": "b"}, 7, null]"#,
                vec![at(1, "b")],
                vec![0, 2, 3],
            ),
            (r#"[null, {"id": "b"}]"#, vec![at(1, "b")], vec![0]),
            (
                r#"[{"id": "a"}, "x", [], {"id": "b"}]"#,
                vec![at(0, "a"), at(3, "b")],
                vec![1, 2],
            ),
            // Each of these items is JSON, and no value of its kind can hold it.
            (
                r#"[{"id": "a"}, {"id": "b", "taxes": 1e999}]"#,
                vec![at(0, "a")],
                vec![1],
            ),
            (
                r#"[{"id": "a"}, {"id": "b", "score": 1e999}]"#,
                vec![at(0, "a"), at(1, "b")],
                vec![],
            ),
            (
                r#"[{"id": "\ud800"}, {"id": "b"}]"#,
                vec![at(1, "b")],
                vec![0],
            ),
            (r#"{"id": "a"}"#, vec![at(0, "a")], vec![]),
            (r#"{"id": []}"#, vec![], vec![0]),
            ("null", vec![], vec![]),
            (r#""""#, vec![], vec![]),
            ("[]", vec![], vec![]),
        ] {
            let document = format!(r#"{{"rates": {rates}, "name": "H"}}"#);
            assert_eq!(ids(&document), (items, left_out), "{rates}");
        }
    }

    #[test]
    fn unreadable_item_of_inner_list_costs_only_that_item() {
        let document = br#"{"name": "H", "rates": [{"id": "a", "taxes": [1, "x", 3]}, {"id": 1}]}"#;
        let hotel: Hotel = json::decode(document).unwrap();
        let [rate] = &*hotel.rates else {
            panic!("{hotel:?}")
        };
        assert_eq!(*rate.taxes, [1, 3]);
        let error = DecodeError::new("expected u32 at line 1 column 3");
        assert_eq!(
            rate.taxes.unreadable(),
            [UnreadableItem { index: 1, error }]
        );
    }

    #[test]
    fn texts_of_unreadable_items_are_few() {
        let items: Vec<String> = (0..9_000).map(|at| "x".repeat(at % 90)).collect();
        let document = json::encode(&items).unwrap();
        let list: LenientList<u8> = json::decode(&document).unwrap();
        let mut errors: Vec<&DecodeError> = Vec::new();
        for item in list.unreadable() {
            if !errors.contains(&&item.error) {
                errors.push(&item.error);
            }
        }
        assert_eq!(list.unreadable().len(), items.len());
        assert_eq!(errors.len(), ERRORS_MAX + 1);
    }

    #[test]
    fn value_that_is_no_list_and_document_that_is_not_json_are_errors() {
        for document in [
            r#"{"rates": 7}"#,
            r#"{"rates": "x"}"#,
            r#"{"rates": true}"#,
            r#"{"rates": [{"id": 5}, {"id": "b""#,
            r#"{"rates": [{"id": 5}, {"id" "b"}]}"#,
            r#"{"name": 5, "rates": []}"#,
        ] {
            let decoded = json::decode::<Hotel>(document.as_bytes());
            assert!(decoded.is_err(), "{document}");
        }
    }
}
