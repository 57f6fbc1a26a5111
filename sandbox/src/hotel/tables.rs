//! Records and indexes of Lodge.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    hotel::{quote::Quote, scenario::Scenario},
    ledger::Cancellation,
};

/// Records and indexes of Lodge.
#[derive(Default)]
pub(crate) struct HotelTables {
    pub(super) prebooks: HashMap<String, Prebook>,
    pub(super) bookings: HashMap<String, Booking>,
    /// Booking ids by account and client reference.
    pub(super) by_client_ref: HashMap<(String, String), String>,
}

/// A rate that was prebooked at the price of that time.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Prebook {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) quote: Quote,
    pub(super) expires_at: i64,
    /// Id of the booking that was made of it.
    pub(super) booking: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum BookingState {
    Pending,
    Confirmed,
    PartCancelled,
    Cancelling,
    Cancelled,
    Rejected,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Booking {
    pub(super) id: String,
    pub(super) account: String,
    pub(super) client_ref: String,
    pub(super) quote: Quote,
    pub(super) state: BookingState,
    /// Whether each room is cancelled.
    pub(super) released: Vec<bool>,
    pub(super) cancellation: Option<Cancellation>,
    /// Client reference of a cancellation that is not decided yet.
    pub(super) cancelling: Option<String>,
    pub(super) booked_at: i64,
    /// Time at which the pending decision is made.
    pub(super) due: Option<i64>,
}

impl Booking {
    pub(super) fn scenario(&self) -> Scenario {
        Scenario::of(&self.quote.hotel).unwrap_or(Scenario::Normal)
    }
}
