//! Duffel's responses, with only the fields that are used. `map` defines their meaning.
//!
//! Duffel omits fields and sends `null` for them; recorded responses even repeat keys within an
//! object. Therefore every object is a [`lenient_struct!`].

pub(crate) mod cancellation;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod reference;
pub(crate) mod service;

use serde::{Deserialize, Deserializer};
pub(crate) use stopover_sdk::lenient::LenientAmount;
use stopover_sdk::lenient::LenientText;
use stopover_sdk::lenient_struct;

/// The code of an error. It is a string, except for one code that is the number 400.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code(pub(crate) String);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = LenientText::deserialize(deserializer)?;
        Ok(Self(text.to_owned().unwrap_or_default()))
    }
}

lenient_struct! {
    /// The envelope of a successful response.
    pub(crate) struct Envelope<T> {
        pub(crate) data: Option<T>,
        pub(crate) meta: Meta,
    }

    /// The envelope of an error response.
    pub(crate) struct Failure {
        pub(crate) meta: Meta,
        pub(crate) errors: Vec<WireError>,
    }

    pub(crate) struct Meta {
        /// Cursor of the next page; `None` on the last page.
        pub(crate) after: Option<String>,
        pub(crate) request_id: Option<String>,
    }

    /// An error. Its `message` may quote the request, and its `source` is a string in some
    /// responses; neither is read.
    pub(crate) struct WireError {
        pub(crate) code: Code,
        pub(crate) category: String = "type",
        pub(crate) title: String,
    }
}
