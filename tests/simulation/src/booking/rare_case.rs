//! Rare cases that the gateway has to survive, whatever the supplier or processor declares: reads
//! that meet an outdated copy of its data, rooms that are lost before the booking is read, and refused
//! resends of executed calls.

use super::external_systems::ExternalSystems;
use super::order::Order;
use super::remote_call::{Call, Reply, Request};
use super::supplier::refused;
use host_domain::money::Money;
use host_domain::payment::PaymentError;
use host_domain::supplier::{RefusalReason, SupplierBookingStatus};
use host_domain::time::Timestamp;

impl ExternalSystems<'_> {
    /// Returns whether a lookup meets an outdated copy of the data, in which nothing is found.
    pub(super) fn is_outdated(&mut self) -> bool {
        let is_outdated = !self.rare.has_misled && self.injects_fault(5);
        self.rare.has_misled |= is_outdated;
        is_outdated
    }

    /// Cancels the first room free of charge on the supplier's own initiative.
    pub(super) fn lose_room(&mut self, order: &mut Order) {
        let Some((price, _)) = self.scenario.rooms.first() else {
            return;
        };
        self.rare.before_loss = Some(order.clone());
        let price = Money::new(*price, order.retained.currency);
        order.status = SupplierBookingStatus::PartiallyCanceled;
        order.released[0] = true;
        order.retained = order.retained.less(price);
        let none = Money::zero(price.currency);
        order.amounts = self.scenario.reports_amounts.then_some((none, price));
    }

    /// Returns a copy of the order in which a lost room is still booked, which a refresh meets at
    /// most once. The gateway has read the loss before, or the booking would not be confirmed.
    pub(super) fn outdated_copy(&mut self) -> Option<Order> {
        let is_met =
            self.injects_faults && self.rare.random.percent(self.scenario.outdated_refreshes);
        let outdated = self.rare.before_loss.take_if(|_| is_met);
        self.rare.outdated_refreshes += u32::from(outdated.is_some());
        outdated
    }

    /// Returns the refusal of a resend although the call was executed, which happens rarely: the
    /// other side looks at the offer or the card before it looks at the reference.
    pub(super) fn refuse_resend(
        &mut self,
        request: &Request,
        first: &Reply,
        now: Timestamp,
    ) -> Option<Reply> {
        if !self.injects_faults || !self.rare.random.percent(self.scenario.refused_resends) {
            return None;
        }
        let reason = self.rare.random.one_of(&[
            RefusalReason::Unavailable,
            RefusalReason::Expired,
            RefusalReason::PriceChanged(self.price),
            RefusalReason::Duplicate,
            RefusalReason::Account,
            RefusalReason::PaymentRequired,
            RefusalReason::PaymentRequired,
            RefusalReason::Other("x".to_owned()),
        ]);
        let is_booking = request.call == Call::Book;
        // A booking that fails is looked up again later. Anything else is found by the lookup that
        // follows the refusal, or never. So reads show it from now on.
        let is_rechecked = is_booking && reason != RefusalReason::PaymentRequired;
        if !is_rechecked && self.rare.has_misled {
            return None;
        }
        let payment_refused = || PaymentError::Refused("no".to_owned());
        let refusal = match (&request.call, first) {
            (Call::Book | Call::BuyBags, Reply::Changed(Ok(_))) => {
                Reply::Changed(Err(refused(reason)))
            }
            (Call::Authorize(_), Reply::PaymentChanged(Ok(_))) => {
                Reply::PaymentChanged(Err(payment_refused()))
            }
            (Call::Refund(..), Reply::Refunded(Ok(_))) => Reply::Refunded(Err(payment_refused())),
            _ => return None,
        };
        self.rare.refused_bookings += u32::from(is_booking);
        if !is_rechecked {
            self.rare.has_misled = true;
            self.make_readable(now);
        }
        Some(refusal)
    }
}
