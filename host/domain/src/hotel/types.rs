//! Common types of hotel offers and bookings: stay, room, policy, guest.

use crate::money::{Currency, Money};
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};

/// A point on the map, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Latitude, −90 to 90.
    pub latitude: f64,
    /// Longitude, −180 to 180.
    pub longitude: f64,
}

/// The people in a room.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Occupancy {
    /// Number of adults, at least one.
    pub adults: u8,
    /// Ages of the children in years, 0 to 17.
    pub children: Vec<u8>,
}

/// The dates, guests and currency of a stay.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stay {
    /// The first night.
    pub check_in: Date,
    /// The day of departure.
    pub check_out: Date,
    /// The occupancies, one per room, in the client's order.
    pub occupancies: Vec<Occupancy>,
    /// Nationality of the guests, ISO 3166-1 alpha-2.
    pub guest_nationality: String,
    /// Country of residence, ISO 3166-1 alpha-2.
    pub guest_residence: Option<String>,
    /// The currency in which prices are requested.
    pub currency: Currency,
}

/// The meals that a room's price includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    RoomOnly,
    BedAndBreakfast,
    /// Breakfast and one other meal.
    HalfBoard,
    /// All meals.
    FullBoard,
    /// All meals and drinks.
    AllInclusive,
    /// Another board, described by its display name.
    Other,
}

/// The fee for cancelling from a point in time on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Penalty {
    /// Time from which the fee applies.
    pub from: Timestamp,
    /// The total fee. It is not added to earlier ones.
    pub amount: Money,
    /// The fee in hundredths of a per cent of the price, if the supplier states it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis_points: Option<u16>,
    /// IANA name of the time zone in which the supplier states `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
}

impl Penalty {
    /// Creates a penalty without details.
    pub const fn new(from: Timestamp, amount: Money) -> Self {
        Self {
            from,
            amount,
            basis_points: None,
            time_zone: None,
        }
    }

    /// Returns the penalty without its details.
    const fn terms(&self) -> (Timestamp, Money) {
        (self.from, self.amount)
    }
}

/// Share of the price that a cancellation can return, as the supplier states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundType {
    /// Cancellation is free for some time.
    Full,
    /// At any time, a part of the price is kept and a part is returned.
    Partial,
    /// Nothing is returned.
    None,
}

/// A rule that can forbid cancelling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// [`Restriction::NO_CANCELLATION`] or the supplier's own code.
    pub code: String,
    pub description: String,
    /// Start of the restriction. `None` if it has no start.
    pub active_from: Option<Timestamp>,
    /// End of the restriction. `None` if it has no end.
    pub active_until: Option<Timestamp>,
}

impl Restriction {
    /// The code of a restriction that forbids cancelling while it is active.
    pub const NO_CANCELLATION: &'static str = "NO_CANCELLATION";

    pub fn is_active(&self, now: Timestamp) -> bool {
        self.active_from.is_none_or(|from| from <= now)
            && self.active_until.is_none_or(|until| now < until)
    }

    pub fn forbids_cancellation(&self, now: Timestamp) -> bool {
        self.code == Self::NO_CANCELLATION && self.is_active(now)
    }
}

/// The fees for cancelling over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancellationPolicy {
    /// Whether cancelling is free at any time.
    pub refundable: bool,
    /// The last time of free cancellation.
    pub free_until: Option<Timestamp>,
    /// The penalties, in ascending order of `from`.
    pub penalties: Vec<Penalty>,
    pub restrictions: Vec<Restriction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund_type: Option<RefundType>,
}

impl CancellationPolicy {
    /// Returns the fee for cancelling at `now`, at most `total`. It is the penalty with the latest
    /// start that has passed. Without such a penalty, a refundable booking is free and any other
    /// costs `total`. Returns `None` if the penalty is in another currency than `total`.
    pub fn fee_at(&self, now: Timestamp, total: Money) -> Option<Money> {
        let started = self.penalties.iter().filter(|p| p.from <= now);
        match started.max_by_key(|p| p.from) {
            Some(penalty) if penalty.amount.currency == total.currency => {
                Some(penalty.amount.at_most(total))
            }
            Some(_) => None,
            None if self.refundable => Some(Money::zero(total.currency)),
            None => Some(total),
        }
    }

    /// Returns whether both state the same terms, with whatever details.
    pub fn has_terms_of(&self, other: &Self) -> bool {
        let terms = |policy: &Self| (policy.refundable, policy.free_until);
        let penalties = self.penalties.iter().map(Penalty::terms);
        terms(self) == terms(other)
            && self.restrictions == other.restrictions
            && penalties.eq(other.penalties.iter().map(Penalty::terms))
    }

    /// Adds the details that this policy lacks from an earlier statement of the same terms. Not every
    /// response about a booking has them.
    #[must_use]
    pub fn with_details_of(mut self, earlier: &Self) -> Self {
        if self.refundable == earlier.refundable {
            self.refund_type = self.refund_type.or(earlier.refund_type);
        }
        for penalty in &mut self.penalties {
            let mut known = earlier.penalties.iter();
            let same = known.find(|known| known.terms() == penalty.terms());
            if let Some(same) = same {
                penalty.basis_points = penalty.basis_points.or(same.basis_points);
                penalty.time_zone = penalty.time_zone.take().or_else(|| same.time_zone.clone());
            }
        }
        self
    }
}

/// A price reduction that is already part of the total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    pub name: String,
    pub description: Option<String>,
    pub amount: Option<Money>,
    /// Zero-based positions of the rooms that the promotion applies to.
    pub room_positions: Vec<u8>,
}

