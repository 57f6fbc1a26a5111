//! Brands of fares and their terms.

use crate::money::{Currency, PER_MAJOR};

/// Fee of refunding a flexible ticket.
const REFUND_FEE: i64 = 50 * PER_MAJOR;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brand {
    Basic,
    Flex,
    Business,
}

impl Brand {
    pub(super) fn name(self) -> &'static str {
        self.terms().0
    }

    /// Returns the price of an adult for one leg.
    pub(super) fn price(self) -> i64 {
        self.terms().1 * PER_MAJOR
    }

    pub(super) fn checked_bags(self) -> u8 {
        self.terms().2
    }

    pub(super) fn carry_on_bags(self) -> u8 {
        self.terms().3
    }

    /// Returns the name, the price in major units, and the numbers of checked and carry-on bags.
    fn terms(self) -> (&'static str, i64, u8, u8) {
        match self {
            Self::Basic => ("Economy Basic", 320, 0, 1),
            Self::Flex => ("Economy Flex", 420, 1, 1),
            Self::Business => ("Business", 1_480, 2, 2),
        }
    }

    /// Returns the fee of a refund, or `None` if the brand is not refundable.
    pub(super) fn refund_fee(self, currency: Currency) -> Option<i64> {
        match self {
            Self::Basic => None,
            Self::Flex => Some(currency.minor(REFUND_FEE)),
            Self::Business => Some(0),
        }
    }

    /// Returns the fee of a change, or `None` if the brand cannot be changed.
    pub(super) fn change_fee(self) -> Option<i64> {
        (self != Self::Basic).then_some(0)
    }
}
