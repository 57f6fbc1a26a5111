//! What a caller searches for: legs and passengers.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::money::Currency;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Leg {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) date: Date,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PassengerType {
    Adult,
    Child,
    Infant,
}

impl PassengerType {
    /// Returns the percentage of an adult's price.
    pub(super) fn share(self) -> i64 {
        match self {
            Self::Adult => 100,
            Self::Child => 75,
            Self::Infant => 10,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Trip {
    pub(super) legs: Vec<Leg>,
    pub(super) passengers: Vec<PassengerType>,
    pub(super) currency: Currency,
}

impl Trip {
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=6).contains(&self.legs.len()) {
            return Err("1 to 6 legs are possible".to_owned());
        }
        if !(1..=9).contains(&self.passengers.len()) {
            return Err("1 to 9 travellers are possible".to_owned());
        }
        if !self.passengers.contains(&PassengerType::Adult) {
            return Err("one adult has to travel".to_owned());
        }
        Ok(())
    }
}
