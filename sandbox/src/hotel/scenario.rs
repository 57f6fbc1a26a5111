//! What a hotel id makes happen.

use std::time::Duration;

use crate::money::percent;

/// The longest that an answer is held back on request.
const DELAY_MAX_MS: u64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// All succeeds, and single rooms can be cancelled.
    Separable,
    /// All succeeds.
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
    /// Milliseconds.
    Slow(u64),
}

impl Scenario {
    /// Nothing for an id that is no hotel's.
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

    /// How long every answer about the hotel takes.
    pub(super) fn delay(self) -> Duration {
        match self {
            Self::Slow(delay_ms) => Duration::from_millis(delay_ms),
            _ => Duration::ZERO,
        }
    }

    /// The price of a night once it is asked for again.
    pub(super) fn nightly_rate_at_prebook(self, night: i64) -> i64 {
        match self {
            Self::PriceUp => percent(night, 110),
            Self::PriceDown => percent(night, 90),
            _ => night,
        }
    }

    /// How long its rates and prebooks can be used.
    pub(super) fn offer_ttl_ms(self) -> i64 {
        match self {
            Self::ExpiresSoon => 3 * crate::clock::SECOND_MS,
            _ => 30 * crate::clock::MINUTE_MS,
        }
    }
}
