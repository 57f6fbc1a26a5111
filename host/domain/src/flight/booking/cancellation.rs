//! Cancellation of a ticket: its fee and its refund.

use crate::booking::PaymentCollector;
use crate::flight::booking::{
    FlightBooking, FlightCancellation, RefundBreakdown, RefundedBy, ServiceStatus,
};
use crate::flight::supplier_api::FlightSupplierBooking;
use crate::id::{PaymentId, RefundId};
use crate::money::Money;
use crate::time::{Date, Timestamp};

/// Offset of the earliest time zone (UTC+14), in seconds. A day begins there this much earlier than
/// in UTC.
const FIRST_ZONE_S: i64 = 14 * 60 * 60;

impl FlightBooking {
    /// Returns whether the ticket is cancelled and its refund is not decided yet.
    pub fn is_refund_undecided(&self) -> bool {
        let mut cancellation = self.details.cancellation.iter();
        cancellation.any(|cancellation| cancellation.refund.is_none())
    }

    /// Allocates a refund to the payments, oldest first: the ticket, then the services.
    pub fn allocate_refund(&self, refund: Money) -> Vec<(PaymentId, Money)> {
        let mut left = refund;
        let mut shares = Vec::new();
        for payment in self.payments.iter().filter(|p| p.has_funds()) {
            let share = left.at_most(payment.refundable());
            if share.currency == payment.amount.currency && !share.is_zero() {
                left = left.less(share);
                shares.push((payment.id.clone(), share));
            }
        }
        shares
    }

    /// Completes a cancellation. Fee and refund come from the supplier; if it reports none, from
    /// the fare's `terms` where these apply.
    ///
    /// If neither gives an amount, if the supplier's amounts cannot be read, or if its fee and
    /// refund do not add up to what was paid, the refund stays undecided until an operator sets it.
    /// Refunding money that the gateway does not get back is a loss; keeping it means keeping the
    /// customer's money.
    pub(super) fn complete_cancellation(
        &mut self,
        supplier_booking: &FlightSupplierBooking,
        terms: Option<(Money, Money)>,
        now: Timestamp,
    ) {
        let paid = self.price_or_zero();
        let reported = supplier_booking.cancellation.as_ref();
        let returned = match (reported, terms) {
            (Some(amounts), _) if amounts.fee.plus(amounts.refund) == Ok(paid) => {
                Some(self.start_refunds(amounts.fee, amounts.refund, true, now))
            }
            (Some(_), _) => None,
            (None, _) if supplier_booking.has_unreadable_amounts => None,
            (None, Some((fee, refund))) => Some(self.start_refunds(fee, refund, false, now)),
            (None, None) => None,
        };
        for service in &mut self.details.services {
            if service.status == ServiceStatus::Confirmed {
                service.status = ServiceStatus::Canceled;
            }
        }
        self.details.cancellation = Some(FlightCancellation {
            refunded_by: match self.payment_collector {
                PaymentCollector::Gateway => RefundedBy::Service,
                PaymentCollector::Supplier => RefundedBy::Supplier,
            },
            refund: returned,
            supplier_reference: reported.and_then(|amounts| amounts.supplier_reference.clone()),
        });
        self.failure = None;
        self.canceled_at = Some(now);
    }

    /// Returns fee and refund under the fare's terms for a cancellation that the client requested at
    /// `requested_at`. Returns `None` if the terms do not decide.
    ///
    /// Terms apply only before departure, and departure times carry no UTC offset. They therefore
    /// no longer apply once the departure date has begun in the earliest time zone (UTC+14).
    pub(super) fn refund_by_fare_terms(&self, requested_at: Timestamp) -> Option<(Money, Money)> {
        let (_, first) = self.segments().next()?;
        let departs: Date = first.departure_time.get(..10)?.parse().ok()?;
        let today = requested_at.plus_s(FIRST_ZONE_S).date_utc();
        self.estimate_refund().ok().filter(|_| today < departs)
    }

    /// Applies an operator's refund amount to a cancellation whose refund is undecided. Returns
    /// `None` if the refund is already decided, the currency differs, or the amount is not between
    /// 0 and the price.
    pub(super) fn decide_refund(&mut self, refund: Money, now: Timestamp) -> Option<()> {
        let paid = self.price_or_zero();
        let fits = refund.currency == paid.currency && (0..=paid.minor).contains(&refund.minor);
        if !self.is_refund_undecided() || !fits {
            return None;
        }
        let fee = paid.less(refund);
        let returned = self.start_refunds(fee, refund, true, now);
        self.details.cancellation.as_mut()?.refund = Some(returned);
        Some(())
    }

    /// Starts the refunds of a cancellation. If the supplier collected the payment, it refunds the
    /// payer itself. That refund is recorded only if the supplier or an operator stated the amount.
    fn start_refunds(
        &mut self,
        fee: Money,
        refund: Money,
        is_amount_stated: bool,
        now: Timestamp,
    ) -> RefundBreakdown {
        let mut returned = RefundBreakdown {
            fee,
            refund_amount: Money::zero(refund.currency),
            refund_to: Vec::new(),
        };
        let mut refunds = self.payments.iter().map(|p| p.refunds.len()).sum::<usize>();
        for (id, share) in self.allocate_refund(refund) {
            refunds = refunds.saturating_add(1);
            let refund = RefundId::of(self.id.as_str(), u32::try_from(refunds).unwrap_or(u32::MAX));
            let Some(payment) = self.payments.iter_mut().find(|p| p.id == id) else {
                continue;
            };
            let back = match self.payment_collector {
                PaymentCollector::Gateway => payment.begin_refund(refund, share, now),
                PaymentCollector::Supplier if is_amount_stated => {
                    payment.record_supplier_refund(refund, share)
                }
                PaymentCollector::Supplier => share,
            };
            let sum = returned.refund_amount.plus(back);
            returned.refund_amount = sum.unwrap_or(returned.refund_amount);
            returned.refund_to.push(id);
        }
        returned
    }

    /// Returns the price of the ticket and its services, which is what the payer owes.
    pub(crate) fn price_or_zero(&self) -> Money {
        self.total()
            .unwrap_or(Money::zero(self.details.offered_total.currency))
    }

    /// Makes waiting refunds due at `now`. Returns whether any due time changed.
    pub(super) fn expedite_refunds(&mut self, now: Timestamp) -> bool {
        let mut any = false;
        for payment in &mut self.payments {
            any |= payment.expedite_refunds(now);
        }
        any
    }
}
