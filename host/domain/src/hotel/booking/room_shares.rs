//! Shares of the rooms in the price of a booking and in its cancellation fee. A share depends only
//! on the room and the time. The sums of fees and refunds are therefore the same in whatever order
//! and groups the rooms are cancelled.

use crate::hotel::booking::{HotelBooking, Room};
use crate::hotel::types::CancellationPolicy;
use crate::money::Money;
use crate::time::Timestamp;

impl HotelBooking {
    /// Returns the price of the rooms that are still booked, which is what a cancellation would
    /// cancel.
    pub fn active_total(&self) -> Money {
        self.price_of(|room| room.canceled_at.is_none())
    }

    /// Returns the price of the selected rooms.
    pub(super) fn price_of(&self, is_selected: impl Fn(&Room) -> bool) -> Money {
        self.sum_shares(&self.room_prices(), is_selected)
    }

    /// Returns the fee of cancelling the selected rooms at `now` under a policy of the whole
    /// booking, cancelled rooms included. Without a policy, the fee is the price. Returns `None` if
    /// the policy's penalty is not in the booking's currency.
    pub(crate) fn fee_of(
        &self,
        is_selected: impl Fn(&Room) -> bool,
        policy: Option<&CancellationPolicy>,
        now: Timestamp,
    ) -> Option<Money> {
        let prices = self.room_prices();
        let Some(policy) = policy else {
            return Some(self.sum_shares(&prices, is_selected));
        };
        let currency = self.details.total.currency;
        let fee = policy.fee_at(now, Money::new(sum(&prices), currency))?;
        let rooms = self.details.rooms.iter().zip(&prices);
        let own_fees: Option<Vec<i64>> = rooms
            .map(|(room, price)| {
                let fee = room
                    .policy
                    .as_ref()?
                    .fee_at(now, Money::new(*price, currency));
                fee.map(|fee| fee.minor.max(0))
            })
            .collect();
        // Without the rooms' own fees, the fee is shared in proportion to the prices.
        let own_fees = own_fees.unwrap_or_else(|| vec![0; prices.len()]);
        let shares = share_fee(fee.minor.max(0), &own_fees, &prices);
        Some(self.sum_shares(&shares, is_selected))
    }

    /// Returns the price of each room. The prices add up to the total of the booking: the last room
    /// takes what rounding leaves.
    fn room_prices(&self) -> Vec<i64> {
        let rooms = &self.details.rooms;
        let mut left = self.details.total.minor.max(0);
        let prices = (1..).zip(rooms).map(|(number, room)| {
            let is_last = number == rooms.len();
            let price = if is_last {
                left
            } else {
                room.total.minor.clamp(0, left)
            };
            left = left.saturating_sub(price);
            price
        });
        prices.collect()
    }

    fn sum_shares(&self, shares: &[i64], is_selected: impl Fn(&Room) -> bool) -> Money {
        let shares = self.details.rooms.iter().zip(shares);
        let selected = shares.filter(|(room, _)| is_selected(room));
        let minor = selected.map(|(_, share)| share).sum();
        Money::new(minor, self.details.total.currency)
    }
}

/// Splits the fee of a whole booking among its rooms by the rooms' own fees, exactly. If these do
/// not add up to it, they are scaled down in proportion, or raised in proportion to what is left of
/// the prices. A share is at most the room's price if `fee` is at most the sum of the prices and
/// each own fee at most its price.
fn share_fee(fee: i64, own_fees: &[i64], prices: &[i64]) -> Vec<i64> {
    let missing = fee.saturating_sub(sum(own_fees));
    if missing <= 0 {
        return apportion(fee, own_fees);
    }
    let pairs = || own_fees.iter().zip(prices);
    let rest: Vec<i64> = pairs()
        .map(|(own_fee, price)| price.saturating_sub(*own_fee).max(0))
        .collect();
    let raises = apportion(missing, &rest);
    let shares = own_fees.iter().zip(raises);
    shares
        .map(|(own_fee, raise)| own_fee.saturating_add(raise))
        .collect()
}

/// Splits an amount in proportion to weights, exactly. No part exceeds its weight if the amount does
/// not exceed their sum.
fn apportion(amount: i64, weights: &[i64]) -> Vec<i64> {
    let total: i128 = weights.iter().copied().map(i128::from).sum();
    let (mut passed, mut given) = (0_i128, 0_i128);
    let parts = weights.iter().map(|weight| {
        passed += i128::from(*weight);
        let due = (i128::from(amount) * passed)
            .checked_div(total)
            .unwrap_or(0);
        let part = due - given;
        given = due;
        i64::try_from(part).unwrap_or(0)
    });
    parts.collect()
}

fn sum(amounts: &[i64]) -> i64 {
    amounts
        .iter()
        .fold(0, |sum, amount| sum.saturating_add(*amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fee_of_booking_is_split_among_rooms_exactly() {
        let prices = [10_000, 20_000, 5];
        for (fee, own_fees, shares) in [
            // The rooms' own fees add up.
            (5_000, [2_000, 3_000, 0], [2_000, 3_000, 0]),
            // Each room states the fee of the whole booking.
            (5_001, [5_001, 5_001, 5], [2_499, 2_499, 3]),
            // The rooms state less than the booking.
            (30_005, [2_000, 0, 0], prices),
            (3_001, [0, 0, 0], [1_000, 2_000, 1]),
            (0, [2_000, 3_000, 5], [0, 0, 0]),
            (0, [0, 0, 0], [0, 0, 0]),
        ] {
            let split = share_fee(fee, &own_fees, &prices);
            assert_eq!(split, shares, "{fee} {own_fees:?}");
            assert_eq!(sum(&split), fee, "{own_fees:?}");
        }
    }
}
