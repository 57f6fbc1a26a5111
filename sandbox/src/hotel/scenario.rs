//! Scenarios, selected by the hotel id.

use std::time::Duration;

use serde::{Deserialize, de::IntoDeserializer, de::value};

use crate::money::percent;

/// Maximum delay of a response.
const DELAY_MAX_MS: u64 = 60_000;

/// A scenario, which is written as the id of its hotel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Scenario {
    /// All calls succeed, and single rooms can be cancelled.
    #[serde(rename = "OK")]
    Separable,
    /// All calls succeed.
    #[serde(rename = "TRAP", alias = "SPIN", alias = "HOARD", alias = "FLOOD")]
    Normal,
    #[serde(rename = "MANY")]
    Rich,
    NoOffers,
    PriceUp,
    PriceDown,
    SoldOut,
    ExpiresSoon,
    BookRefused,
    BookPending,
    BookPendingRefused,
    #[serde(rename = "BOOK_LOST_ANSWER")]
    BookLostResponse,
    BookLostRequest,
    #[serde(rename = "BOOK_GARBAGE")]
    BookMalformedResponse,
    #[serde(rename = "BOOK_500")]
    BookFails,
    BookNeverKnown,
    CancelRefused,
    /// The hotel adds remarks after the booking. It cannot be cancelled.
    RemarksLater,
    CancelPending,
    #[serde(rename = "CANCEL_LOST_ANSWER")]
    CancelLostResponse,
    QuotePreview,
    QuoteUnreadable,
    QuoteFails,
    Restricted,
    CalendarLimited,
    #[serde(rename = "CONTENT_DOWN")]
    ContentUnavailable,
    /// Every response takes this many milliseconds: `SLOW_2000`.
    #[serde(skip)]
    Slow(u64),
}

impl Scenario {
    /// Returns the scenario of a hotel id, or `None` if there is no such hotel.
    pub(super) fn of(hotel_id: &str) -> Option<Self> {
        if let Some(delay_ms) = hotel_id.strip_prefix("SLOW_") {
            let delay_ms: u64 = delay_ms.parse().ok()?;
            return Some(Self::Slow(delay_ms.min(DELAY_MAX_MS)));
        }
        let id: value::StrDeserializer<'_, value::Error> = hotel_id.into_deserializer();
        Self::deserialize(id).ok()
    }

    /// Returns the delay of every response about the hotel.
    pub(super) fn delay(self) -> Duration {
        match self {
            Self::Slow(delay_ms) => Duration::from_millis(delay_ms),
            _ => Duration::ZERO,
        }
    }

    /// Returns the price of a night at prebook.
    pub(super) fn nightly_rate_at_prebook(self, night: i64) -> i64 {
        match self {
            Self::PriceUp => percent(night, 110),
            Self::PriceDown => percent(night, 90),
            _ => night,
        }
    }

    /// Returns how long the hotel's rates and prebooks are valid.
    pub(super) fn offer_ttl_ms(self) -> i64 {
        match self {
            Self::ExpiresSoon => 3 * crate::clock::SECOND_MS,
            _ => 30 * crate::clock::MINUTE_MS,
        }
    }
}
