//! Scenarios, selected by the route.

use crate::flight::trip::Leg;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    Normal,
    /// A connecting trip that arrives on the next day and that the airline changes after booking.
    AirlineChange,
    ManyFares,
    NoFares,
    PriceUp,
    SoldOut,
    ExpiresSoon,
    BookRefused,
    BookPending,
    BookPendingRefused,
    BookLostResponse,
    BookNeverKnown,
    NoBags,
    BagsRefused,
    BagsLostResponse,
    CancelRefused,
    CancelPending,
    NoQuote,
    DocumentsRequired,
}

impl Scenario {
    /// Returns the scenario of the first leg that has one.
    pub(super) fn of(legs: &[Leg]) -> Self {
        (legs.iter())
            .find_map(|leg| Self::of_route(&leg.from, &leg.to))
            .unwrap_or(Self::Normal)
    }

    pub(super) fn of_route(from: &str, to: &str) -> Option<Self> {
        Some(match (from, to) {
            ("LHR", "DXB") => Self::AirlineChange,
            ("LHR", "SYD") => Self::ManyFares,
            ("PVD", "RAI") => Self::NoFares,
            ("JFK", "EWR") => Self::PriceUp,
            ("LGW", "LHR") => Self::SoldOut,
            ("STN", "LTN") => Self::ExpiresSoon,
            ("LHR", "LGW") => Self::BookRefused,
            ("LHR", "STN") => Self::BookPending,
            ("LHR", "LTN") => Self::BookPendingRefused,
            ("STN", "LHR") => Self::BookLostResponse,
            ("LTN", "STN") => Self::BookNeverKnown,
            ("BTS", "ABV") => Self::NoBags,
            ("BTS", "MRU") => Self::BagsRefused,
            ("BTS", "LHR") => Self::BagsLostResponse,
            ("DXB", "AMS") => Self::CancelRefused,
            ("AMS", "DXB") => Self::CancelPending,
            ("AMS", "LHR") => Self::NoQuote,
            ("LHR", "ORD") => Self::DocumentsRequired,
            ("LHR", "JFK") => Self::Normal,
            _ => return None,
        })
    }
}
