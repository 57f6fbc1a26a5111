//! Duffel's responses, with only the fields that are used. `map` defines their meaning.
//!
//! Duffel omits fields and sends `null` for them; recorded responses even repeat keys within an
//! object. Therefore every object is a [`lenient_struct!`]. Where an object has an older and a current
//! name of a field, each name is a field of its own, and a method returns the value by
//! [`first_filled`].

pub(crate) mod cancellation;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod reference;
pub(crate) mod service;

use std::ops::Deref;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use stopover_sdk::json::{self, DecodeError};
use stopover_sdk::lenient::{Essential, LenientText, NonEmptyText, Single};
pub(crate) use stopover_sdk::lenient::{LenientAmount, Part};
use stopover_sdk::lenient_struct;

/// A text that is only for display, or compared with a known one. A number is its digits; anything
/// else that is not a text counts as missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OptionalText(Option<String>);

impl OptionalText {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the text, or an empty text if there is none.
    pub(crate) fn as_str(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }

    /// Returns a copy of the text, which is never empty.
    pub(crate) fn to_option(&self) -> Option<String> {
        self.0.clone()
    }

    /// Returns the text, which is never empty.
    pub(crate) fn into_option(self) -> Option<String> {
        self.0
    }
}

impl From<&str> for OptionalText {
    fn from(text: &str) -> Self {
        Self(json::non_empty(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for OptionalText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = LenientText::deserialize(deserializer)?;
        Ok(Self(text.to_owned()))
    }
}

/// A value that is its default if it cannot be decoded. Unlike the lenient types it also accepts what
/// a parser cannot represent, such as half of a surrogate pair or a number out of range. It costs more
/// than they do: use it for the values of single objects, such as an order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct OrDefault<T>(pub(crate) T);

impl<T> Deref for OrDefault<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for OrDefault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = Part::<T>::deserialize(deserializer)?;
        Ok(Self(part.decoded().unwrap_or_default()))
    }
}

/// Returns a part, or `None` if it is missing.
///
/// # Errors
/// The part is there and cannot be decoded.
pub(crate) fn readable<T>(part: Part<T>) -> Result<Option<T>, DecodeError> {
    match part {
        Part::Missing => Ok(None),
        Part::Decoded(part) => Ok(Some(part)),
        Part::Unreadable(error) => Err(error),
    }
}

/// Returns the value under a field's current name, or the one under its older name if the current one
/// is missing or empty. The order of the two in the object does not matter.
pub(crate) fn first_filled<'a>(current: &'a str, older: &'a str) -> &'a str {
    if current.is_empty() { older } else { current }
}

/// The place in a list at which a page ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// This was the last page.
    End,
    /// The next page begins after this cursor.
    Next(String),
    /// Duffel's data does not tell whether there is another page.
    Unreadable,
}

lenient_struct! {
    /// The envelope of a successful response.
    pub(crate) struct Envelope<T> {
        pub(crate) data: Single<T>,
        pub(crate) meta: Essential<PageMeta>,
        /// Errors, which contradict a success status.
        pub(crate) errors: Single<Part<Vec<IgnoredAny>>>,
    }

    /// The envelope of an error response.
    pub(crate) struct Failure {
        pub(crate) meta: Part<FailureMeta>,
        pub(crate) errors: Single<Vec<WireError>>,
        /// Data, which contradict an error status.
        pub(crate) data: Option<IgnoredAny>,
    }

    #[derive(PartialEq)]
    pub(crate) struct PageMeta {
        /// Cursor of the next page; missing or empty on the last page.
        pub(crate) after: Essential<String>,
    }

    pub(crate) struct FailureMeta {
        pub(crate) request_id: OptionalText,
    }

    /// An error. Its `message` may quote the request, and its `source` is a string in some
    /// responses; neither is read.
    pub(crate) struct WireError {
        /// The code: a text, except for one code that is the number 400.
        pub(crate) code: Essential<NonEmptyText>,
        pub(crate) category: Essential<NonEmptyText> = "type",
        pub(crate) title: OptionalText,
    }
}

impl<T> Envelope<T> {
    pub(crate) fn has_errors(&self) -> bool {
        match &self.errors {
            Single::Missing | Single::Value(Part::Missing) => false,
            Single::Value(Part::Decoded(errors)) => !errors.is_empty(),
            Single::Value(Part::Unreadable(_)) | Single::Repeated => true,
        }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        let meta = self.meta.optional("meta");
        let after =
            meta.and_then(|meta| meta.map_or(Ok(None), |meta| meta.after.optional("after")));
        match after {
            Ok(None) => Cursor::End,
            Ok(Some(after)) => Cursor::Next(after.clone()),
            Err(_) => Cursor::Unreadable,
        }
    }
}

impl WireError {
    /// Returns the code, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn code(&self) -> &str {
        self.code.value().map_or("", NonEmptyText::as_str)
    }

    /// Returns the category, which is empty if it is missing, unreadable or ambiguous.
    pub(crate) fn category(&self) -> &str {
        self.category.value().map_or("", NonEmptyText::as_str)
    }
}