/// A loyalty programme that applies to an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loyalty {
    pub program: String,
    /// The membership number. All but its last four characters are masked.
    pub membership_number: Option<String>,
    /// Estimated points for the stay.
    pub points_estimate: Option<u32>,
}

/// The place and time at which a tax or fee is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentPoint {
    /// It is part of the total.
    Booking,
    /// At the hotel, on arrival.
    CheckIn,
    /// At the hotel, on departure.
    CheckOut,
    /// At the hotel, at a time that the supplier does not state.
    Property,
}

/// A tax or fee of a room for the whole stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomTax {
    pub description: String,
    pub amount: Money,
    pub payable_at: PaymentPoint,
}

/// A benefit that the price of a room includes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomPerk {
    pub name: String,
    /// The value of the benefit.
    pub value: Option<Money>,
}

/// The details of a room that only some suppliers state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomDetails {
    /// Remarks of the hotel on the room and its price, as plain text.
    pub remarks: Option<String>,
    pub perks: Vec<RoomPerk>,
    /// Taxes and fees, both those in the total and those paid at the hotel.
    pub taxes: Vec<RoomTax>,
    /// Number of guests for whom the room has space.
    pub max_occupancy: Option<u8>,
}

impl RoomDetails {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A room of an offer. Its position is its index in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomRate {
    pub name: String,
    pub board: Board,
    pub board_name: String,
    /// The room's share of the offer's total.
    pub total: Money,
    pub due_at_property: Option<Money>,
    pub policy: CancellationPolicy,
    pub details: RoomDetails,
}

/// The hotel as shown on an offer or a booking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotelSummary {
    pub supplier_hotel_id: String,
    pub name: String,
    /// Address on one line.
    pub address: String,
    pub location: Option<Location>,
    /// IANA time-zone name.
    pub time_zone: Option<String>,
}

/// The age group of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuestType {
    /// 18 or older.
    Adult,
    /// 0 to 17.
    Child,
}

/// A guest as the client named them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    pub first_name: String,
    pub last_name: String,
    pub guest_type: GuestType,
    /// Whether the guest is the room's contact. Each room has one adult as contact.
    pub is_lead: bool,
    /// Age of a child in years.
    pub age: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub first_name: String,
    pub last_name: String,
    pub email: String,
    /// Phone number in E.164 format.
    pub phone: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::booking::tests::euros;

    fn policy(refundable: bool, penalties: &[(i64, i64)]) -> CancellationPolicy {
        let penalties = penalties
            .iter()
            .map(|&(from, minor)| Penalty::new(Timestamp(from), euros(minor)));
        CancellationPolicy {
            refundable,
            free_until: None,
            penalties: penalties.collect(),
            restrictions: Vec::new(),
            refund_type: None,
        }
    }

    #[test]
    fn fee_is_latest_penalty_already_started() {
        let steps = policy(true, &[(100, 50), (200, 500)]);
        for (now, fee) in [
            (0, 0),
            (99, 0),
            (100, 50),
            (199, 50),
            (200, 400),
            (999, 400),
        ] {
            let charged = steps.fee_at(Timestamp(now), euros(400));
            assert_eq!(charged, Some(euros(fee)), "at {now}");
        }
    }

    #[test]
    fn fee_without_penalties_is_zero_only_if_refundable() {
        for (refundable, fee) in [(true, 0), (false, 400)] {
            let policy = policy(refundable, &[]);
            assert_eq!(policy.fee_at(Timestamp(0), euros(400)), Some(euros(fee)));
        }
    }

    #[test]
    fn fee_of_penalty_in_another_currency_is_unknown() {
        let policy = policy(true, &[(100, 50)]);
        let dollars = Money::new(400, Currency::USD);
        assert_eq!(policy.fee_at(Timestamp(100), dollars), None);
        let before = policy.fee_at(Timestamp(99), dollars);
        assert_eq!(before, Some(Money::zero(Currency::USD)));
    }

    #[test]
    fn details_are_kept_for_terms_that_stay_the_same() {
        let mut earlier = policy(true, &[(100, 50), (200, 400)]);
        earlier.refund_type = Some(RefundType::Full);
        for penalty in &mut earlier.penalties {
            penalty.basis_points = Some(1_250);
            penalty.time_zone = Some("GMT".to_owned());
        }
        let unchanged = policy(true, &[(100, 50), (200, 400)]);
        assert_eq!(unchanged.clone().with_details_of(&earlier), earlier);
        let changed = policy(false, &[(100, 51), (201, 400)]);
        assert_eq!(changed.clone().with_details_of(&earlier), changed);
        assert!(unchanged.has_terms_of(&earlier) && !changed.has_terms_of(&earlier));
        let mut restated = policy(true, &[(100, 50)]);
        restated.refund_type = Some(RefundType::Partial);
        restated.penalties[0].basis_points = Some(1_000);
        let restated = restated.with_details_of(&earlier);
        assert_eq!(restated.refund_type, Some(RefundType::Partial));
        assert_eq!(restated.penalties[0].basis_points, Some(1_000));
        assert_eq!(restated.penalties[0].time_zone.as_deref(), Some("GMT"));
    }

    #[test]
    fn restriction_forbids_cancellation_only_while_active() {
        let mut restriction = Restriction {
            code: Restriction::NO_CANCELLATION.to_owned(),
            description: String::new(),
            active_from: Some(Timestamp(100)),
            active_until: Some(Timestamp(200)),
        };
        for (now, forbidden) in [(99, false), (100, true), (199, true), (200, false)] {
            let is_forbidden = restriction.forbids_cancellation(Timestamp(now));
            assert_eq!(is_forbidden, forbidden, "at {now}");
        }
        restriction.code = "MINIMUM_STAY".to_owned();
        assert!(!restriction.forbids_cancellation(Timestamp(100)));
    }
}
