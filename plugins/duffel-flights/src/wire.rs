//! Duffel's JSON, as it comes: only the fields that are used. What they mean is
//! `map`'s business.
//!
//! Duffel leaves fields out, sends `null` for them, and in recorded answers even
//! repeats keys of one object. So every object is a [`record!`].

pub(crate) mod cancellation;
pub(crate) mod event;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod order;
pub(crate) mod reference;
pub(crate) mod request;
pub(crate) mod service;

use serde::{Deserialize, Deserializer};
pub(crate) use stopover_sdk::loose::Amount;
use stopover_sdk::loose::Text;
use stopover_sdk::record;

/// The code of an error: text, and in one case the number 400.
#[derive(Debug, Clone, Default)]
pub(crate) struct Code(pub(crate) String);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Ok(Self(text.to_owned().unwrap_or_default()))
    }
}

record! {
    /// What stands around every answer.
    #[derive(Debug)]
    pub(crate) struct Envelope<T> {
        pub(crate) data: Option<T>,
        pub(crate) meta: Meta,
    }

    /// What stands around every answer that is none.
    #[derive(Debug)]
    pub(crate) struct Failure {
        pub(crate) meta: Meta,
        pub(crate) errors: Vec<WireError>,
    }

    #[derive(Debug)]
    pub(crate) struct Meta {
        /// Where the next page begins; none on the last.
        pub(crate) after: Option<String>,
        pub(crate) request_id: Option<String>,
    }

    /// `message` may quote the request and `source` is sometimes text: neither is read.
    #[derive(Debug)]
    pub(crate) struct WireError {
        pub(crate) code: Code,
        pub(crate) category: String = "type",
        pub(crate) title: String,
    }
}
