//! Records and indexes of the flight suppliers.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    flight::{fare::FareSelection, scenario::Scenario},
    ledger::Cancellation,
};

/// Records and indexes of the flight suppliers.
#[derive(Default)]
pub(crate) struct FlightTables {
    pub(super) prebooks: HashMap<String, Prebook>,
    pub(super) orders: HashMap<String, Order>,
    /// Order ids by account and client reference.
    pub(super) by_client_ref: HashMap<(String, String), String>,
    /// Id of the last order of each offer.
    pub(super) by_offer: HashMap<String, String>,
    /// Prebook ids by the token of their checkout.
    pub(super) by_checkout_token: HashMap<String, String>,
}

/// A fare that was bound for the supplier that collects the payment itself.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Prebook {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) offer: String,
    pub(super) choice: FareSelection,
    pub(super) total: i64,
    pub(super) expires_at: i64,
    pub(super) token: String,
    pub(super) paid: bool,
    /// Whether the airline refused the booking. The payment was then returned.
    pub(super) refused: bool,
    pub(super) order: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OrderState {
    Pending,
    Ticketed,
    Failed,
    Cancelling,
    Cancelled,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) client_ref: String,
    /// Id of the offer from which the order was made.
    pub(super) offer: String,
    pub(super) choice: FareSelection,
    pub(super) state: OrderState,
    /// Total in minor units without bags.
    pub(super) fare_total: i64,
    pub(super) bags: Vec<Bag>,
    pub(super) locator: Option<String>,
    pub(super) cancellation: Option<Cancellation>,
    /// Client reference of a cancellation that is not decided yet.
    pub(super) cancelling: Option<String>,
    pub(super) created_at: i64,
    pub(super) ticketed_at: Option<i64>,
    /// Time at which the pending decision is made.
    pub(super) due: Option<i64>,
}

impl Order {
    pub(super) fn scenario(&self) -> Scenario {
        self.choice.scenario()
    }

    /// Returns the order unless the response about its booking is lost.
    pub(super) fn unless_lost(self) -> Option<Self> {
        let lost = [Scenario::BookLostResponse, Scenario::BookNeverKnown];
        (!lost.contains(&self.scenario())).then_some(self)
    }

    pub(super) fn is_readable(&self) -> bool {
        self.scenario() != Scenario::BookNeverKnown
    }

    pub(super) fn bags_total(&self) -> i64 {
        (self.bags.iter())
            .map(|bag| bag.price * i64::from(bag.quantity))
            .sum()
    }

    pub(super) fn total(&self) -> i64 {
        self.fare_total + self.bags_total()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bag {
    pub(super) id: String,
    pub(super) client_ref: String,
    /// Position of the passenger in the order's request.
    pub(super) traveller: usize,
    pub(super) quantity: u8,
    /// Price of each piece in minor units.
    pub(super) price: i64,
}
