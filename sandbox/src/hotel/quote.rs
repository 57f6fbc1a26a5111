//! A stay at the price of a night, its total and the fee of its cancellation.

use jiff::{
    ToSpan,
    civil::{Date, Time},
};
use serde::{Deserialize, Serialize};

use crate::{
    clock::{local_to_ms, zone},
    hotel::catalog,
    money::Currency,
};

/// Free cancellation ends this many days before the day of arrival, at check-in time.
const FREE_UNTIL_DAYS: i64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BoardPlan {
    #[serde(rename = "RO")]
    RoomOnly,
    #[serde(rename = "BB")]
    Breakfast,
}

impl BoardPlan {
    pub(super) const ALL: [Self; 2] = [Self::RoomOnly, Self::Breakfast];

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::RoomOnly => "Room only",
            Self::Breakfast => "Bed and breakfast",
        }
    }
}

/// The guests of one room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Occupancy {
    pub(super) adults: u8,
    #[serde(default)]
    pub(super) child_ages: Vec<u8>,
}

/// Dates, rooms and currency of a stay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stay {
    pub(super) arrive: Date,
    pub(super) depart: Date,
    pub(super) parties: Vec<Occupancy>,
    pub(super) currency: Currency,
}

impl Stay {
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=60).contains(&self.nights()) {
            return Err("depart must be 1 to 60 nights after arrive".to_owned());
        }
        if !(1..=9).contains(&self.parties.len()) {
            return Err("rooms must be 1 to 9".to_owned());
        }
        for party in &self.parties {
            if !(1..=8).contains(&party.adults) || party.child_ages.iter().any(|age| *age > 17) {
                return Err("a room takes 1 to 8 adults, and children up to 17".to_owned());
            }
        }
        Ok(())
    }

    pub(super) fn nights(&self) -> i64 {
        i64::from((self.depart - self.arrive).get_days())
    }

    pub(super) fn rooms(&self) -> i64 {
        i64::try_from(self.parties.len()).unwrap_or(i64::MAX)
    }
}

/// A stay under one plan at the price of a certain time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Quote {
    pub(super) hotel: String,
    pub(super) plan: BoardPlan,
    pub(super) stay: Stay,
    /// Price of a room and night in minor units.
    pub(super) night: i64,
    pub(super) quoted_at: i64,
}

/// A cancellation fee and the time from which it applies.
pub(super) struct Charge {
    pub(super) from: i64,
    pub(super) amount: i64,
}

impl Quote {
    pub(super) fn room_total(&self) -> i64 {
        self.night * self.stay.nights()
    }

    pub(super) fn total(&self) -> i64 {
        self.room_total() * self.stay.rooms()
    }

    /// Returns the time at which free cancellation ends, or `None` if there is no free
    /// cancellation.
    pub(super) fn free_until(&self) -> Option<i64> {
        if self.plan == BoardPlan::RoomOnly {
            return None;
        }
        let last_day = self.stay.arrive.checked_sub(FREE_UNTIL_DAYS.days()).ok()?;
        let local = last_day.to_datetime(Time::constant(14, 0, 0, 0));
        let free_until = local_to_ms(local, &zone(catalog::ZONE));
        (free_until > self.quoted_at).then_some(free_until)
    }

    /// Returns the fee of cancelling a part worth `amount` and the time from which it applies.
    pub(super) fn charge(&self, amount: i64) -> Charge {
        Charge {
            from: self.free_until().unwrap_or(self.quoted_at),
            amount,
        }
    }

    /// Returns the fee of cancelling a part worth `amount` at `now`.
    pub(super) fn fee(&self, amount: i64, now: i64) -> i64 {
        let charge = self.charge(amount);
        if now >= charge.from { charge.amount } else { 0 }
    }
}
