//! The words of hotel offers and bookings: stay, room, policy, guest.

use crate::money::{Currency, Money};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A point on the map, degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// −90 to 90.
    pub latitude: f64,
    /// −180 to 180.
    pub longitude: f64,
}

/// Who sleeps in a room.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Occupancy {
    /// At least one.
    pub adults: u8,
    /// Ages in years, 0 to 17.
    pub children: Vec<u8>,
}

/// When, who, from where and in what currency.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stay {
    /// First night.
    pub check_in: Date,
    /// Morning of departure.
    pub check_out: Date,
    /// One a room, in the caller's order.
    pub occupancies: Vec<Occupancy>,
    /// ISO 3166-1 alpha-2.
    pub guest_nationality: String,
    /// ISO 3166-1 alpha-2.
    pub guest_residence: Option<String>,
    /// What prices are asked in.
    pub currency: Currency,
}

/// What a room's price includes to eat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    /// Nothing.
    RoomOnly,
    /// Breakfast.
    BedAndBreakfast,
    /// Breakfast and one meal.
    HalfBoard,
    /// All meals.
    FullBoard,
    /// Meals and drinks.
    AllInclusive,
    /// Something else; the name says what.
    Other,
}

/// What cancelling costs from an instant on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Penalty {
    /// From here on.
    pub from: Timestamp,
    /// In total, not on top of earlier ones.
    pub amount: Money,
}

/// A rule that can forbid cancelling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// [`Restriction::NO_CANCELLATION`], or the supplier's own.
    pub code: String,
    /// For people.
    pub description: String,
    /// None: from ever.
    pub active_from: Option<Timestamp>,
    /// None: for ever.
    pub active_until: Option<Timestamp>,
}

impl Restriction {
    /// The code of a restriction that forbids cancelling while it is active.
    pub const NO_CANCELLATION: &'static str = "NO_CANCELLATION";

    /// Whether it holds at an instant.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.active_from.is_none_or(|from| from <= now)
            && self.active_until.is_none_or(|until| now < until)
    }
}

/// What cancelling costs, over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancellationPolicy {
    /// Whether there is any time at which it is free.
    pub refundable: bool,
    /// The last instant of free cancellation.
    pub free_until: Option<Timestamp>,
    /// In ascending order of `from`.
    pub penalties: Vec<Penalty>,
    /// What may forbid it altogether.
    pub restrictions: Vec<Restriction>,
}

impl CancellationPolicy {
    /// What cancelling costs at an instant, at most `total`: the penalty with
    /// the latest start already passed; without one everything when not refundable.
    #[must_use]
    pub fn fee_at(&self, now: Timestamp, total: Money) -> Money {
        let started = self
            .penalties
            .iter()
            .filter(|p| p.from <= now)
            .max_by_key(|p| p.from);
        match started {
            Some(penalty) => penalty.amount.at_most(total),
            None if self.refundable => Money::zero(total.currency),
            None => total,
        }
    }

    /// Whether a restriction forbids cancelling at an instant.
    #[must_use]
    pub fn forbids_cancellation(&self, now: Timestamp) -> bool {
        self.restrictions
            .iter()
            .any(|r| r.code == Restriction::NO_CANCELLATION && r.is_active(now))
    }
}

/// A price reduction, already in the total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// Display text.
    pub name: String,
    /// More of it.
    pub description: Option<String>,
    /// What it takes off.
    pub amount: Option<Money>,
    /// Zero-based rooms that it applies to.
    pub room_positions: Vec<u8>,
}

/// A loyalty programme's part in an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loyalty {
    /// Its name.
    pub program: String,
    /// All but the last four characters masked.
    pub membership_number: Option<String>,
    /// What the stay would earn.
    pub points_estimate: Option<u32>,
}

/// One room of an offer; its position is its place in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomRate {
    /// Display text.
    pub name: String,
    /// What is included to eat.
    pub board: Board,
    /// Display text of the board.
    pub board_name: String,
    /// Share of the offer's total.
    pub total: Money,
    /// Paid at the hotel, on top.
    pub due_at_property: Option<Money>,
    /// Of this room.
    pub policy: CancellationPolicy,
}

/// The hotel as it stands on an offer or a booking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotelSummary {
    /// The supplier's id.
    pub supplier_hotel_id: String,
    /// Display name.
    pub name: String,
    /// One line.
    pub address: String,
    /// Where it is.
    pub location: Option<Location>,
    /// IANA name.
    pub time_zone: Option<String>,
}

/// Adult or child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuestType {
    /// 18 or older.
    Adult,
    /// 0 to 17.
    Child,
}

/// A guest, as the caller named them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Adult or child.
    pub guest_type: GuestType,
    /// The room's contact; one adult a room.
    pub is_lead: bool,
    /// Of a child, years.
    pub age: Option<u8>,
}

/// Whom to write to about a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Address.
    pub email: String,
    /// E.164.
    pub phone: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn euros(minor: i64) -> Money {
        Money::new(minor, Currency::parse("EUR").unwrap())
    }

    fn policy(refundable: bool, penalties: &[(i64, i64)]) -> CancellationPolicy {
        let penalties = penalties.iter().map(|&(from, minor)| Penalty {
            from: Timestamp(from),
            amount: euros(minor),
        });
        CancellationPolicy {
            refundable,
            free_until: None,
            penalties: penalties.collect(),
            restrictions: Vec::new(),
        }
    }

    #[test]
    fn the_fee_is_the_latest_penalty_already_passed() {
        let steps = policy(true, &[(100, 50), (200, 500)]);
        for (now, fee) in [
            (0, 0),
            (99, 0),
            (100, 50),
            (199, 50),
            (200, 500),
            (10_000, 500),
        ] {
            assert_eq!(
                steps.fee_at(Timestamp(now), euros(400)),
                euros(fee.min(400)),
                "at {now}"
            );
        }
    }

    #[test]
    fn without_penalties_a_refundable_booking_is_free_and_another_costs_all() {
        assert_eq!(policy(true, &[]).fee_at(Timestamp(0), euros(400)), euros(0));
        assert_eq!(
            policy(false, &[]).fee_at(Timestamp(0), euros(400)),
            euros(400)
        );
    }

    #[test]
    fn a_restriction_forbids_only_while_it_is_active() {
        let mut restricted = policy(true, &[]);
        restricted.restrictions.push(Restriction {
            code: Restriction::NO_CANCELLATION.to_owned(),
            description: String::new(),
            active_from: Some(Timestamp(100)),
            active_until: Some(Timestamp(200)),
        });
        for (now, forbidden) in [(99, false), (100, true), (199, true), (200, false)] {
            assert_eq!(
                restricted.forbids_cancellation(Timestamp(now)),
                forbidden,
                "at {now}"
            );
        }
    }
}
