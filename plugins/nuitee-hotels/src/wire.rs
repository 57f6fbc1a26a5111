//! Nuitee's responses, with only the fields that are used, in every form that Nuitee's
//! documents show. `map` defines their meaning.

pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod content;
pub(crate) mod place;
pub(crate) mod rate;
pub(crate) mod weather;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use stopover_sdk::lenient::{LenientCount, LenientText};
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

/// Text, which may also be sent as a list of texts or as `null`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "TextForm")]
pub(crate) struct LenientTextList(pub(crate) Vec<String>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "invalid type, expected text or a list of texts")]
enum TextForm {
    Text(String),
    List(Vec<Option<String>>),
    Null(()),
}

impl From<TextForm> for LenientTextList {
    fn from(form: TextForm) -> Self {
        Self(match form {
            TextForm::Text(text) => vec![text],
            TextForm::List(texts) => texts.into_iter().flatten().collect(),
            TextForm::Null(()) => Vec::new(),
        })
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
    usize::try_from(number.0?).ok()?.checked_sub(1)
}

/// The code of an error, which may be sent as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = LenientText::deserialize(deserializer)?.as_str().parse();
        code.map(Self)
            .map_err(|_| D::Error::custom("invalid code, expected a number"))
    }
}
