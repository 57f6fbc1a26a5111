//! Scenarios, selected by the hotel id.

use std::time::Duration;

use crate::money::percent;

/// Maximum delay of a response.
const DELAY_MAX_MS: u64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// All calls succeed, and single rooms can be cancelled.
    Separable,
    /// All calls succeed.
    Normal,
    Rich,
    NoOffers,
    PriceUp,
    PriceDown,
    SoldOut,
    ExpiresSoon,
    BookRefused,
    BookPending,
    BookPendingRefused,
    BookLostResponse,
    BookLostRequest,
    BookMalformedResponse,
    BookFails,
    BookNeverKnown,
    CancelRefused,
    CancelPending,
    CancelLostResponse,
    QuotePreview,
    QuoteUnreadable,
    QuoteFails,
    Restricted,
    CalendarLimited,
    ContentUnavailable,
    /// Every response takes this many milliseconds.
    Slow(u64),
}

impl Scenario {
    /// Returns the scenario of a hotel id, or `None` if there is no such hotel.
    pub(super) fn of(hotel_id: &str) -> Option<Self> {
        Some(match hotel_id {
            "OK" => Self::Separable,
            "TRAP" | "SPIN" | "HOARD" | "FLOOD" => Self::Normal,
            "MANY" => Self::Rich,
            "NO_OFFERS" => Self::NoOffers,
            "PRICE_UP" => Self::PriceUp,
            "PRICE_DOWN" => Self::PriceDown,
            "SOLD_OUT" => Self::SoldOut,
            "EXPIRES_SOON" => Self::ExpiresSoon,
            "BOOK_REFUSED" => Self::BookRefused,
            "BOOK_PENDING" => Self::BookPending,
            "BOOK_PENDING_REFUSED" => Self::BookPendingRefused,
            "BOOK_LOST_ANSWER" => Self::BookLostResponse,
            "BOOK_LOST_REQUEST" => Self::BookLostRequest,
            "BOOK_GARBAGE" => Self::BookMalformedResponse,
            "BOOK_500" => Self::BookFails,
            "BOOK_NEVER_KNOWN" => Self::BookNeverKnown,
            "CANCEL_REFUSED" => Self::CancelRefused,
            "CANCEL_PENDING" => Self::CancelPending,
            "CANCEL_LOST_ANSWER" => Self::CancelLostResponse,
            "QUOTE_PREVIEW" => Self::QuotePreview,
            "QUOTE_UNREADABLE" => Self::QuoteUnreadable,
            "QUOTE_FAILS" => Self::QuoteFails,
            "RESTRICTED" => Self::Restricted,
            "CALENDAR_LIMITED" => Self::CalendarLimited,
            "CONTENT_DOWN" => Self::ContentUnavailable,
            slow => {
                let delay_ms: u64 = slow.strip_prefix("SLOW_")?.parse().ok()?;
                Self::Slow(delay_ms.min(DELAY_MAX_MS))
            }
        })
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
